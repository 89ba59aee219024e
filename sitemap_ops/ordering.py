"""Global order and the removal of duplicates, beyond memory.

Cleaned entries are written as sorted runs, one for each chunk of a source, already without duplicates among themselves.
Reading them back goes by key range: a run names its loc at every so many rows, each range takes its slice of every run,
sorts it (the slices are sorted already, which makes that cheap) and removes what is still double. A range fits into the
processor's cache and ranges don't depend on each other, so they are worked on side by side.

A run is an Arrow file: written and read back it costs a quarter of what Parquet does, and small batches cost nothing.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sitemap_ops.columns import frame, from_text_buffers, text_buffers
from sitemap_ops.render.xml import EXTENSIONS, render_entries

ENTRY_SCHEMA = pa.schema(
    [
        ("loc", pa.string()),
        ("lastmod", pa.string()),
        ("instant", pa.int64()),
        ("changefreq", pa.string()),
        ("priority", pa.string()),
    ]
)
"""An entry between cleaning and rendering; `instant` is lastmod in seconds since the epoch, null without one."""

SECTION = pa.field("section", pa.int32())
"""A section's place in the site file; added when sections meet."""

BATCH_ROWS = 4_096
"""Rows a run gives back at a time: what each of all runs keeps in memory while ranges are taken from them."""

FEW_VALUES = ("changefreq", "priority")
"""Columns that are dictionaries from the first sort on."""

MARK_ROWS = 512
_MARKS = b"marks"
"""Under this key a run's schema has its marks, by which key ranges are cut, as JSON."""

RANGE_ROWS = 131_072
WIDE_RANGE_ROWS = 16_384
"""Where entries carry extensions: links to 30 languages make a row 50 times as wide."""


def distinct(entries: pa.Table) -> pa.Table:
    """The entries sorted by loc, one for each.

    entries: ENTRY_SCHEMA, `section` (int32), and what else a site's entries carry. Which one survives does not depend
    on the input's order (DESIGN 5): the earliest section, then the newest lastmod (none is last), then the smallest by
    rendered bytes. FEW_VALUES come back as dictionaries.
    """
    entries = _with_dictionaries(entries.combine_chunks())
    if not entries.num_rows:
        return entries
    loc = entries["loc"].chunk(0)
    order = pc.sort_indices(loc).to_numpy()
    again = _equal_the_one_before(loc, order)
    if again.any():
        places = np.flatnonzero(again | np.append(again[1:], False))
        lost = _lost(entries.take(pa.array(order[places])), np.cumsum(~again[places]))
        order = np.delete(order, places[lost])
    # Column by column: a table's own take looks for each row's chunk first, which costs as much again.
    rows = pa.array(order)
    return pa.table([column.chunk(0).take(rows) for column in entries.columns], schema=entries.schema)


def _with_dictionaries(entries: pa.Table) -> pa.Table:
    for name in FEW_VALUES:
        entries = entries.set_column(entries.schema.get_field_index(name), name, pc.dictionary_encode(entries[name]))
    return entries


def _equal_the_one_before(strings: pa.Array, order: np.ndarray) -> np.ndarray:
    """Whether each string, in this order, equals the one before it. Only those of the same length are looked at."""
    offsets, _ = text_buffers(strings)
    lengths = np.diff(offsets)[order]
    near = np.flatnonzero(lengths[1:] == lengths[:-1]) + 1
    equal = pc.equal(strings.take(pa.array(order[near])), strings.take(pa.array(order[near - 1])))
    again = np.zeros(len(order), bool)
    again[near] = equal.to_numpy(zero_copy_only=False)
    return again


def _lost(entries: pa.Table, groups: np.ndarray) -> np.ndarray:
    """Whether each entry gives way to another of its group, by the rule of `distinct`. groups: ascending numbers."""
    section = entries[SECTION.name].to_numpy()
    instant = entries["instant"].combine_chunks().cast(pa.float64()).fill_null(-np.inf).to_numpy()
    order = np.lexsort((-instant, section, groups))
    first = _differ(groups[order])
    heads, group = np.flatnonzero(first), np.cumsum(first) - 1
    survivors = order[heads]
    rank = np.cumsum(first | _differ(section[order]) | _differ(instant[order]))
    contends = rank == rank[heads][group]
    tied = np.flatnonzero(contends & (np.bincount(group[contends])[group] > 1))
    if len(tied):
        smallest = np.empty(len(tied), np.int64)
        smallest[pc.sort_indices(_rendered(entries.take(pa.array(order[tied])))).to_numpy()] = np.arange(len(tied))
        best = tied[np.lexsort((smallest, group[tied]))]
        best = best[_differ(group[best])]
        survivors[group[best]] = order[best]
    lost = np.ones(len(groups), bool)
    lost[survivors] = False
    return lost


