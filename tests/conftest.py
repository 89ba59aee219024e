"""Fixtures that start the services a test needs; each lives beside its service."""

pytest_plugins = ["tests.services.s3", "tests.services.postgres", "tests.services.airflow", "tests.services.counts"]
