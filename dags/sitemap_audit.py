"""One Airflow DAG for each site file in dags/sites/ that has `audit`: it looks at the live site and its pages."""

from pathlib import Path

from sitemap_ops.airflow.audit import audit_dags

globals().update(audit_dags(Path(__file__).with_name("sites")))
