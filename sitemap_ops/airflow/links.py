"""The buttons of a `publish` task in Airflow: to the page of its release, and to the live index.

Airflow asks for them in the API server whenever somebody looks at a task, of any DAG: they are made of what the
serialized task says, without a query.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import quote, urlsplit

from airflow.sdk import BaseOperatorLink

from sitemap_ops.airflow.assets import site_facts

NO_BUTTON = ""


class ReleaseLink(BaseOperatorLink):
    """To what the run released, inside Airflow's own frame."""

    name = "Sitemap release"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        if site_facts(operator) is None:
            return NO_BUTTON
        base = _base_path()
        page = f"sitemap-ops/dags/{quote(ti_key.dag_id, safe='')}/runs/{quote(ti_key.run_id, safe='')}"
        return f"{base}/plugin/sitemaps{base}/{page}"


class IndexLink(BaseOperatorLink):
    """To the index that crawlers fetch."""

    name = "Sitemap index"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        facts = site_facts(operator)
        return facts["index"] if facts else NO_BUTTON


@cache
def _base_path() -> str:
    """The path that Airflow's own address has behind its host: empty, or such as `/airflow`."""
    from airflow.configuration import conf

    return urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/")
