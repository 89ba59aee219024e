"""Check the guards, publish what was assembled, and leave the report and the rejects with the release."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.errors import GuardError
from sitemap_ops.filesets import file_sets
from sitemap_ops.release.guards import GuardResult, SectionCount, check, enforce
from sitemap_ops.release.history import read_before
from sitemap_ops.release.publish import ReleaseSet, RenderedShard
from sitemap_ops.release.publish import publish as publish_release
from sitemap_ops.report.build import Report, build_report
from sitemap_ops.site import Site
from sitemap_ops.steps.assemble import REJECTS
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.storage import Headers, Store, open_store
from sitemap_ops.workspace import Workspace

REPORT_HEADERS = Headers("application/json")
REJECTS_HEADERS = Headers("application/gzip")


def publish(
    site: Site,
    run: Run,
    assembled: dict[str, Any],
    connections: Connections,
    *,
    plan_only: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Make the assembled shards the live release, unless a guard says no. Returns the report, which state keeps too.

    plan_only: say what would change, and write nothing but the report, to state. force: publish in spite of the guards;
    the report says so. Raises GuardError, TargetError, ConflictError, OutputError; the live site is then as it was, or,
    cut off after the commit, one that the next run completes.
    """
    started = time.monotonic()
    target = open_store(site.target, connections, aws_conn_id=site.aws_conn_id, acl=site.acl)
    state = open_store(site.state, connections, aws_conn_id=site.aws_conn_id)
    with workspace_of(site, run, connections) as workspace:
        draft = workspace.read_json(assembled)
        before = read_before(state, site.site)
        guards = _guards(site, draft, before.sections)
        stopped = not force and any(not guard.passed for guard in guards)
        shards = [RenderedShard(**shard) for shard in draft["shards"]]
        result = publish_release(
            site=site,
            release=run["release"],
            run_id=run["run_id"],
            as_of=instant_of(run),
            shards=shards,
            sets=[
                ReleaseSet(each.name, each.index, each.limits.max_files_per_index, each.windowed, each.schema_location)
                for each in file_sets(site)
            ],
            body=lambda key: workspace.fetch(f"shards/{key}").read_bytes(),
            target=target,
            state=state,
            allow_empty=site.allow_empty,
            plan_only=plan_only or stopped,
            before=before,
            progress=lambda done, total: progress("publish", done, total),
        )
        report = build_report(
            run,
            draft,
            result,
            guards,
            outcome="planned" if plan_only else "stopped" if stopped else "published",
            old_indexes=before.manifest.indexes if before.manifest else (),
            forced=force and any(not guard.passed for guard in guards),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            timings={"publish": round(time.monotonic() - started, 3)},
        )
        report["files"] = _keep(report, workspace, state)
    if not plan_only:
        _enforce(guards, report, force=force)
    return report


def _guards(site: Site, draft: dict[str, Any], baseline: dict[str, int] | None) -> list[GuardResult]:
    counts = {
        section["section"]: SectionCount(section["rows"], section["entries"], sum(section["rejected"].values()))
        for section in draft["sections"]
    }
    return check(site.guards, counts, baseline, {section.name: section.guards for section in site.sections})


def _enforce(guards: Sequence[GuardResult], report: Report, *, force: bool) -> None:
    try:
        enforce(guards, force=force)
    except GuardError as error:
        told = GuardError(f"{error} The report and the rejects are in {report['files']}.")
        told.report = report
        raise told from None


_FOLDERS = {"published": "releases", "planned": "plans", "stopped": "stopped"}


def _keep(report: Report, workspace: Workspace, state: Store) -> str:
    """Store the report and the rejects; gives the folder's URI. What was not published is no release: it lies apart."""
    folder = f"{_FOLDERS[report['outcome']]}/{report['release']}/"
    state.upload(workspace.fetch(REJECTS), f"{folder}{REJECTS}", REJECTS_HEADERS)
    body = json.dumps(report, indent=2, ensure_ascii=False).encode()
    state.put(f"{folder}report.json", body, REPORT_HEADERS)
    return f"{state.uri}{folder}"
