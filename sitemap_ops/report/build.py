"""report.json: what happened to every row of a run (DESIGN 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from sitemap_ops.release.guards import GuardResult
from sitemap_ops.release.manifest import IndexRecord
from sitemap_ops.release.plan import PlannedShard
from sitemap_ops.release.publish import PublishResult

Report = dict[str, Any]


def build_report(
    run: dict[str, Any],
    assembled: dict[str, Any],
    published: PublishResult,
    guards: Sequence[GuardResult],
    *,
    outcome: Literal["published", "planned", "stopped"],
    old_indexes: Sequence[IndexRecord],
    forced: bool,
    finished: str,
    timings: dict[str, float],
) -> Report:
    """The report of one run, JSON-able.

    assembled: what the step `assemble` left. outcome: "stopped" is by a guard. old_indexes: of the release before.
    timings: seconds of the steps that `assembled` does not know of.
    """
    sections = assembled["sections"]
    shards = assembled["shards"]
    links = assembled["links"]
    plan = published.plan
    reading = sum(section["seconds"] for section in sections)
    return {
        "schema": 1,
        "site": run["site"],
        "release": run["release"],
        "run_id": run["run_id"],
        "as_of": run["as_of"],
        "started": run["started"],
        "finished": finished,
        "outcome": outcome,
        "forced": forced,
        "rows_read": sum(section["rows"] for section in sections),
        "entries": sum(section["entries"] for section in sections),
        "duplicates": assembled["duplicates"],
        "rejected": _summed(section["rejected"] for section in sections),
        "changed": _summed([*(section["changed"] for section in sections), (links or {}).get("changed", {})]),
        "links": links,
        "sections": {section["section"]: _section(section) for section in sections},
        "sets": {each["set"]: _set(each, shards) for each in assembled["sets"]},
        **_published(published, [shard for shard in plan.shards if shard.action != "removed"]),
        "guards": [asdict(result) for result in guards],
        "findings": [*_uniform_lastmods(sections), *_left_indexes(old_indexes, published)],
        "timings": {"extract": round(reading, 3), "assemble": assembled["seconds"], **timings},
    }


def rollback_report(
    named: Mapping[str, str],
    site: str,
    restores: str,
    sections: Mapping[str, int],
    published: PublishResult,
    *,
    finished: str,
    timings: dict[str, float],
) -> Report:
    """The report of a rollback, in the shape of a run's: no rows were read, nothing was judged.

    named: release, run_id and as_of of the rollback. restores: the release whose files are live again. sections: its
    entries.
    """
    shards = [shard for shard in published.plan.shards if shard.action != "removed"]
    judged: dict[str, Any] = {"rows": 0, "rejected": {}, "changed": {}, "examples": {}}
    return {
        "schema": 1,
        "site": site,
        **named,
        "started": named["as_of"],
        "finished": finished,
        "outcome": "rolled back",
        "restores": restores,
        "forced": False,
        "rows_read": 0,
        "entries": sum(sections.values()),
        "duplicates": 0,
        "rejected": {},
        "changed": {},
        "links": None,
        "sections": {name: {**judged, "entries": entries} for name, entries in sections.items()},
        "sets": {},
        **_published(published, shards),
        "guards": [],
        "findings": [],
        "timings": timings,
    }


def _published(published: PublishResult, shards: Sequence[PlannedShard]) -> dict[str, Any]:
    """What became of the target. shards: all that the release lists."""
    plan = published.plan
    return {
        "shards": {
            "total": len(shards),
            **{action: plan.count(action) for action in ("added", "changed", "removed", "unchanged")},
        },
        "planned": [
            {"action": shard.action, "key": shard.key, "entries": shard.entries, "xml_bytes": shard.xml_bytes}
            for shard in plan.shards
            if shard.action != "unchanged"
        ],
        "bytes": {
            "xml": sum(shard.xml_bytes for shard in shards),
            "gzip": sum(shard.gzip_bytes for shard in shards),
            "uploaded": published.uploaded_bytes,
        },
        "indexes": list(published.index_urls),
        "indexes_removed": list(published.indexes_removed),
        "epoch": published.epoch,
        "repaired": published.repaired,
        "pruned": {"keys": list(published.pruned.keys), "held_back": published.pruned.held_back},
        "completed_previous": list(published.completed),
    }


def facts(report: Report) -> dict[str, Any]:
    """The few figures that travel with a task's result and an asset's event; `report` says where the others are."""
    return {
        "release": report["release"],
        "report": f"{report['files']}report.json",
        "index": report["indexes"][0] if report["indexes"] else None,
        "rows": report["rows_read"],
        "entries": report["entries"],
        "duplicates": report["duplicates"],
        "rejected": sum(report["rejected"].values()),
        "shards": report["shards"],
        "bytes": report["bytes"],
    }


def _section(section: dict[str, Any]) -> dict[str, Any]:
    return {
        "rows": section["rows"],
        "entries": section["entries"],
        "rejected": section["rejected"],
        "changed": section["changed"],
        "examples": section["examples"],
    }


def _set(made: dict[str, Any], shards: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """kept_out: by code, what the content limits of an engine's own set keep out of it."""
    own = [shard for shard in shards if shard["set"] == made["set"]]
    return {"entries": sum(shard["entries"] for shard in own), "shards": len(own), "kept_out": made["kept_out"]}


def _summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _uniform_lastmods(sections: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {
            "rule": "P-10",
            "code": "lastmod-uniform",
            "level": "warning",
            "place": section["section"],
            "advice": "Nearly all pages carry one lastmod, as a build's own time would: engines will ignore it."
            " Name the column of the page's last change, or none.",
        }
        for section in sections
        if section["lastmod_uniform"]
    ]


def _left_indexes(old: Sequence[IndexRecord], published: PublishResult) -> list[dict[str, str]]:
    names = {url.rsplit("/", 1)[1] for url in published.index_urls}
    return [
        {
            "rule": "P-48",
            "code": "index-left",
            "level": "warning",
            "place": index.key,
            "advice": "This index of an earlier release stays where it is and is not kept up to date any more: name the"
            " new one in robots.txt, then delete it.",
        }
        for index in old
        if index.key not in names and index.key not in published.indexes_removed
    ]
