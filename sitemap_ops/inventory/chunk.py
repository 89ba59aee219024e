"""The unit in which sources hand over their rows, and what every source does with columns and batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import frame
from sitemap_ops.errors import ColumnError

CHUNK_ROWS = 131_072
"""Rows a chunk holds at most: one sorts within the processor's cache, and some hundred bytes a row stay small."""

CHUNK_BYTES = 64 << 20
"""Bytes a chunk holds at most, give or take one batch of its source: rows can be of any width."""

REJECT_SCHEMA = pa.schema([("row", pa.int64()), ("value", pa.string()), ("reason", pa.string())])

SHOWN_COLUMNS = 40


def no_rejects() -> pd.DataFrame:
    return frame(REJECT_SCHEMA.empty_table())


@dataclass(frozen=True)
class Chunk:
    """Some consecutive rows of a source.

    rows: Arrow-backed columns under the source's own names; the index holds source row numbers, from 1. Text sources
        give strings only, never null for an empty field of CSV (it is ""); SQL and Parquet keep their types.
    rejects: rows that the reader itself refused: row (int64), value (string, cut), reason (string).
    repaired: how often what of the source's container was repaired since the chunk before, by stable code; what a
        value means is not the reader's to repair.
    """

    rows: pd.DataFrame
    rejects: pd.DataFrame = field(default_factory=no_rejects)
    repaired: Mapping[str, int] = field(default_factory=dict)


def positions(found: Sequence[str], wanted: Iterable[str], where: str, hint: str = "") -> dict[str, int]:
    """Where each wanted column is among those found.

    Raises ColumnError for one that is missing, naming what was found with repr() (C-86), or that is there twice.
    """
    places = {}
    counts = Counter(found)
    for name in wanted:
        if counts[name] > 1:
            raise ColumnError(f"There are {counts[name]} columns named {name!r} in {where}: give each its own name.")
        if not counts[name]:
            raise ColumnError(f"There is no column {name!r} in {where}: {_listing(found)}{hint}.")
        places[name] = found.index(name)
    return places


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:SHOWN_COLUMNS])
    rest = len(names) - SHOWN_COLUMNS
    return f"its columns are {shown}" + (f" and {rest} more" if rest > 0 else "")


def regroup(batches: Iterable[pa.RecordBatch], rows: int, most_bytes: int = CHUNK_BYTES) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of `rows` (the last may be smaller), or, where they are wide, of some `most_bytes`."""
    held: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        rest = batch
        while rest.num_rows:
            piece = rest.slice(0, rows - count)
            rest = rest.slice(piece.num_rows)
            held.append(piece)
            count += piece.num_rows
            size += piece.nbytes
            if count == rows or size >= most_bytes:
                yield _joined(held)
                held, count, size = [], 0, 0
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def numbered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[Chunk]:
    """Chunks of a source that refuses no row itself: numbered from 1 in the order they came."""
    first = 1
    for batch in regroup(batches, rows):
        data = frame(batch)
        data.index = pd.RangeIndex(first, first + len(data))
        first += len(data)
        yield Chunk(data)
