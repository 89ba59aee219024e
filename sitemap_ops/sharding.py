"""Where one shard ends and the next begins (DESIGN 6).

A shard may be cut before any entry; its hash says how good a cut that is. Once a section's waiting entries no longer
fit into one shard, the best of all cuts that fit is taken: the least `hash / fullness²`, with the hash as a number in
[0, 1) and the fullness as the share of the limit, entries or bytes, whichever is nearer, that the shard would reach.

So a cut is a function of the entries near it alone: an edit moves a cut only when it touches the best one or brings
a better, and after a moved cut the next windows soon choose what they chose before. The square keeps shards three
quarters full on average; a higher power fills them more and lets edits ripple further (benchmarks/churn.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Piece:
    """Consecutive entries of one section: their rendered bytes and the hashes of their locs.

    offsets: int64, entries + 1, into data (uint8); hashes: uint64, entries.
    """

    offsets: np.ndarray
    data: np.ndarray
    hashes: np.ndarray

    def __len__(self) -> int:
        return len(self.hashes)

    def split(self, count: int) -> tuple[Piece, Piece]:
        """The first `count` entries, and the others."""
        offset = self.offsets[count]
        return (
            Piece(self.offsets[: count + 1], self.data[:offset], self.hashes[:count]),
            Piece(self.offsets[count:] - offset, self.data[offset:], self.hashes[count:]),
        )


@dataclass(frozen=True)
class Shard:
    """A shard that is complete: what it is called by, and its entries' bytes in order."""

    key: str
    entries: int
    pieces: tuple[Piece, ...]


@dataclass
class Sharder:
    """Cuts one section's entries, which arrive in order, into shards.

    max_entries: entries a shard may hold (P-30). max_bytes: bytes its entries may take, header and footer apart (P-31).
    Memory: the entries of one shard and of one piece.
    """

    max_entries: int
    max_bytes: int
    _waiting: list[Piece] = field(default_factory=list)
    _key: str = f"{0:016x}"

    def add(self, piece: Piece) -> Iterator[Shard]:
        """Take the next entries; give the shards that are complete now."""
        if len(piece):
            self._waiting.append(piece)
        while (cut := self._cut()) is not None:
            yield self._take(cut)

    def finish(self) -> Iterator[Shard]:
        """The last shard, if any entry is left."""
        if self._waiting:
            yield Shard(self._key, sum(map(len, self._waiting)), tuple(self._waiting))
            self._waiting = []

    def _cut(self) -> int | None:
        """How many of the waiting entries the next shard takes; None while all of them fit into one."""
        count = sum(map(len, self._waiting))
        size = sum(int(piece.offsets[-1]) for piece in self._waiting)
        if count <= self.max_entries and size <= self.max_bytes:
            return None
        sizes = np.cumsum(np.concatenate([np.diff(piece.offsets) for piece in self._waiting]))
        hashes = np.concatenate([piece.hashes for piece in self._waiting])
        fitting = min(self.max_entries, count - 1, int(np.searchsorted(sizes, self.max_bytes, side="right")))
        # The cut after n entries is made before entry n, and the shard then holds sizes[n - 1] bytes.
        fullness = np.maximum(np.arange(1, fitting + 1) / self.max_entries, sizes[:fitting] / self.max_bytes)
        chance = (hashes[1 : fitting + 1] >> np.uint64(11)) * 2.0**-53
        return 1 + int(np.argmin(chance / (fullness * fullness)))

    def _take(self, count: int) -> Shard:
        taken: list[Piece] = []
        left = count
        while left >= len(self._waiting[0]):
            piece = self._waiting.pop(0)
            taken.append(piece)
            left -= len(piece)
            if not self._waiting:
                break
        if left:
            head, self._waiting[0] = self._waiting[0].split(left)
            taken.append(head)
        shard = Shard(self._key, count, tuple(taken))
        self._key = f"{int(self._waiting[0].hashes[0]):016x}"
        return shard
