"""The second pass: executors render the shards and leave them in the workspace.

A shard that lies within one partition is made where its entries are. Of one that goes over a partition's border the
rendered parts are moved: Spark brings them together, and only them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SourceError
from sitemap_ops.release.plan import RenderedShard
from sitemap_ops.sharding import Piece, Shard
from sitemap_ops.site import Site
from sitemap_ops.spark.cuts import Cut
from sitemap_ops.spark.measure import Layout, Line, partition_number
from sitemap_ops.spark.ranges import key_ranges
from sitemap_ops.spark.tally import packed, unpacked
from sitemap_ops.steps.derive import Derive
from sitemap_ops.steps.shards import SetShard, shard_file
from sitemap_ops.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOVED = pa.schema(
    [
        ("set", pa.int32()),
        ("rank", pa.int32()),
        ("shard", pa.int32()),
        ("entry", pa.int64()),
        ("offsets", pa.binary()),
        ("data", pa.binary()),
        ("record", pa.binary()),
    ]
)
"""A shard by its number in its line; either its record, once it is made, or a part of it that begins at an entry."""

MOVED_ENTRIES = 8_192
MOVED_AT_ONCE = 16
"""Entries a moved row holds, and such rows that a Python worker is handed at once: bounds of its memory."""


@dataclass(frozen=True)
class ShardWriter:
    """Writes complete shards into the run's workspace."""

    site: Site
    derive: Derive
    work: str

    def opened(self) -> Workspace:
        return Workspace(self.work, EnvironmentConnections(), self.site.aws_conn_id)

    def write(self, line: Line, number: int, shard: Shard, workspace: Workspace) -> pa.RecordBatch:
        record, body = shard_file(self.site, SetShard(self.derive.sets[line[0]], line[1], shard))
        with workspace.create(f"shards/{record.key}") as path:
            path.write_bytes(body)
        return _row(line, number, record=packed(record))


def _row(line: Line, number: int, **values: Any) -> pa.RecordBatch:
    row = {"set": line[0], "rank": line[1], "shard": number} | values
    return pa.RecordBatch.from_arrays([pa.array([row.get(each.name)], each.type) for each in MOVED], schema=MOVED)


@dataclass
class _Open:
    """One line's entries of a partition as they come: `entry` is the next one's place in the line."""

    line: Line
    layout: Layout
    partition: int
    entry: int = field(init=False)
    number: int = field(init=False)
    pieces: list[Piece] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.entry = int(self.layout.firsts[self.line][self.partition])
        starts = [cut.entry for cut in self.layout.cuts[self.line]]
        self.number = int(np.searchsorted(starts, self.entry, side="right")) - 1

    def add(self, piece: Piece) -> Iterator[tuple[int, int, list[Piece]]]:
        """Shards, or what of them is in this partition, that are complete now: number, first entry, pieces."""
        while len(piece):
            if self.number >= len(self.layout.cuts[self.line]):
                raise self.changed()
            head, piece = piece.split(min(len(piece), self.end - self.entry))
            if self.entry == self.cut.entry and self.number and f"{int(head.hashes[0]):016x}" != self.cut.key:
                raise self.changed()
            self.pieces.append(head)
            self.entry += len(head)
            if self.entry == self.end:
                yield self.taken()
                self.number += 1

    @property
    def cut(self) -> Cut:
        return self.layout.cuts[self.line][self.number]

    @property
    def end(self) -> int:
        later = self.layout.cuts[self.line][self.number + 1 : self.number + 2]
        return later[0].entry if later else int(self.layout.firsts[self.line][-1])

    def taken(self) -> tuple[int, int, list[Piece]]:
        pieces, self.pieces = self.pieces, []
        return self.number, self.entry - sum(map(len, pieces)), pieces

    def changed(self) -> SourceError:
        return SourceError(
            "A source gave other rows when Spark read it again: run again, from data that stays the same."
        )


@dataclass(frozen=True)
class _Render:
    """Makes the shards within a partition, and rows of the others' parts."""

    writer: ShardWriter
    layout: Layout

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        partition = partition_number()
        opened: dict[Line, _Open] = {}
        with self.writer.opened() as workspace:
            for rows in key_ranges(batches):
                for each in self.writer.derive(rows, {}).pieces:
                    line = (each.set_, each.rank)
                    if line not in opened:
                        opened[line] = _Open(line, self.layout, partition)
                    for taken in opened[line].add(each.piece):
                        yield from self._shard(opened[line], *taken, workspace)
            for open_ in opened.values():
                if open_.entry != int(self.layout.firsts[open_.line][partition + 1]):
                    raise open_.changed()
                if open_.pieces:
                    yield from self._shard(open_, *open_.taken(), workspace)

    def _shard(
        self, open_: _Open, number: int, first: int, pieces: list[Piece], workspace: Workspace
    ) -> Iterator[pa.RecordBatch]:
        cut, end = self.layout.cuts[open_.line][number], open_.end
        if first == cut.entry and open_.entry == end:
            yield self.writer.write(open_.line, number, Shard(cut.key, end - first, tuple(pieces)), workspace)
            return
        for piece in pieces:
            rest = piece
            while len(rest):
                part, rest = rest.split(min(MOVED_ENTRIES, len(rest)))
                moved = {"offsets": part.offsets.astype(np.int64).tobytes(), "data": part.data.tobytes()}
                yield _row(open_.line, number, entry=first, **moved)
                first += len(part)


@dataclass(frozen=True)
class _Join:
    """Makes shards of moved rows, which come sorted by line, shard and entry."""

    writer: ShardWriter
    layout: Layout

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        with self.writer.opened() as workspace:
            for (place, rank, number), of_shard in groupby(rows, lambda row: (row["set"], row["rank"], row["shard"])):
                pieces = tuple(_piece(row) for row in of_shard)
                key = self.layout.cuts[place, rank][number].key
                shard = Shard(key, sum(map(len, pieces)), pieces)
                yield self.writer.write((place, rank), number, shard, workspace)


def _piece(row: dict[str, Any]) -> Piece:
    offsets = np.frombuffer(row["offsets"], np.int64)
    # The hashes have done their work: the cuts are made.
    return Piece(offsets, np.frombuffer(row["data"], np.uint8), np.zeros(len(offsets) - 1, np.uint64))


def make_shards(ordered: DataFrame, partitions: int, writer: ShardWriter, layout: Layout) -> list[RenderedShard]:
    """The records of all shards, which lie in the workspace then, by set, section and loc. partitions: of ordered."""
    from pyspark import StorageLevel
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(MOVED)
    place = ["set", "rank", "shard"]
    made = ordered.mapInArrow(_Render(writer, layout), schema).persist(StorageLevel.DISK_ONLY)
    rows = made.filter("record IS NOT NULL").select(*place, "record").collect()
    conf = ordered.sparkSession.conf
    before = conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(MOVED_AT_ONCE))
    try:
        moved = made.filter("record IS NULL").repartition(partitions, *place)
        joined = moved.sortWithinPartitions(*place, "entry").mapInArrow(_Join(writer, layout), schema)
        rows += joined.select(*place, "record").collect()
    finally:
        conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(before))
    made.unpersist()
    return [unpacked(bytes(row["record"])) for row in sorted(rows, key=_place)]


def _place(row: Any) -> tuple[int, int, int]:
    return row["set"], row["rank"], row["shard"]
