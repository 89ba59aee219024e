"""Sources inside Spark: their rows, read and cleaned by executors, as a DataFrame of entries.

CSV, Parquet and databases are read by this project's own readers, so that rows mean what they mean without Spark: a
CSV file is one task, a query one for each part that its `split` makes, a folder of Parquet files one for each. Tables
of the session's own catalog, and what it reads through JDBC, come as `type: sql` with `conn_id: spark`: Spark runs the
query and splits it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sitemap_ops import inventory
from sitemap_ops.clean import clean, entry_schema
from sitemap_ops.connections import Connections, EnvironmentConnections
from sitemap_ops.errors import SitemapOpsError, SourceError
from sitemap_ops.inventory.chunk import CHUNK_ROWS, Chunk, numbered, positions
from sitemap_ops.inventory.parquet import parquet_files
from sitemap_ops.inventory.plain import plain_cast
from sitemap_ops.inventory.spans import Span
from sitemap_ops.ordering import SECTION, distinct
from sitemap_ops.site import ParquetSource, Section, Site, Source, SqlSource
from sitemap_ops.spark.tally import Tally, packed
from sitemap_ops.steps.rejects import write_rejects
from sitemap_ops.urls import UrlPolicy
from sitemap_ops.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CATALOG = "spark"
"""The connection id that stands for the Spark session's own catalog."""

TALLY = pa.field("tally", pa.binary())
"""Beside the entries: null in each of them, and a part's Tally in one row more, which has no loc."""


def cleaned_schema(site: Site) -> pa.Schema:
    return pa.schema([*entry_schema(site), SECTION, TALLY])


@dataclass(frozen=True)
class Cleaner:
    """Cleans the chunks of one part of a source and leaves its rejects in the workspace."""

    site: Site
    policy: UrlPolicy
    as_of: datetime
    work: str

    def __call__(self, chunks: Iterator[Chunk], rank: int, part: int) -> Iterator[pa.RecordBatch]:
        """The entries, without duplicates within a chunk, and a row with the part's tally."""
        section = self.site.sections[rank]
        schema = cleaned_schema(self.site)
        tally = Tally(rank, part)
        try:
            with Workspace(self.work, EnvironmentConnections(), self.site.aws_conn_id) as workspace:
                for number, chunk in enumerate(chunks):
                    cleaned = clean(chunk, section, self.policy, self.site, self.as_of)
                    of_section = pa.array(np.full(cleaned.entries.num_rows, rank, np.int32))
                    entries = distinct(cleaned.entries.append_column(SECTION, of_section))
                    name = f"{section.name}-{part:06d}-{number:06d}.rejects.csv.gz"
                    tally.add(cleaned, entries, write_rejects(workspace, section, cleaned.rejects, name))
                    rows = entries.append_column(TALLY, pa.nulls(entries.num_rows, TALLY.type))
                    yield from rows.cast(schema).combine_chunks().to_batches()
        except SitemapOpsError as error:
            # Raised here it would reach the driver as Java's trace of Python's trace, after three more attempts.
            tally.error = error
        values = {SECTION.name: [rank], TALLY.name: [packed(tally)]}
        yield pa.RecordBatch.from_arrays(
            [pa.array(values.get(each.name, [None]), each.type) for each in schema], schema=schema
        )


@dataclass(frozen=True)
class _Parts:
    """Reads and cleans the parts whose numbers a task is given. parts: section's rank, source, and what of it."""

    cleaner: Cleaner
    parts: tuple[tuple[int, Source, Span | None], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            rank, source, span = self.parts[number]
            section = self.cleaner.site.sections[rank]
            chunks = inventory.read(
                source, section.columns(), EnvironmentConnections(), urls=section.url_columns, span=span
            )
            yield from self.cleaner(chunks, rank, number)


@dataclass(frozen=True)
class _Query:
    """Cleans what Spark itself reads."""

    cleaner: Cleaner
    rank: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        section = self.cleaner.site.sections[self.rank]
        where = f"the query of section {section.name!r}"
        plain = (_plain(batch, where, section.url_columns) for batch in batches)
        yield from self.cleaner(numbered(plain, CHUNK_ROWS), self.rank, context.partitionId())


def _plain(batch: pa.RecordBatch, where: str, urls: Collection[str]) -> pa.RecordBatch:
    casts = [plain_cast(each, where, urls) for each in batch.schema]
    arrays = [cast(array) for cast, array in zip(casts, batch.columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def cleaned(spark: SparkSession, cleaner: Cleaner, connections: Connections) -> DataFrame:
    """All sections' entries and tallies (`cleaned_schema`). connections: the driver's, to see which files there are."""
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(cleaned_schema(cleaner.site))
    parts: list[tuple[int, Source, Span | None]] = []
    frames: list[DataFrame] = []
    for rank, section in enumerate(cleaner.site.sections):
        source = section.source
        if isinstance(source, SqlSource) and source.conn_id == CATALOG:
            frames.append(_query(spark, section, source).mapInArrow(_Query(cleaner, rank), schema))
        else:
            parts += [(rank, *each) for each in _split(source, connections)]
    if parts:
        numbers = spark.range(0, len(parts), 1, len(parts))
        frames.append(numbers.mapInArrow(_Parts(cleaner, tuple(parts)), schema))
    return reduce(DataFrame.unionAll, frames)


def _split(source: Source, connections: Connections) -> list[tuple[Source, Span | None]]:
    """A source as parts that are read side by side."""
    if not isinstance(source, ParquetSource):
        return [(source, span) for span in inventory.split(source, connections)]
    return [(source.model_copy(update={"path": file}), None) for file in parquet_files(source, connections)]


def _query(spark: SparkSession, section: Section, source: SqlSource) -> DataFrame:
    from pyspark.errors import PySparkException

    where = f"the query of section {section.name!r}"
    try:
        rows = spark.sql(source.query, args=dict(source.params) or None)
        positions(rows.columns, section.columns(), where)
        return rows.select([rows[name] for name in section.columns()])
    except PySparkException as error:
        raise SourceError(f"Spark can't run {where}: {str(error).splitlines()[0]}") from None
