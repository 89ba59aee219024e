"""What is done with releases outside a run: list them, put one back, adopt a target, make a lost `state` anew."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sitemap_ops.connections import Connections
from sitemap_ops.errors import UsageError
from sitemap_ops.release import adopt as adopting
from sitemap_ops.release import rebuild as rebuilding
from sitemap_ops.release import rollback as rolling_back
from sitemap_ops.release.history import RELEASES, list_releases, read_before
from sitemap_ops.release.publish import instant_of
from sitemap_ops.report.build import rollback_report
from sitemap_ops.report.keep import keep_report
from sitemap_ops.site import Site
from sitemap_ops.steps.publish import after_publish, release_sets, stores_of
from sitemap_ops.steps.run import Progress, no_progress, release_id
from sitemap_ops.storage.probe import check_stores


def releases(site: Site, connections: Connections) -> list[dict[str, Any]]:
    """The releases that are kept, the live one first, JSON-able.

    release, as_of, epoch, outcome, restores (what a rollback brought back), entries, shards, rejected (None where that
    is not known), manifest (its key in `state`), current.
    """
    _, state = stores_of(site, connections)
    listed = list_releases(read_before(state, site.site))
    return [{**asdict(past), "current": number == 0} for number, past in enumerate(listed)]


def rollback(
    site: Site, to: str, connections: Connections, *, as_of: datetime | None = None, progress: Progress = no_progress
) -> dict[str, Any]:
    """Put the files of release `to` back, as a new release. Returns its report, which state keeps too.

    as_of: the rollback's instant; now where None.
    """
    started = as_of or datetime.now(UTC)
    target, state = stores_of(site, connections)
    check_stores(target, state, allow_unsafe=site.allow_unsafe_store)
    named = _Named.of(site, "rollback", started)
    result = rolling_back.rollback(
        site=site,
        to=to,
        **asdict(named),
        target=target,
        state=state,
        retention=site.retention,
        progress=lambda done, total: progress("rollback", done, total),
    )
    manifest = read_before(state, site.site).manifest
    now = datetime.now(UTC)
    report = rollback_report(
        asdict(named),
        site.site,
        to,
        dict(manifest.sections) if manifest else {},
        result,
        finished=now.isoformat(timespec="seconds"),
        timings={"rollback": round((now - started).total_seconds(), 3)},
    )
    report["findings"] += after_publish(site, connections, result, target, state)
    keep_report(report, f"{RELEASES}{report['release']}/", state)
    return report


def adopt(site: Site, mode: adopting.Mode, connections: Connections) -> dict[str, Any]:
    """Say what becomes of the index that another program has left in the target. Returns what was found there."""
    target, state = stores_of(site, connections)
    check_stores(target, state, allow_unsafe=site.allow_unsafe_store)
    main = release_sets(site)[0]
    if main.index is None:
        raise UsageError("The site file's first file set has no index, so none can be adopted.")
    named = _Named.of(site, "adopt", datetime.now(UTC))
    adopted = adopting.adopt(
        mode=mode, site=site.site, files_url=site.files_url, main=main, **asdict(named), target=target, state=state
    )
    return asdict(adopted)


def rebuild_state(site: Site, connections: Connections) -> dict[str, Any]:
    """Make a lost `state` anew from the target. Returns the counts of what is live.

    tracked_lost: the sections whose tracked dates were in the old state alone.
    """
    target, state = stores_of(site, connections)
    check_stores(target, state, allow_unsafe=site.allow_unsafe_store)
    named = _Named.of(site, "rebuild", datetime.now(UTC))
    manifest = rebuilding.rebuild(
        site=site.site,
        files_url=site.files_url,
        sets=release_sets(site),
        sections=[section.name for section in site.sections],
        **asdict(named),
        target=target,
        state=state,
    )
    return {
        "release": manifest.release,
        "indexes": [index.key for index in manifest.indexes],
        "shards": len(manifest.shards),
        "entries": sum(manifest.sections.values()),
        "sections": dict(manifest.sections),
        "tracked_lost": [section.name for section in site.sections if section.track],
    }


@dataclass(frozen=True)
class _Named:
    """What tells one release from another."""

    release: str
    run_id: str
    as_of: str

    @classmethod
    def of(cls, site: Site, what: str, as_of: datetime) -> _Named:
        run_id = f"{what}__{as_of.isoformat()}__{uuid4().hex[:8]}"
        return cls(release_id(site, run_id, as_of), run_id, instant_of(as_of))
