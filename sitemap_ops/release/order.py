"""In which order changed shards are put: one that gains URLs before the one that loses them (DESIGN 7).

Then a URL that moves is in both files for a moment, never in none. What moves where follows from the ranges of URLs
that the files hold before and after, for a section's files are consecutive pieces of its URLs in order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter


@dataclass(frozen=True)
class Range:
    """The first and the last URL of a file."""

    first: str
    last: str


@dataclass(frozen=True)
class Change:
    """A file that is put over one that is listed: what it holds before and after; None where that is not known.

    part: of whose files it is one: a section's in one set.
    """

    key: str
    part: tuple[str, str]
    was: Range | None
    becomes: Range | None


def in_order(changes: Sequence[Change]) -> list[list[str]]:
    """The keys in batches: all of a batch may be put at once, each batch after the one before it."""
    sorter = TopologicalSorter(_gainers(changes))
    try:
        sorter.prepare()
    except CycleError:  # not pieces of one order: then no order of single puts could do
        return [[change.key for change in changes]]
    batches = []
    while ready := sorter.get_ready():
        batches.append(list(ready))
        sorter.done(*ready)
    return batches


def _gainers(changes: Sequence[Change]) -> Mapping[str, set[str]]:
    """For each file those that gain some of the URLs that it holds before: all that it has to wait for."""
    parts: dict[tuple[str, str], list[tuple[Range, str]]] = defaultdict(list)
    for change in changes:
        if change.becomes:
            parts[change.part].append((change.becomes, change.key))
    for gaining in parts.values():
        gaining.sort(key=lambda pair: pair[0].last)
    waits: dict[str, set[str]] = {}
    for change in changes:
        waits[change.key] = set()
        if change.was is None:
            continue
        gaining = parts.get(change.part, [])
        for range_, key in gaining[bisect_left(gaining, change.was.first, key=lambda pair: pair[0].last) :]:
            if range_.first > change.was.last:
                break
            if key != change.key:
                waits[change.key].add(key)
    return waits
