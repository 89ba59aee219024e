"""The first pass over the ordered entries: what the driver has to know of each partition to find all cuts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sitemap_ops.filesets import FileSet
from sitemap_ops.spark.cuts import FACTOR, Cut, Part, Unproven, candidates, cuts, threshold_of
from sitemap_ops.spark.ranges import key_ranges
from sitemap_ops.spark.tally import packed, unpacked
from sitemap_ops.steps.derive import Derive
from sitemap_ops.steps.shards import room

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Line = tuple[int, int]
"""A file set (its place) and a section (its rank): what is cut into shards by itself."""

NOTHING = Part(0, 0, 1.0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))

RESULT = pa.schema([("result", pa.binary())])


@dataclass
class Measured:
    """A partition (by its number): survivors by section's rank, kept_out by set's place, and each line's part."""

    partition: int
    entries: Counter[int] = field(default_factory=Counter)
    kept_out: list[Counter[str]] = field(default_factory=list)
    parts: dict[Line, Part] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """Where every line is cut, and where in it each partition begins.

    cuts: a line's shards' beginnings. firsts: entries of a line before each partition, and at the end all of them.
    """

    cuts: Mapping[Line, Sequence[Cut]]
    firsts: Mapping[Line, np.ndarray]


def partition_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


@dataclass(frozen=True)
class _Measure:
    """factors: by partition's number, how many times as many candidates it is asked for."""

    derive: Derive
    factors: Mapping[int, float]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sets = self.derive.sets
        number = partition_number()
        measured = Measured(number, kept_out=[Counter() for _ in sets])
        hashes: dict[Line, list[np.ndarray]] = defaultdict(list)
        lengths: dict[Line, list[np.ndarray]] = defaultdict(list)
        for rows in key_ranges(batches):
            derived = self.derive(rows, {})
            measured.entries.update(derived.entries)
            for total, of_range in zip(measured.kept_out, derived.kept_out, strict=True):
                total.update(of_range)
            for each in derived.pieces:
                hashes[each.set_, each.rank].append(each.piece.hashes)
                lengths[each.set_, each.rank].append(np.diff(each.piece.offsets))
        for line in hashes:
            of_line, long = np.concatenate(hashes[line]), np.concatenate(lengths[line])
            threshold = threshold_of(len(of_line), int(long.sum()), *limits(sets[line[0]]))
            measured.parts[line] = candidates(of_line, long, threshold * self.factors.get(number, 1.0))
        yield pa.RecordBatch.from_arrays([pa.array([packed(measured)], pa.binary())], schema=RESULT)


def limits(fileset: FileSet) -> tuple[int, int]:
    """What a shard of the set may hold: entries, and their bytes."""
    return fileset.limits.max_urls, room(fileset)


def measure(ordered: DataFrame, derive: Derive, sections: int) -> tuple[list[Measured], Layout]:
    """What each partition holds, in their order, and where all lines are cut.

    ordered: entries, sorted by loc within partitions that are ranges of locs in the order of their numbers.
    """
    from pyspark.sql.functions import spark_partition_id

    measured = {each.partition: each for each in _asked(ordered, derive, {})}
    factors: dict[int, float] = {}
    while True:
        partitions = [measured[number] for number in sorted(measured)]
        try:
            return partitions, _layout(partitions, derive.sets, sections)
        except Unproven as unproven:
            again = [each.partition for each in partitions[unproven.first : unproven.last]]
        for number in again:
            factors[number] = factors.get(number, 1.0) * FACTOR
        region = ordered.filter(spark_partition_id().isin(again))
        measured |= {each.partition: each for each in _asked(region, derive, factors) if each.partition in again}


def _asked(ordered: DataFrame, derive: Derive, factors: Mapping[int, float]) -> list[Measured]:
    rows = ordered.mapInArrow(_Measure(derive, factors), "result binary").collect()
    return [unpacked(bytes(row["result"])) for row in rows]


def _layout(partitions: Sequence[Measured], sets: Sequence[FileSet], sections: int) -> Layout:
    found: dict[Line, Sequence[Cut]] = {}
    firsts: dict[Line, np.ndarray] = {}
    for line in ((place, rank) for place in range(len(sets)) for rank in range(sections)):
        parts = [each.parts.get(line, NOTHING) for each in partitions]
        found[line] = cuts(parts, *limits(sets[line[0]]))
        firsts[line] = np.concatenate([[0], np.cumsum([part.entries for part in parts], dtype=np.int64)])
    return Layout(found, firsts)
