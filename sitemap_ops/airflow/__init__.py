"""What ties the steps to Airflow: the DAG of a site, and its connections. Only this package imports Airflow."""
