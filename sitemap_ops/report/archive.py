"""What `state` keeps of a site's runs, read for people: releases, plans and stopped runs, and two releases compared.

Nothing here writes. What has been read of a report is remembered: that of a release never changes, and that of another
run only where the run is tried again, which shows in the object's ETag or size.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, TypeVar, cast

from sitemap_ops.errors import TargetError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.bodies import key_of
from sitemap_ops.release.history import CURRENT, list_releases, read_before, read_manifest
from sitemap_ops.release.manifest import Current, Manifest, Past, ShardRecord, from_json
from sitemap_ops.storage import Store, Stored

FOLDERS = ("releases", "stopped", "plans")
READERS = 8
_MAX_REMEMBERED = 20_000

Report = dict[str, Any]
Action = Literal["added", "changed", "removed"]


@dataclass(frozen=True)
class Outcome:
    """The figures of one run's report that lists and charts show."""

    release: str
    run_id: str
    as_of: str
    outcome: str
    """As `release.manifest.Outcome`, or planned, or stopped."""
    rows: int
    entries: int
    rejected: Mapping[str, int]
    sections: Mapping[str, int]
    shards: Mapping[str, int]
    bytes: Mapping[str, int]
    failed: tuple[str, ...]
    """The guards that said no."""

    @property
    def rejects(self) -> int:
        return sum(self.rejected.values())

    @property
    def rewritten(self) -> int:
        return self.shards["added"] + self.shards["changed"] + self.shards["removed"]


@dataclass(frozen=True)
class Standing:
    """How a site stands: the live release and its report, and the newest run, where a guard stopped it."""

    release: str | None
    report: Report | None
    stopped: Outcome | None

    @property
    def live(self) -> Outcome | None:
        return _of_report(self.report) if self.report else None


@dataclass(frozen=True)
class Audited:
    """The figures of one audit of the live site; `totals` are its findings by level."""

    name: str
    started: str
    files: int
    urls: int
    pages: int
    totals: Mapping[str, int]


@dataclass(frozen=True)
class ShardChange:
    """One file that differs between two releases; `old` or `new` is None where it was added or removed."""

    key: str
    old: ShardRecord | None
    new: ShardRecord | None

    @property
    def action(self) -> Action:
        return "added" if self.old is None else "removed" if self.new is None else "changed"

    @property
    def entries(self) -> int:
        """How many more entries the newer release has in this file."""
        return (self.new.entries if self.new else 0) - (self.old.entries if self.old else 0)


Figures = TypeVar("Figures", Outcome, Audited)