def _differ(values: np.ndarray) -> np.ndarray:
    """Whether each value is another than the one before it; the first is."""
    return np.append(True, values[1:] != values[:-1])


def _rendered(entries: pa.Table) -> pa.Array:
    """Each entry's bytes as they would stand in a file, for comparison."""
    rows = frame(entries)
    return from_text_buffers(*render_entries(rows, [name for name in EXTENSIONS if name in rows])).cast(pa.binary())


def write_run(entries: pa.Table, path: Path) -> None:
    """Entries as `distinct` gives them, as a run."""
    schema = entries.schema.with_metadata({_MARKS: json.dumps(_marks(entries["loc"]))})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in entries.to_batches(BATCH_ROWS):
            writer.write_batch(batch)


def _marks(locs: pa.ChunkedArray) -> list[tuple[str, int]]:
    """Some of a run's locs, each with the number of rows from it to the next.

    The second is somewhere within MARK_ROWS: runs are much alike, and if all had marks at the same locs, key ranges
    could be cut only there.
    """
    if not len(locs):
        return []
    second = 1 + crc32(locs[0].as_buffer()) % MARK_ROWS
    places = np.array([0, *range(second, len(locs), MARK_ROWS), len(locs)])
    return list(zip(locs.take(pa.array(places[:-1])).to_pylist(), np.diff(places).tolist(), strict=True))


def run_locs(path: Path) -> Iterator[pa.Array]:
    """The locs of a run, batch by batch."""
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)["loc"]


@dataclass
class _Sorted:
    """Tables sorted by their column `loc`, one after the other, that are taken from the smallest loc to the largest."""

    tables: Iterator[pa.Table]
    rest: pa.Table | None = field(default=None, repr=False)

    def take_below(self, bound: str | None) -> Iterator[pa.Table]:
        """The rows not yet taken whose loc is less than the bound (all of them for None)."""
        while True:
            if self.rest is None:
                self.rest = next(self.tables, None)
                if self.rest is None:
                    return
            if not self.rest.num_rows:
                self.rest = None
                continue
            loc = self.rest["loc"].chunk(0)
            if bound is None or loc[-1].as_py() < bound:
                yield self.rest
                self.rest = None
                continue
            count = bisect.bisect_left(loc, bound, key=lambda scalar: scalar.as_py())
            if count:
                yield self.rest.slice(0, count)
                self.rest = self.rest.slice(count)
            return


@dataclass(frozen=True)
class KeyRange:
    """All rows of one range of locs.

    rows: the runs' columns and `section`, each run's slice sorted by loc. sides: of each side file its rows in it.
    """

    rows: pa.Table
    sides: tuple[pa.Table, ...]


def key_ranges(
    runs: Sequence[tuple[int, Path]], rows: int = RANGE_ROWS, sides: Sequence[Path] = ()
) -> Iterator[KeyRange]:
    """The runs' rows by key range, the ranges ascending and apart, about `rows` rows each.

    runs: (section, path) of files of `write_run`. No loc is in two ranges, so `distinct` over each is distinct overall.
    sides: Parquet files sorted by their column `loc`, whose rows go with the range that they fall into.
    """
    with ExitStack() as opened:
        readers = [pa.ipc.open_file(opened.enter_context(pa.OSFile(str(path)))) for _, path in runs]
        sorted_runs = [(_Sorted(_tables(reader)), section) for reader, (section, _) in zip(readers, runs, strict=True)]
        files = [opened.enter_context(pq.ParquetFile(path)) for path in sides]
        beside = [(_Sorted(_row_groups(file)), file.schema_arrow) for file in files]
        for bound in [*_bounds([reader.schema for reader in readers], rows), None]:
            pieces = [
                piece.append_column(SECTION, pa.array(np.full(piece.num_rows, section, np.int32)))
                for run, section in sorted_runs
                for piece in run.take_below(bound)
            ]
            aside = tuple(_whole(side.take_below(bound), schema) for side, schema in beside)
            if pieces:
                yield KeyRange(pa.concat_tables(pieces), aside)


def _whole(pieces: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    tables = list(pieces)
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _tables(reader: pa.RecordBatchFileReader) -> Iterator[pa.Table]:
    for number in range(reader.num_record_batches):
        yield pa.Table.from_batches([reader.get_batch(number)]).replace_schema_metadata()


def _row_groups(file: pq.ParquetFile) -> Iterator[pa.Table]:
    for number in range(file.num_row_groups):
        yield file.read_row_group(number, use_threads=False)


def _bounds(runs: Sequence[pa.Schema], rows: int) -> list[str]:
    """Locs between which about `rows` rows lie, from the runs' marks."""
    bounds: list[str] = []
    filled = 0
    for loc, count in sorted(tuple(mark) for run in runs for mark in json.loads(run.metadata[_MARKS])):
        if filled >= rows and (not bounds or loc > bounds[-1]):
            bounds.append(loc)
            filled = 0
        filled += count
    return bounds
