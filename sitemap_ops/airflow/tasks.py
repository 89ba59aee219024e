"""What the tasks do: each reads the site file, gives the step its connections, and returns a small reference.

The steps and all they import are loaded inside the functions: this module is imported whenever Airflow parses the DAGs.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from airflow.sdk.exceptions import AirflowSkipException

from sitemap_ops.errors import SitemapOpsError, UsageError
from sitemap_ops.site import Site, load_site

log = logging.getLogger(__name__)

MAX_XCOM_BYTES = 16_384
"""No task but `split` returns more: some metadata databases cut a value at 64 KB (C-100)."""

MAX_PARTS_BYTES = 65_535
"""256 parts of sections with the longest names, by keys that are times."""

TELL_SECONDS = 30
MAX_TOLD_SHARDS = 100
"""Shards that the log of a plan names; its report has all."""

Reference = dict[str, Any]
Small = TypeVar("Small", Reference, list[Reference])


def prepare(path: Path, run_id: str, as_of: datetime, sections: list[str] | None = None) -> Reference:
    """The run that all other tasks belong to. sections: those that the DAG has tasks for, to be compared."""
    from sitemap_ops import steps
    from sitemap_ops.airflow.connections import AirflowConnections

    with _message_first():
        digest = _digest(path)
        site = load_site(path)
        if sections is not None and sections != [section.name for section in site.sections]:
            raise UsageError(
                f"{path.name} names other sections than the DAG, which Airflow made before the file was changed:"
                " trigger a new run when the DAG shows them, which it does within a minute or so."
            )
        run = steps.prepare(site, run_id=run_id, as_of=as_of, connections=AirflowConnections())
        return _small({**run, "site_digest": digest})


def split(path: Path, run: Reference) -> list[Reference]:
    """The parts of all sections, each for a task of its own."""
    from sitemap_ops import steps
    from sitemap_ops.airflow.connections import AirflowConnections

    with _message_first():
        return _small(steps.split(_site(path, run), AirflowConnections()), MAX_PARTS_BYTES)


def extract(path: Path, run: Reference, section: str, span: Reference | None = None) -> Reference:
    from sitemap_ops import steps
    from sitemap_ops.airflow.connections import AirflowConnections
    from sitemap_ops.airflow.lineage import tell_source

    with _message_first():
        site = _site(path, run)
        extracted = _small(steps.extract(site, run, section, AirflowConnections(), _logged_progress(), span=span))
    tell_source(site.section(section).source)
    return extracted


def assemble(path: Path, run: Reference, parts: list[Reference]) -> Reference:
    """Each part names its section: a position shifts when a mapped task is skipped (C-102).

    Spark reads and cleans in the same job, so that its sites have no parts.
    """
    from sitemap_ops import steps
    from sitemap_ops.airflow.connections import AirflowConnections

    with _message_first():
        site = _site(path, run)
        if site.engine == "spark":
            from sitemap_ops import spark

            return _small(spark.assemble(site, run, AirflowConnections(), _logged_progress()))
        return _small(steps.assemble(site, run, parts, AirflowConnections(), _logged_progress()))


def publish(path: Path, run: Reference, assembled: Reference, *, plan_only: bool, force: bool) -> Reference:
    """Returns what the asset's consumers and a reader of the run want to know; `report` is where the rest lies."""
    from sitemap_ops import steps
    from sitemap_ops.airflow import lineage, metrics
    from sitemap_ops.airflow.connections import AirflowConnections
    from sitemap_ops.report.build import facts

    with _message_first(), metrics.counting_stops(run["site"]):
        site = _site(path, run)
        report = steps.publish(
            site,
            run,
            assembled,
            AirflowConnections(),
            plan_only=plan_only,
            force=force,
            progress=_logged_progress(),
        )
    published = facts(report)
    if not plan_only:
        metrics.tell_release(run["site"], published)
        lineage.tell_target(site)
    for name, value in published.items():
        log.info("%s: %s", name, value)
    for shard in report["planned"][:MAX_TOLD_SHARDS] if plan_only else ():
        log.info("would be %(action)s: %(key)s, %(entries)d entries", shard)
    return _small(published)


def notify(path: Path, release: str) -> list[dict[str, Any]]:
    """Tell whom the site file names of a release; gives what came of it, without the details that the log has."""
    from sitemap_ops.airflow.connections import AirflowConnections
    from sitemap_ops.steps.notify import notify as step

    results = step(load_site(path), release, AirflowConnections())
    for each in results:
        log.log(
            logging.WARNING if each["outcome"] == "failed" else logging.INFO, "%s: %s", each["channel"], each["told"]
        )
        for line in each.get("lines", ()):
            log.info("%s", line)
        for found in each["findings"]:
            if found["advice"] != each["told"]:
                log.warning("%s %s: %s", found["level"], found["code"], found["advice"])
    return [{name: each[name] for name in ("channel", "outcome", "told")} for each in results]


def audit(path: Path, run_id: str, as_of: datetime) -> Reference:
    """Look at the live site; gives what the asset's consumers want to know, the log names the kinds of findings."""
    from sitemap_ops.airflow.connections import AirflowConnections
    from sitemap_ops.audit.report import audit_facts
    from sitemap_ops.steps.audit import audit as step

    with _message_first():
        audited, uri = step(
            load_site(path), AirflowConnections(), run_id=run_id, as_of=as_of, progress=_logged_progress()
        )
    for kind in audited.validation.kinds():
        level = logging.ERROR if kind.level == "error" else logging.WARNING if kind.level == "warning" else logging.INFO
        log.log(
            level, "%s: %s found, in %s places: %s", kind.code, f"{kind.count:,}", f"{kind.places:,}", kind.rule.what
        )
    facts = audit_facts(audited.report, uri)
    for name, value in facts.items():
        log.info("%s: %s", name, value)
    return _small(facts)


def cleanup(path: Path, run: Reference) -> None:
    """Remove the run's staging files. The site is published by then, so a failure is told and spoils nothing."""
    from sitemap_ops import steps
    from sitemap_ops.airflow.connections import AirflowConnections

    try:
        steps.cleanup(load_site(path), run, AirflowConnections())
    except SitemapOpsError as error:
        raise AirflowSkipException(f"{run['work']} could not be removed: {error}") from None


def _site(path: Path, run: Reference) -> Site:
    """The site of the run. One whose tasks read different site files could publish what neither of them says."""
    if _digest(path) != run["site_digest"]:
        raise UsageError(f"{path.name} was changed while this run was under way: trigger a new run.")
    return load_site(path)


def _digest(path: Path) -> str | None:
    """Of the file itself: what it is resolved to, local paths among it, may differ from worker to worker."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _small(value: Small, limit: int = MAX_XCOM_BYTES) -> Small:
    size = len(json.dumps(value))
    assert size < limit, f"a task's result of {size} bytes is too large for an XCom"
    return value


@contextmanager
def _message_first() -> Iterator[None]:
    """What stops a step is told as one line, before the traceback that Airflow writes."""
    try:
        yield
    except SitemapOpsError as error:
        log.error("%s", error)
        raise


def _logged_progress() -> Callable[[str, int, int | None], None]:
    """Progress as a log line now and then."""
    told = time.monotonic()

    def progress(what: str, done: int, total: int | None) -> None:
        nonlocal told
        if time.monotonic() - told >= TELL_SECONDS:
            told = time.monotonic()
            log.info("%s: %s%s", what, f"{done:,}", "" if total is None else f" of {total:,}")

    return progress
