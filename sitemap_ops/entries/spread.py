"""Whether lastmods tell pages apart at all: the stamp that nearly every entry carries is a build time, not a change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

MIN_ENTRIES = 100
MIN_PERCENT = 95
"""P-10's own thresholds."""

_COUNTERS = 1_024


class LastmodSpread:
    """Counts the lastmods of entries that stream by, in bounded memory (P-10, C-63).

    Misra and Gries' counters, so that two of them can be merged: exact up to 1,024 different stamps; beyond, the count
    of a stamp that 95 % of the entries carry is short by 0.005 % of the entries at most.
    """

    def __init__(self) -> None:
        self._entries = self._dated = 0
        self._earliest: int | None = None
        self._stamps = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)

    def update(self, instants: pa.Array | pa.ChunkedArray) -> None:
        """Add entries by their instants (int64, seconds since the epoch; null for an entry that has no lastmod)."""
        self._entries += len(instants)
        dated = np.asarray(instants.drop_null())
        if dated.size:
            stamps, counts = np.unique(dated, return_counts=True)
            self._count(stamps, counts, int(stamps[0]))

    def merge(self, other: LastmodSpread) -> None:
        """Add the entries of another one."""
        self._entries += other._entries
        if other._earliest is not None:
            self._count(other._stamps, other._counts, other._earliest, other._dated)

    def to_json(self) -> dict[str, Any]:
        """What `from_json` makes an equal one of, to merge it in another process."""
        return {
            "entries": self._entries,
            "dated": self._dated,
            "earliest": self._earliest,
            "stamps": self._stamps.tolist(),
            "counts": self._counts.tolist(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> LastmodSpread:
        spread = cls()
        spread._entries, spread._dated, spread._earliest = value["entries"], value["dated"], value["earliest"]
        spread._stamps, spread._counts = (np.array(value[name], np.int64) for name in ("stamps", "counts"))
        return spread

    def uniform(self, as_of: datetime) -> bool:
        """Whether lastmod says nothing: of 100 entries and more, 95 % carry one identical time, or all times lie at or
        after the run's own instant, which only the reading itself can have written."""
        run_time = self._earliest is not None and self._earliest >= int(as_of.timestamp())
        same = self._dated if run_time else int(self._counts.max(initial=0))
        return self._entries >= MIN_ENTRIES and same * 100 >= self._entries * MIN_PERCENT

    def _count(self, stamps: np.ndarray, counts: np.ndarray, earliest: int, dated: int | None = None) -> None:
        self._dated += int(counts.sum()) if dated is None else dated
        self._earliest = earliest if self._earliest is None else min(self._earliest, earliest)
        self._stamps, rows = np.unique(np.concatenate([self._stamps, stamps]), return_inverse=True)
        self._counts = np.bincount(rows, np.concatenate([self._counts, counts])).astype(np.int64)
        if self._counts.size > _COUNTERS:
            self._counts -= np.partition(self._counts, -_COUNTERS - 1)[-_COUNTERS - 1]
            kept = self._counts > 0
            self._stamps, self._counts = self._stamps[kept], self._counts[kept]
