"""The audit's DAG of each site whose file asks for one: a task that looks at the live site, an asset for its reports.

What is found does not fail the run: the asset's event carries the counts, and whoever waits for it decides.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, get_parsing_context, task

from sitemap_ops.airflow import tasks
from sitemap_ops.airflow.assets import audit_asset
from sitemap_ops.airflow.dag import DEFAULTS
from sitemap_ops.airflow.sites import read_sites
from sitemap_ops.site import Site

RETRIES = 1
"""Of a whole audit: what one page does is tried again within it."""


def audit_dags(folder: Path) -> dict[str, DAG]:
    """The audits' DAGs by id; in a task's process only the one that the task is of.

    What is wrong with a site file, the sites' own DAG files tell.
    """
    wanted = get_parsing_context().dag_id
    sites = {site.audit_dag_id: (site, path) for _, site, path in read_sites(folder).good.values() if site.audit}
    return {dag_id: audit_dag(*found) for dag_id, found in sites.items() if wanted in (None, dag_id)}


def audit_dag(site: Site, path: Path) -> DAG:
    """path: the site file, which the task reads again."""
    assert site.audit
    reports = audit_asset(site)
    with DAG(
        dag_id=site.audit_dag_id,
        description=f"Audit of {site.base_url}",
        doc_md=_documentation(site, path),
        schedule=site.audit.schedule,
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        tags=["sitemap", "audit", site.site],
    ) as dag:

        @task(
            outlets=[reports],
            multiple_outputs=False,
            **DEFAULTS | {"retries": RETRIES, "execution_timeout": _patience(site)},
        )
        def audit(dag_run: Any = None, outlet_events: Any = None) -> dict[str, Any]:
            facts = tasks.audit(path, dag_run.run_id, dag_run.run_after)
            outlet_events[reports].extra = facts
            return facts

        audit()
    return dag


def _patience(site: Site) -> timedelta:
    """Twice what the sample takes at its rate, and six hours for the files."""
    assert site.audit
    return timedelta(hours=6, seconds=2 * site.audit.sample / site.audit.rate)


def _documentation(site: Site, path: Path) -> str:
    assert site.audit
    return (
        f"Looks at {site.base_url} as crawlers do: the index `{site.files_url}{site.index}`, every file that it lists,"
        f" and {site.audit.sample:,} of the pages, {site.audit.rate:g} a second at most, as `{path.name}` says.\n\n"
        f"The reports lie in `{site.state}audits/`. What is found does not fail a run; the event of the asset"
        f" `{site.audit_dag_id}` has the counts."
    )
