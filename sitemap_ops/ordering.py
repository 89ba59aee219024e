"""Global order and the removal of duplicates, beyond memory.

Cleaned entries are written as sorted runs, one for each chunk of a source, already without duplicates among themselves.
Reading them back goes by key range: the runs' row groups say what lies where, each range takes its slice of every run,
sorts it (the slices are sorted already, which makes that cheap) and removes what is still double. A range fits into the
processor's cache and ranges don't depend on each other, so they are worked on side by side.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sitemap_ops.columns import frame, text_buffers
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

ROW_GROUP = 16_384
"""Rows a run gives back at a time: what each run keeps in memory while ranges are taken from it."""

RANGE_ROWS = 131_072

SORT_ROWS = 16_384
"""Strings sorted at a time: their bytes stay in the processor's cache, which saves a third of the time."""


def distinct(entries: pa.Table, *, of_runs: bool = False) -> pa.Table:
    """The entries sorted by loc, one for each. `of_runs`: they are sorted runs, one after the other.

    entries: ENTRY_SCHEMA, `section` (int32), and what else a site's entries carry. Which one survives does not depend
    on the input's order (DESIGN 5): the earliest section, then the newest lastmod (none is last), then the smallest by
    rendered bytes.
    """
    entries = entries.combine_chunks()
    if not entries.num_rows:
        return entries
    loc = entries["loc"].chunk(0)
    order = (pc.sort_indices(loc) if of_runs else _sort_by_blocks(loc)).to_numpy()
    again = _equal_the_one_before(loc, order)
    if again.any():
        places = np.flatnonzero(again | np.append(again[1:], False))
        lost = _lost(entries.take(pa.array(order[places])), np.cumsum(~again[places]))
        order = np.delete(order, places[lost])
    return entries.take(pa.array(order))


def _sort_by_blocks(loc: pa.Array) -> pa.Array:
    """As `sort_indices`: blocks that fit the cache first, then all; what is sorted in part merges fast."""
    blocks = [pc.sort_indices(loc.slice(start, SORT_ROWS)) for start in range(0, len(loc), SORT_ROWS)]
    order = pa.concat_arrays([pc.add(block, number * SORT_ROWS) for number, block in enumerate(blocks)])
    return order.take(pc.sort_indices(loc.take(order)))


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
    smallest: dict[int, tuple[bytes, int]] = {}
    rendered = _rendered(entries.take(pa.array(order[tied])))
    for number, contender in zip(group[tied].tolist(), zip(rendered, order[tied].tolist(), strict=True), strict=True):
        smallest[number] = min(smallest.get(number, contender), contender)
    for number, (_, row) in smallest.items():
        survivors[number] = row
    lost = np.ones(len(groups), bool)
    lost[survivors] = False
    return lost


def _differ(values: np.ndarray) -> np.ndarray:
    """Whether each value is another than the one before it; the first is."""
    return np.append(True, values[1:] != values[:-1])


def _rendered(entries: pa.Table) -> list[bytes]:
    rows = frame(entries)
    offsets, data = render_entries(rows, [name for name in EXTENSIONS if name in rows])
    text = data.tobytes()
    return [text[start:end] for start, end in pairwise(offsets)]


def write_run(entries: pa.Table, path: Path) -> None:
    """A sorted run as Parquet, its row groups' smallest and largest loc in the footer."""
    pq.write_table(
        entries,
        path,
        row_group_size=ROW_GROUP,
        compression="none",
        use_dictionary=["changefreq", "priority"],
        write_statistics=["loc"],
        store_schema=False,
    )


@dataclass
class _SortedFile:
    """A Parquet file sorted by its column `loc`, that is being read from the smallest to the largest."""

    file: pq.ParquetFile
    next_group: int = 0
    rest: pa.Table | None = field(default=None, repr=False)

    def take_below(self, bound: str | None) -> Iterator[pa.Table]:
        """The rows not yet taken whose loc is less than the bound (all of them for None)."""
        while True:
            if self.rest is None:
                if self.next_group == self.file.num_row_groups:
                    return
                self.rest = self.file.read_row_group(self.next_group, use_threads=False)
                self.next_group += 1
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
        files = [(_SortedFile(opened.enter_context(pq.ParquetFile(path))), section) for section, path in runs]
        beside = [_SortedFile(opened.enter_context(pq.ParquetFile(path))) for path in sides]
        for bound in [*_bounds([run.file for run, _ in files], rows), None]:
            pieces = [
                piece.append_column(SECTION, pa.array(np.full(piece.num_rows, section, np.int32)))
                for run, section in files
                for piece in run.take_below(bound)
            ]
            aside = tuple(_whole(side, bound) for side in beside)
            if pieces:
                yield KeyRange(pa.concat_tables(pieces), aside)


def _whole(side: _SortedFile, bound: str | None) -> pa.Table:
    pieces = list(side.take_below(bound))
    return pa.concat_tables(pieces) if pieces else side.file.schema_arrow.empty_table()


def _bounds(files: Sequence[pq.ParquetFile], rows: int) -> list[str]:
    """Locs between which about `rows` rows lie, from the row groups' statistics."""
    groups = sorted(
        (group.column(0).statistics.min, group.num_rows)
        for file in files
        for group in (file.metadata.row_group(index) for index in range(file.num_row_groups))
        if group.num_rows
    )
    bounds: list[str] = []
    filled = 0
    for smallest, count in groups:
        if filled >= rows and (not bounds or smallest > bounds[-1]):
            bounds.append(smallest)
            filled = 0
        filled += count
    return bounds
