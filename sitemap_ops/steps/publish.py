"""Check the guards, publish what was assembled, and leave the report and the rejects with the release."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Thread
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.errors import GuardError, TargetError
from sitemap_ops.filesets import file_sets
from sitemap_ops.release.complete import complete
from sitemap_ops.release.guards import GuardResult, SectionCount, check, check_sets, enforce
from sitemap_ops.release.history import Before, committed_already, fence_of, find_manifest, read_before
from sitemap_ops.release.index import url_of
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.publish import PublishResult, ReleaseSet, RenderedShard
from sitemap_ops.release.publish import publish as publish_release
from sitemap_ops.report.build import Report, build_report
from sitemap_ops.report.html import compile_pages
from sitemap_ops.report.keep import keep_report
from sitemap_ops.report.scope import robots_lines, scope_findings
from sitemap_ops.site import Site
from sitemap_ops.steps.churn import churn_of
from sitemap_ops.steps.rejects import REJECTS
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.steps.tracked import keep_records
from sitemap_ops.storage import Headers, Store, open_store
from sitemap_ops.storage.probe import check_stores
from sitemap_ops.workspace import Workspace

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
    cut off after the commit, one that the next run completes. An attempt of a run that has committed already, which is
    what a retry after a crash can be, goes on from there.
    """
    started = time.monotonic()
    Thread(target=compile_pages, daemon=True).start()
    target, state = stores_of(site, connections)
    with workspace_of(site, run, connections) as workspace:
        draft = workspace.read_json(assembled)
        shards = [RenderedShard(**shard) for shard in draft["shards"]]
        past = _past(site, run, state, plan_only=plan_only)
        findings = [] if plan_only else check_stores(target, state, allow_unsafe=site.allow_unsafe_store)
        guards = _guards(site, draft, shards, past.live)
        failed = any(not guard.passed for guard in guards)
        stopped = failed and not force
        if stopped and not plan_only:
            complete(past.before, run["release"], target, state)
        only_look = plan_only or stopped
        tracked = None if only_look else keep_records(site, workspace, past.live, past.before.epoch + 1, state)
        result = publish_release(
            site=site,
            release=run["release"],
            run_id=run["run_id"],
            as_of=instant_of(run),
            shards=shards,
            sets=release_sets(site),
            body=lambda key: workspace.fetch(f"shards/{key}").read_bytes(),
            target=target,
            state=state,
            rejected=sum(count.rejected for count in _counts(draft).values()),
            outcome="forced" if failed else "published",
            retention=site.retention,
            allow_empty=site.allow_empty,
            plan_only=only_look,
            before=past.before,
            resumed=past.resumed,
            tracked=tracked,
            progress=lambda done, total: progress("publish", done, total),
        )
        report = build_report(
            run,
            draft,
            result,
            guards,
            outcome="planned" if plan_only else "stopped" if stopped else "published",
            old_indexes=past.live.indexes if past.live else (),
            forced=force and failed,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            timings={"publish": round(time.monotonic() - started, 3)},
        )
        report["findings"] += [*findings, *scope_findings(site)]
        report["robots_txt"] = robots_lines(report["indexes"])
        report["churn"] = churn_of(result, past.live, shards, workspace, state)
        if result.committed:
            report["findings"] += after_publish(site, connections, result, target, state)
        report["files"] = _keep(report, workspace, state)
    if not plan_only:
        _enforce(guards, report, force=force)
    return report


def after_publish(
    site: Site, connections: Connections, result: PublishResult, target: Store, state: Store
) -> list[dict[str, str]]:
    """Tell the CDN what has changed, and sweep up what killed runs left. Findings; nothing here can fail a publish."""
    findings: list[dict[str, str]] = []
    if site.cloudfront:
        from sitemap_ops.release.invalidate import invalidate  # with it comes boto3

        urls = [url_of(site.files_url, key) for key in result.overwritten]
        found = invalidate(connections, site.aws_conn_id, site.cloudfront, urls, result.release)
        findings += [found] if found else []
    return findings + _sweep(target, state)


def _sweep(*stores: Store) -> list[dict[str, str]]:
    """Sweep the stores; one warning for those that refuse it."""
    refused: dict[str, str] = {}
    for store in stores:
        try:
            store.sweep()
        except TargetError as error:
            refused[store.uri] = str(error)
    if not refused:
        return []
    finding = {
        "rule": "PUB-08",
        "code": "not-swept",
        "level": "warning",
        "place": " ".join(refused),
        "advice": "What killed runs may have left, such as parts of uploads, stays there and costs; a lifecycle rule"
        f" (AbortIncompleteMultipartUpload) removes it too. {next(iter(refused.values()))}",
    }
    return [finding]


def stores_of(site: Site, connections: Connections) -> tuple[Store, Store]:
    """The site's target and its state."""
    return (
        open_store(site.target, connections, aws_conn_id=site.aws_conn_id, acl=site.acl),
        open_store(site.state, connections, aws_conn_id=site.aws_conn_id),
    )


def release_sets(site: Site) -> list[ReleaseSet]:
    """The site's file sets, as releases know them."""
    return [
        ReleaseSet(each.name, each.index, each.limits.max_files_per_index, each.windowed, each.schema_location)
        for each in file_sets(site)
    ]


@dataclass(frozen=True)
class _Past:
    """before: what the run goes on from. live: the release that it is compared with, which is the one before where an
    earlier attempt of the run has committed (`resumed`)."""

    before: Before
    live: Manifest | None
    resumed: bool


def _past(site: Site, run: Run, state: Store, *, plan_only: bool) -> _Past:
    before = read_before(state, site.site)
    if plan_only or not committed_already(before, fence_of(run), run["release"]):
        return _Past(before, before.manifest, False)
    assert before.manifest
    return _Past(before, find_manifest(state, before.manifest.previous), True)


def _counts(draft: dict[str, Any]) -> dict[str, SectionCount]:
    return {
        section["section"]: SectionCount(section["rows"], section["entries"], sum(section["rejected"].values()))
        for section in draft["sections"]
    }


def _guards(
    site: Site, draft: dict[str, Any], shards: Sequence[RenderedShard], live: Manifest | None
) -> list[GuardResult]:
    """The sections' and the whole site's, and those of the sets besides the first, which is the whole."""
    own = {section.name: section.guards for section in site.sections}
    whole = site.guards
    if site.allow_empty and "min_urls" not in whole.model_fields_set:
        whole = whole.model_copy(update={"min_urls": 0})
    results = check(whole, _counts(draft), dict(live.sections) if live else None, own)
    _, *others = release_sets(site)
    windowed = {each.name for each in others if each.windowed}
    made = Counter({each.name: 0 for each in others if not each.windowed})
    for shard in shards:
        if shard.set in made:
            made[shard.set] += shard.entries
    if live is None:
        return results
    was: Counter[str] = Counter()
    for record in live.shards:
        if record.set not in windowed | {release_sets(site)[0].name}:
            was[record.set] += record.entries
    return [*results, *check_sets(site.guards, made, was)]


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
    keep_report(report, folder, state)
    return f"{state.uri}{folder}"
