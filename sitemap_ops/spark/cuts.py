"""Where shards are cut, found from a few of the entries: the Sharder's cuts (`sharding`), with nothing that reads all.

A cut is the least `hash / fullness²` of a window, and the fullness is 1 at most: an entry whose hash, as a number in
[0, 1), is `t` or more can't be worth less than `t`. So each part of a section reports only its entries below such a
threshold, the candidates. A best candidate that is worth less than the threshold of all parts that its window touches
is the best of all entries: proven, not likely. Where it is not, `Unproven` names the parts to ask again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitemap_ops.errors import OutputError

EXPECTED = 64.0
"""Candidates that a full window has on average. All miss with a chance of e^-21: the mean of fullness² is a third."""

FACTOR = 8.0
"""How many times as many candidates are asked for where a cut was not proven."""


@dataclass(frozen=True)
class Part:
    """What one part of a section's ordered entries reports.

    entries, size: all its entries and their rendered bytes. threshold: entries whose hash is below it are candidates,
    from 1 on all are. before, size_before: int64, how many entries and bytes of the part lie before each candidate.
    hashes: uint64, of each candidate.
    """

    entries: int
    size: int
    threshold: float
    before: np.ndarray
    size_before: np.ndarray
    hashes: np.ndarray


@dataclass(frozen=True)
class Cut:
    """A shard's beginning: how many entries of the section lie before it, and what it is called by."""

    entry: int
    key: str


class Unproven(Exception):
    """A cut can't be told from these candidates: the parts first to last - 1 have to report more."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(first, last)
        self.first, self.last = first, last


def chances(hashes: np.ndarray) -> np.ndarray:
    """Hashes (uint64) as numbers in [0, 1), as the Sharder takes them."""
    return (hashes >> np.uint64(11)) * 2.0**-53


def threshold_of(entries: int, size: int, max_entries: int, max_bytes: int) -> float:
    """A part's threshold: it gives a window of entries such as the part's some EXPECTED candidates."""
    return EXPECTED / max(1.0, min(max_entries, max_bytes * entries / max(1, size)))


def candidates(hashes: np.ndarray, lengths: np.ndarray, threshold: float) -> Part:
    """The report of a part. hashes: uint64, of its entries in order. lengths: int64, of their rendered bytes."""
    ends = np.cumsum(lengths, dtype=np.int64)
    found = np.flatnonzero(chances(hashes) < threshold)
    size = int(ends[-1]) if len(ends) else 0
    return Part(len(hashes), size, threshold, found, ends[found] - lengths[found], hashes[found])


def cuts(parts: Sequence[Part], max_entries: int, max_bytes: int) -> list[Cut]:
    """The beginnings of a section's shards, the first one's too; none where there is no entry. Raises Unproven.

    parts: of all its entries, in order. Each step looks at one window's candidates alone.
    """
    firsts = np.concatenate([[0], np.cumsum([part.entries for part in parts], dtype=np.int64)])
    sizes = np.concatenate([[0], np.cumsum([part.size for part in parts], dtype=np.int64)])
    entries, size = int(firsts[-1]), int(sizes[-1])
    if not entries:
        return []
    before = np.concatenate([part.before + first for part, first in zip(parts, firsts[:-1], strict=True)])
    size_before = np.concatenate([part.size_before + first for part, first in zip(parts, sizes[:-1], strict=True)])
    hashes = np.concatenate([part.hashes for part in parts])
    found = [Cut(0, f"{0:016x}")]
    start = start_size = 0
    while entries - start > max_entries or size - start_size > max_bytes:
        low = int(np.searchsorted(before, start, side="right"))
        high = min(
            int(np.searchsorted(before, start + max_entries, side="right")),
            int(np.searchsorted(size_before, start_size + max_bytes, side="right")),
        )
        fullness = np.maximum(
            (before[low:high] - start) / max_entries, (size_before[low:high] - start_size) / max_bytes
        )
        values = chances(hashes[low:high]) / (fullness * fullness)
        first, last = _touched(firsts, sizes, (start, start_size), (start + max_entries, start_size + max_bytes))
        proven = min(part.threshold for part in parts[first:last])
        if proven < 1 and (not len(values) or values.min() >= proven):
            raise Unproven(first, last)
        if not len(values):
            raise OutputError(f"Entry {start + 1} of a section takes more than the {max_bytes:,} bytes of a file.")
        best = int(np.argmin(values))
        start, start_size = int(before[low + best]), int(size_before[low + best])
        found.append(Cut(start, f"{int(hashes[low + best]):016x}"))
    return found


def _touched(firsts: np.ndarray, sizes: np.ndarray, start: tuple[int, int], end: tuple[int, int]) -> tuple[int, int]:
    """The parts, first to last - 1, that hold an entry of the window between two places (entries, bytes)."""
    first = int(np.searchsorted(firsts, start[0], side="right")) - 1
    last = min(int(np.searchsorted(firsts, end[0], side="right")), int(np.searchsorted(sizes, end[1], side="right")))
    return first, min(max(last, first + 1), len(firsts) - 1)
