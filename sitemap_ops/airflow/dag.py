"""The DAG of one site: the steps of `sitemap_ops.steps` as tasks, with references between them.

Airflow parses this every 30 seconds and again in each task, so nothing heavy is imported until a task runs. Each task
reads the site file itself, where the worker's own DAG folder has it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, ExceptionRetryPolicy, Param, RetryAction, RetryRule, task
from airflow.sdk.exceptions import AirflowSkipException

from sitemap_ops.airflow import tasks
from sitemap_ops.airflow.assets import audit_asset, site_asset
from sitemap_ops.errors import ColumnError, ConflictError, GuardError, UsageError
from sitemap_ops.site import Section, Site

MAX_PARTS = 256
"""One mapped task a part: Airflow refuses maps over 1,024, and its scheduler slows long before (C-98)."""

PART_NAME = (
    "{{ task.op_kwargs['section'] }}{{ ' %d' % task.op_kwargs['span']['number'] if task.op_kwargs.get('span') }}"
)
"""What Airflow shows for a mapped task: a section's name, and which part of it."""

DEFAULTS: dict[str, Any] = {
    "owner": "sitemap-ops",
    "retries": 3,
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": 2.0,
    "max_retry_delay": timedelta(minutes=15),
    "retry_policy": ExceptionRetryPolicy(
        rules=[
            RetryRule(
                exception=[UsageError, ColumnError, GuardError, ConflictError],
                action=RetryAction.FAIL,
                reason="another attempt would end the same way",
            )
        ]
    ),
    "execution_timeout": timedelta(hours=6),
}


def empty_dag(site: Site, path: Path) -> DAG:
    """The site's DAG without its tasks: quick to make, and all that Airflow may refuse of a site is in it.

    Raises UsageError where the site is more than Airflow can map, and what Airflow raises for id, schedule or asset.
    """
    parts = sum(map(_parts, site.sections)) if site.engine == "local" else 1
    if parts > MAX_PARTS:
        raise UsageError(
            f"{path.name} has {len(site.sections)} sections in {parts} parts, and Airflow would run a task for each:"
            f" join sections or split less, so that there are {MAX_PARTS} parts at most."
        )
    site_asset(site)
    if site.audit:
        audit_asset(site)
    dag = DAG(
        dag_id=site.dag_id,
        description=f"Sitemaps of {site.base_url}",
        doc_md=_documentation(site, path),
        schedule=site.schedule,
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        tags=["sitemap", site.site],
    )
    dag.validate()  # type: ignore[no-untyped-call]
    return dag


def add_tasks(dag: DAG, site: Site, path: Path, **arguments: Any) -> DAG:
    """An empty DAG with its tasks: prepare, extract (mapped over the sections), assemble, publish, cleanup.

    With `split` in a source there is also split, which says over which parts of sections extract is mapped; with
    `engine: spark` neither, as assemble is one Spark job from the sources to the shards. Where the site file asks for
    it, also notify. path: the site file, which each task reads again. arguments: of every task, such as pool, queue or
    on_failure_callback.
    """
    index = site_asset(site)
    # A dict that a task returns is one reference, not an XCom for each of its keys (C-101).
    step = partial(task, multiple_outputs=False, **DEFAULTS | arguments)

    @step(execution_timeout=timedelta(minutes=10))
    def prepare(dag_run: Any = None) -> dict[str, Any]:
        # A cleared run begins anew: what it reads now is of now.
        as_of = dag_run.start_date if dag_run.clear_number and dag_run.start_date else dag_run.run_after
        return tasks.prepare(path, dag_run.run_id, as_of, [section.name for section in site.sections])

    @step()
    def assemble(run: Any, parts: Any) -> dict[str, Any]:
        return tasks.assemble(path, run, parts[:])  # a slice fetches all parts in one call

    @step(outlets=[index])
    def publish(
        run: Any, assembled: Any, params: Any = None, ti: Any = None, outlet_events: Any = None
    ) -> dict[str, Any]:
        facts = tasks.publish(path, run, assembled, plan_only=params["plan_only"], force=params["force"])
        if params["plan_only"]:
            # As a success this would tell the asset's consumers that there is a new sitemap.
            ti.xcom_push("return_value", facts)
            raise AirflowSkipException(f"Plan only, nothing public was written: the plan is {facts['report']}")
        outlet_events[index].extra = facts
        return facts

    @step(execution_timeout=timedelta(hours=1), trigger_rule="none_failed")
    def cleanup(run: Any) -> None:
        tasks.cleanup(path, run)

    @step(execution_timeout=timedelta(hours=1))
    def notify(published: Any, params: Any = None) -> list[dict[str, Any]]:
        if not published or params["plan_only"]:
            raise AirflowSkipException("Nothing was published, so that there is nothing to tell.")
        return tasks.notify(path, published["release"])

    with dag:
        run = prepare()
        published = publish(run, assemble(run, _extracted(step, path, site, run)))
        published >> cleanup(run)
        if site.notify:
            # Airflow does not count a teardown when it says whether a run failed: even a killed one spoils nothing.
            notify(published).as_teardown()
    # Not sooner: Airflow would copy them into each task, which is a third of the time that a parse takes.
    dag.params = _params()  # type: ignore[assignment]
    return dag


def _extracted(step: Callable[..., Any], path: Path, site: Site, run: Any) -> Any:
    """References of the parts' own tasks; none with Spark, whose one job reads all sources side by side."""

    def split(run: Any) -> list[dict[str, Any]]:
        return tasks.split(path, run)

    def extract(run: Any, section: str, span: Any = None) -> dict[str, Any]:
        return tasks.extract(path, run, section, span)

    if site.engine == "spark":
        return []
    mapped = step(map_index_template=PART_NAME)(extract).partial(run=run)
    if all(_parts(section) == 1 for section in site.sections):
        return mapped.expand(section=[section.name for section in site.sections])
    return mapped.expand_kwargs(step(execution_timeout=timedelta(hours=1))(split)(run))


def _parts(section: Section) -> int:
    return section.source.split if section.source.type == "sql" else 1


def _params() -> dict[str, Param]:
    """Each DAG's own: `dag.test()` writes the values of a run into them."""
    return {
        "plan_only": Param(
            False,
            type="boolean",
            title="Plan only",
            description_md="Read, check and render everything and report what would change, but write nothing public.",
        ),
        "force": Param(
            False,
            type="boolean",
            title="Publish although a guard says no",
            description_md="For a change that is meant, such as pages that were given up. The report records it.",
        ),
    }


def _documentation(site: Site, path: Path) -> str:
    sections = "\n".join(f"- `{section.name}` ({section.source.type})" for section in site.sections)
    return (
        f"Publishes the sitemaps of {site.base_url} to `{site.target}{site.index}`, as `{path.name}` says.\n\n"
        f"Sections:\n\n{sections}\n\n"
        "The site stays as it was until `publish` has checked everything, and when it fails. To see what a run would"
        " change, trigger it with *Plan only*. The report is named in the log and the result of `publish`."
    )
