"""Sources: where a section's rows come from. Each kind yields chunks of the columns wanted, in bounded memory.

A source that can't be read to its end raises SourceError; a read cut short is never taken for a complete one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sitemap_ops.errors import UsageError
from sitemap_ops.inventory.chunk import CHUNK_ROWS, Chunk
from sitemap_ops.inventory.csv import read_csv
from sitemap_ops.inventory.parquet import read_parquet
from sitemap_ops.inventory.sitemap import read_sitemap
from sitemap_ops.inventory.spans import Span
from sitemap_ops.inventory.sql import read_sql, split_sql

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections
    from sitemap_ops.site import Source

READERS: Mapping[str, Callable[[Any, Sequence[str], Connections, int, Collection[str]], Iterator[Chunk]]] = {
    "csv": read_csv,
    "sql": read_sql,
    "parquet": read_parquet,
    "sitemap": read_sitemap,
}


def read(
    source: Source,
    columns: Sequence[str],
    connections: Connections,
    *,
    urls: Collection[str] = (),
    span: Span | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[Chunk]:
    """The wanted columns of a source's rows, in order, at most `chunk_rows` a chunk; never the other columns.

    urls: those of the columns that have to hold URLs or parts of them. span: one of those that `split` gives; None
    reads all rows. Row numbers count from 1 in the order of the source, or of the span. Raises SourceError where the
    source can't be read whole, lacks a column (C-86) or has a structure, list or boolean for a URL, UsageError where
    its settings can't be meant.
    """
    if not columns:
        raise UsageError("No column of the source is used: name at least one in the section.")
    reader = READERS.get(source.type)
    if reader is None:
        raise UsageError(f"Sources of type {source.type!r} can't be read; there are {', '.join(READERS)}.")
    names = list(dict.fromkeys(columns))
    if span is not None and source.type == "sql":
        yield from read_sql(source, names, connections, chunk_rows, urls, span)
    else:
        yield from reader(source, names, connections, chunk_rows, urls)


def split(source: Source, connections: Connections) -> list[Span | None]:
    """The parts in which a source is read, each by itself: a query's by its key where it asks for `split`."""
    return [*split_sql(source, connections)] if source.type == "sql" and source.split > 1 else [None]


__all__ = ["CHUNK_ROWS", "Chunk", "Span", "read", "split"]
