"""Raises what is wrong with the site files in dags/sites/, so that Airflow shows it as an import error.

A file of its own, because Airflow takes all DAGs of a file with an import error out of service: the good sites' DAGs
come from sitemaps.py.
"""

from pathlib import Path

from sitemap_ops.airflow.sites import raise_problems

raise_problems(Path(__file__).with_name("sites"))