class Archive:
    """The records of one site in its `state`. Every method raises TargetError where they can't be read."""

    def __init__(self, state: Store, site: str) -> None:
        self._state = state
        self._site = site

    def standing(self) -> Standing:
        """What is live, and what stopped a run since."""
        found = self._state.get(CURRENT)
        release = from_json(Current, found[0], f"{self._state.uri}{CURRENT}").release if found else None
        stopped = self._listed(["stopped"], 1)
        return Standing(
            release=release,
            report=self.report(release) if release else None,
            stopped=stopped[0] if stopped and stopped[0].release > (release or "") else None,
        )

    def kept(self) -> list[Past]:
        """The live release, first, and those before it."""
        return list_releases(read_before(self._state, self._site))

    def released(self, limit: int) -> list[Outcome]:
        """The releases that are kept, newest first."""
        return list(ordered_map(self._released, islice(self.kept(), limit), workers=READERS))

    def unreleased(self, limit: int) -> list[Outcome]:
        """The plans and stopped runs, newest first."""
        return self._listed(["stopped", "plans"], limit)

    def report(self, release: str) -> Report | None:
        """The report of a release, or else of a run by that id that published nothing; None where there is none."""
        for folder in FOLDERS:
            if report := self._read(f"{folder}/{release}/report.json"):
                return report
        return None

    def audits(self, limit: int) -> list[Audited]:
        """The newest audits, newest first; their names start with their instants."""
        newest = sorted(self._state.list("audits/"), key=lambda stored: stored.key, reverse=True)[:limit]
        return list(ordered_map(partial(self._listed_report, _audited), newest, workers=READERS))

    def audit(self, name: str) -> Report | None:
        """The report of an audit; None where there is none by that name."""
        return self._read(f"audits/{name}.json")

    def manifest(self, release: str) -> Manifest | None:
        """What a kept release holds; None where there is no such release."""
        for past in self.kept():
            if past.release == release:
                return read_manifest(self._state, past.manifest)
        return None

    def body(self, shard: ShardRecord) -> bytes:
        """A file of a kept release, compressed."""
        found = self._state.get(key_of(shard.sha256))
        if found is None:
            raise TargetError(f"{self._state.uri} does not keep the content of {shard.key}: it can't be compared.")
        return found[0]

    def _released(self, past: Past) -> Outcome:
        """Its report's figures; of a release that no run made, those that the records have."""
        name = (self._state.uri, past.manifest)
        if name not in _remembered:
            report = self._read(f"releases/{past.release}/report.json")
            if report is None:
                return _of_record(past)
            _remember(name, _of_report(report))
        return cast(Outcome, _remembered[name])

    def _listed(self, folders: Sequence[str], limit: int) -> list[Outcome]:
        """A release's id starts with its instant, so that ids sort by time."""
        found = [stored for folder in folders for stored in self._state.list(f"{folder}/")]
        reports = [stored for stored in found if stored.key.endswith("/report.json")]
        newest = sorted(reports, key=lambda stored: stored.key.split("/")[1], reverse=True)[:limit]
        read = partial(self._listed_report, lambda _, report: _of_report(report))
        return list(ordered_map(read, newest, workers=READERS))

    def _listed_report(self, figures: Callable[[str, Report], Figures], stored: Stored) -> Figures:
        name = (self._state.uri, stored.key, stored.etag, stored.size)
        if name not in _remembered:
            report = self._read(stored.key)
            if report is None:
                raise TargetError(f"{self._state.uri}{stored.key} was removed while it was being read: try again.")
            _remember(name, figures(stored.key, report))
        return cast(Figures, _remembered[name])

    def _read(self, key: str) -> Report | None:
        found = self._state.get(key)
        if found is None:
            return None
        try:
            report = json.loads(found[0])
            if report["schema"] == 1:
                return dict(report)
        except (ValueError, KeyError, TypeError):
            pass
        raise TargetError(f"{self._state.uri}{key} is no report that this version can read: update it, or restore it.")


_remembered: dict[tuple[str | int, ...], Outcome | Audited] = {}


def _remember(name: tuple[str | int, ...], figures: Outcome | Audited) -> None:
    if len(_remembered) >= _MAX_REMEMBERED:
        _remembered.clear()
    _remembered[name] = figures


def compare(old: Manifest, new: Manifest) -> list[ShardChange]:
    """The files that differ, by key."""
    before = {_place(shard): shard for shard in old.shards}
    after = {_place(shard): shard for shard in new.shards}
    return [
        ShardChange((after.get(place) or before[place]).key, before.get(place), after.get(place))
        for place in sorted(before.keys() | after.keys())
        if place not in before or place not in after or before[place].sha256 != after[place].sha256
    ]


def _place(shard: ShardRecord) -> str:
    """What a file is called for the URL that it starts with; an immutable name holds its content's digest too."""
    return shard.key.replace(f"-{shard.sha256[:16]}", "")


def _of_report(report: Report) -> Outcome:
    return Outcome(
        release=report["release"],
        run_id=report["run_id"],
        as_of=report["as_of"],
        outcome="forced" if report["forced"] else report["outcome"],
        rows=report["rows_read"],
        entries=report["entries"],
        rejected=report["rejected"],
        sections={name: section["entries"] for name, section in report["sections"].items()},
        shards=report["shards"],
        bytes=report["bytes"],
        failed=tuple(guard["guard"] for guard in report["guards"] if not guard["passed"]),
    )


def _audited(key: str, report: Report) -> Audited:
    return Audited(
        name=key.removeprefix("audits/").removesuffix(".json"),
        started=report["started"],
        files=report["files"],
        urls=report["urls"],
        pages=report["pages"]["asked"],
        totals=report["totals"],
    )


def _of_record(past: Past) -> Outcome:
    return Outcome(
        release=past.release,
        run_id="",
        as_of=past.as_of,
        outcome=past.outcome,
        rows=0,
        entries=past.entries,
        rejected={},
        sections={},
        shards={"total": past.shards, "added": 0, "changed": 0, "removed": 0},
        bytes={"xml": 0, "gzip": 0, "uploaded": 0},
        failed=(),
    )
