"""A sorted partition as key ranges that `Derive` takes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator

import pyarrow as pa

from sitemap_ops.ordering import RANGE_ROWS


def key_ranges(batches: Iterable[pa.RecordBatch], rows: int = RANGE_ROWS) -> Iterator[pa.Table]:
    """The batches' rows, which come sorted by loc, in tables of about `rows` rows. No loc is in two of them."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count < rows:
            continue
        table = pa.Table.from_batches(held)
        loc = table["loc"].combine_chunks()
        complete = bisect.bisect_left(loc, loc[-1].as_py(), key=lambda scalar: scalar.as_py())
        if complete:
            yield table.slice(0, complete)
        held = table.slice(complete).to_batches()
        count = table.num_rows - complete
    if count:
        yield pa.Table.from_batches(held)
