"""Clusters as XML: the links that each of their entries has, in files sorted by loc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sitemap_ops.columns import from_text_buffers, text_buffers
from sitemap_ops.linking.arrays import changes, column_of
from sitemap_ops.linking.membership import settle
from sitemap_ops.linking.spill import Spill
from sitemap_ops.linking.tally import Tally
from sitemap_ops.render.escape import escape_column

FRAGMENT = pa.schema([("loc", pa.string()), ("alternates", pa.string())])
GROUP_ROWS = 16_384
GROUP_BYTES = 1 << 20
"""What a file gives back at a time: all files are read side by side."""


def write_fragments(
    members: Spill, codes: Sequence[str], folder: Path, tally: Tally
) -> Iterator[tuple[Path, int, int]]:
    """A file (FRAGMENT, by loc) for each part that has entries with links: its path, entries, and bytes of links.

    The links are those of the whole cluster, codes in order and `x-default` last (G-50, G-51); a cluster of a single
    page has none.
    """
    place = np.argsort(sorted(range(len(codes)), key=lambda number: (codes[number] == "x-default", codes[number])))
    starts = pa.array([f'<xhtml:link rel="alternate" hreflang="{code}" href="' for code in codes], pa.large_string())
    for part in range(members.parts):
        settled = _of_several(settle(members.whole(part), tally), tally)
        if settled.num_rows:
            order = np.lexsort((place[column_of(settled, "code")], column_of(settled, "cluster")))
            path = folder / f"alternates-{part:03d}.parquet"
            yield path, *_write(settled.take(pa.array(order)).combine_chunks(), starts, path)


def _of_several(members: pa.Table, tally: Tally) -> pa.Table:
    """The members of clusters of two pages and more, some of them entries."""
    cluster, page = column_of(members, "cluster"), column_of(members, "page")
    order = np.lexsort((page, cluster))
    group = np.cumsum(changes(cluster[order]))
    first = changes(group, page[order])
    pages = np.bincount(group, first)
    alone = np.zeros(len(order), bool)
    alone[order] = pages[group] < 2
    told = order[first]
    told = told[alone[told] & column_of(members, "entry")[told]]
    tally.add("hreflang-alone", np.ones(len(told), np.int64), page[told])
    return members.filter(pa.array(~alone))


def _write(members: pa.Table, starts: pa.Array, path: Path) -> tuple[int, int]:
    cluster, page = column_of(members, "cluster"), column_of(members, "page")
    loc = members["loc"].chunk(0)
    links = pc.binary_join_element_wise(
        starts.take(members["code"].chunk(0)),
        escape_column(loc).cast(pa.large_string()),
        pa.scalar('"/>', pa.large_string()),
        pa.scalar("", pa.large_string()),
    )
    offsets, data = text_buffers(links)
    first = changes(cluster)
    bounds = np.append(offsets[:-1][first], offsets[-1])
    fragments = from_text_buffers(bounds, data)
    number = np.cumsum(first) - 1
    entries = np.flatnonzero(column_of(members, "entry"))
    by_page = entries[np.lexsort((page[entries], number[entries]))]
    entries = by_page[changes(number[by_page], page[by_page])]
    entries = entries[pc.sort_indices(loc.take(pa.array(entries))).to_numpy()]
    sizes = np.diff(bounds)[number[entries]]
    with pq.ParquetWriter(path, FRAGMENT, compression="zstd", use_dictionary=False, write_statistics=False) as file:
        for rows in _groups(entries, sizes):
            columns = [loc.take(pa.array(rows)), fragments.take(pa.array(number[rows])).cast(pa.string())]
            file.write_table(pa.table(columns, schema=FRAGMENT))
    return len(entries), int(sizes.sum())


def _groups(rows: np.ndarray, sizes: np.ndarray) -> Iterator[np.ndarray]:
    """The rows in groups of at most GROUP_ROWS and about GROUP_BYTES."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(rows):
        before = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, before + GROUP_BYTES)) + 1
        end = min(end, start + GROUP_ROWS, len(rows))
        yield rows[start:end]
        start = end
