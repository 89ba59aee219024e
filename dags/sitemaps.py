"""One Airflow DAG for each site file in dags/sites/. What is wrong with a site file, site_file_errors.py tells."""

from pathlib import Path

from sitemap_ops.airflow.sites import site_dags

globals().update(site_dags(Path(__file__).with_name("sites")))
