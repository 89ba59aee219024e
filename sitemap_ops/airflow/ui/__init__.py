"""The Sitemaps page in Airflow's UI: a FastAPI app that the plugin mounts, behind Airflow's login and permissions."""
