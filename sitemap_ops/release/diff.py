"""Which URLs came, went or changed between two releases, in bounded memory whatever their size.

A section's shards hold its entries in the order of their locs, and no loc twice. So shards of equal content on both
sides say nothing, and the others of both sides are read once, side by side, a shard of each in memory at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.errors import OutputError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.render.read_back import rendered_entries, text_entries
from sitemap_ops.storage.content import GZIP_MAGIC, gunzip_blocks

OpenBody = Callable[[ShardRecord], bytes]
"""Gives a shard's file as it is stored, compressed or not."""

_READ_AHEAD = 1
"""Threads that get the next shards of a side while the last one is compared."""


class Change(NamedTuple):
    """One URL's fate. An entry is changed where anything of it is, such as its lastmod.

    A URL that moved to another section is removed in the one and added in the other.
    """

    section: str
    loc: str
    change: Literal["added", "removed", "changed"]


def diff(
    old: Sequence[ShardRecord],
    new: Sequence[ShardRecord],
    open_old: OpenBody,
    open_new: OpenBody,
    *,
    set_: str = "main",
) -> Iterator[Change]:
    """The changes from one release to another in one file set, section by section, in the order of their locs.

    old, new: the shards as the manifests list them. Only shards that differ are opened, from other threads too. Raises
    OutputError for a body that is not what its manifest says, and what the openers raise.
    """
    sides = [_by_section(shards, set_) for shards in (old, new)]
    for section in dict.fromkeys([*sides[1], *sides[0]]):
        before, after = (side.get(section, []) for side in sides)
        same = {shard.sha256 for shard in before} & {shard.sha256 for shard in after}
        left = _Side([shard for shard in before if shard.sha256 not in same], open_old)
        right = _Side([shard for shard in after if shard.sha256 not in same], open_new)
        for removed, changed, added in _changes(left, right):
            yield from _in_order(section, removed, changed, added)


def _by_section(shards: Iterable[ShardRecord], set_: str) -> dict[str, list[ShardRecord]]:
    sections: dict[str, list[ShardRecord]] = {}
    for shard in shards:
        if shard.set == set_:
            sections.setdefault(shard.section, []).append(shard)
    return sections


class _Side:
    """One release's differing shards of a section, as a stream of entries: the locs and rendered bytes at its head."""

    def __init__(self, shards: Sequence[ShardRecord], open_body: OpenBody) -> None:
        self._tables = ordered_map(lambda shard: (shard, _entries(shard, open_body)), shards, workers=_READ_AHEAD)
        self._entries = pa.table({"loc": pa.array([], pa.string()), "entry": pa.array([], pa.string())})
        self.last: str | None = None
        """The greatest loc at the head; None at the end of the stream."""

    def fill(self) -> None:
        """Read the next shard where all of the last one was taken."""
        if self._entries.num_rows:
            return
        before, self.last = self.last, None
        if (following := next(self._tables, None)) is None:
            return
        shard, self._entries = following
        locs = self._entries["loc"]
        if before is not None and locs[0].as_py() <= before:
            raise _wrong(shard, "it is not in the order of its section")
        self.last = locs[-1].as_py()

    def take(self, until: str) -> pa.Table:
        """Remove and return the entries whose loc is not greater than this."""
        locs, low, high = self._entries["loc"], 0, self._entries.num_rows
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if locs[middle].as_py() <= until else (low, middle)
        taken, self._entries = self._entries.slice(0, low), self._entries.slice(low)
        return taken


def _changes(left: _Side, right: _Side) -> Iterator[tuple[pa.ChunkedArray, pa.ChunkedArray, pa.ChunkedArray]]:
    """The locs removed, changed and added, for one stretch of the section after the other."""
    while True:
        left.fill()
        right.fill()
        ends = [side.last for side in (left, right) if side.last is not None]
        if not ends:
            return
        before, after = left.take(min(ends)), right.take(min(ends))
        at = pc.index_in(before["loc"], after["loc"])
        stay = pc.is_valid(at)
        kept, now = before.filter(stay), after["entry"].take(at.drop_null())
        yield (
            before["loc"].filter(pc.invert(stay)),
            kept["loc"].filter(pc.not_equal(kept["entry"], now)),
            after["loc"].filter(pc.invert(pc.is_in(after["loc"], before["loc"]))),
        )


def _in_order(section: str, removed: pa.Array, changed: pa.Array, added: pa.Array) -> Iterator[Change]:
    changes = [Change(section, loc, "removed") for loc in removed.to_pylist()]
    changes += [Change(section, loc, "changed") for loc in changed.to_pylist()]
    changes += [Change(section, loc, "added") for loc in added.to_pylist()]
    return iter(sorted(changes))


def _entries(shard: ShardRecord, open_body: OpenBody) -> pa.Table:
    body = open_body(shard)
    try:
        content = b"".join(gunzip_blocks([body])) if body.startswith(GZIP_MAGIC) else body
        if hashlib.sha256(content).hexdigest() != shard.sha256:
            raise ValueError("its digest is another")
        locs, entries = (text_entries if shard.key.endswith(".txt") else rendered_entries)(content)
    except ValueError as error:  # DamagedContent is one too
        raise _wrong(shard, str(error)) from None
    if not pc.all(pc.less(locs.slice(0, len(locs) - 1), locs.slice(1)), min_count=0).as_py():
        raise _wrong(shard, "its entries are not in order")
    return pa.table({"loc": locs, "entry": entries})


def _wrong(shard: ShardRecord, reason: str) -> OutputError:
    return OutputError(
        f"The stored body of {shard.key} is not what its release's manifest says: {reason}; its URLs can't be compared."
    )
