"""What `state` keeps of a site's runs, read for people: releases, plans and stopped runs, and two releases compared.

Nothing here writes. Reports and manifests never change once they are written, so what is read of a report is kept in
memory; a retried run writes its report anew, which shows in the object's ETag or size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sitemap_ops.errors import TargetError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.history import CURRENT, read_manifest
from sitemap_ops.release.manifest import Current, Manifest, ShardRecord, from_json
from sitemap_ops.storage import Store, Stored

FOLDERS = ("releases", "stopped", "plans")
READERS = 8
_REPORT = re.compile(r"(?:releases|stopped|plans)/([^/]+)/report\.json")
_MAX_KEPT = 20_000

Report = dict[str, Any]
Action = Literal["added", "changed", "removed"]


@dataclass(frozen=True)
class Outcome:
    """The figures of one run's report that lists and charts show."""

    release: str
    run_id: str
    as_of: str
    outcome: str
    forced: bool
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
        return _summary(self.report) if self.report else None


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


class Archive:
    """A site's records. Every method raises TargetError where `state` can't be read or holds something damaged."""

    def __init__(self, state: Store) -> None:
        self._state = state

    def current(self) -> Current | None:
        """Which release is live; None before the first."""
        found = self._state.get(CURRENT)
        return from_json(Current, found[0], f"{self._state.uri}{CURRENT}") if found else None

    def outcomes(self, limit: int, *, folders: tuple[str, ...] = FOLDERS) -> list[Outcome]:
        """The newest runs, newest first; a release's id starts with its instant, so that ids sort by time."""
        found = [stored for folder in folders for stored in self._state.list(f"{folder}/")]
        reports = [(match[1], stored) for stored in found if (match := _REPORT.fullmatch(stored.key))]
        newest = (stored for _, stored in sorted(reports, key=lambda each: each[0], reverse=True))
        return list(ordered_map(self._outcome, islice(newest, limit), workers=READERS))

    def standing(self) -> Standing:
        """What is live, which after a rollback is not the newest, and what stopped a run since."""
        current = self.current()
        newest = self.outcomes(1, folders=("releases", "stopped"))
        return Standing(
            release=current.release if current else None,
            report=self.report(current.release) if current else None,
            stopped=newest[0] if newest and newest[0].outcome == "stopped" else None,
        )

    def report(self, release: str) -> Report | None:
        """The report of a release, or else of a run by that id that published nothing; None where there is none."""
        for folder in FOLDERS:
            if found := self._state.get(f"{folder}/{release}/report.json"):
                return _report(found[0], f"{self._state.uri}{folder}/{release}/report.json")
        return None

    def manifest(self, release: str) -> Manifest | None:
        """The manifest by which a release was committed; None where it never was, or is no longer kept."""
        keys = [stored.key for stored in self._state.list(f"releases/{release}/manifest-")]
        if len(keys) > 1:  # one for each attempt that came so far: only one is in the chain
            keys = [key for key in self._chain() if key in keys]
        return read_manifest(self._state, keys[0]) if keys else None

    def _chain(self) -> Iterator[str]:
        """The keys of all manifests from the live one back."""
        current = self.current()
        key = current.manifest if current else None
        while key:
            yield key
            key = read_manifest(self._state, key).previous

    def _outcome(self, stored: Stored) -> Outcome:
        name = (self._state.uri, stored.key, stored.etag, stored.size)
        if name not in _kept:
            found = self._state.get(stored.key)
            if found is None:
                raise TargetError(f"{self._state.uri}{stored.key} was removed while it was being read: try again.")
            if len(_kept) >= _MAX_KEPT:
                _kept.clear()
            _kept[name] = _summary(_report(found[0], f"{self._state.uri}{stored.key}"))
        return _kept[name]


_kept: dict[tuple[str, str, str, int], Outcome] = {}


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


def _report(body: bytes, where: str) -> Report:
    try:
        report = json.loads(body)
        if report["schema"] == 1:
            return dict(report)
    except (ValueError, KeyError, TypeError):
        pass
    raise TargetError(f"{where} is no report that this version can read: update it, or restore the file.")


def _summary(report: Report) -> Outcome:
    return Outcome(
        release=report["release"],
        run_id=report["run_id"],
        as_of=report["as_of"],
        outcome=report["outcome"],
        forced=report["forced"],
        rows=report["rows_read"],
        entries=report["entries"],
        rejected=report["rejected"],
        sections={name: section["entries"] for name, section in report["sections"].items()},
        shards=report["shards"],
        bytes=report["bytes"],
        failed=tuple(guard["guard"] for guard in report["guards"] if not guard["passed"]),
    )
