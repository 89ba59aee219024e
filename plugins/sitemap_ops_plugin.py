"""Adds the Sitemaps page to Airflow's UI, where this folder is Airflow's plugins folder.

An installed sitemap-ops has announced its plugin to Airflow by itself, and Airflow complains of a second one.
"""

from importlib.metadata import PackageNotFoundError, distribution

try:
    distribution("sitemap-ops")
except PackageNotFoundError:
    from sitemap_ops.airflow.plugin import SitemapOpsPlugin  # noqa: F401
