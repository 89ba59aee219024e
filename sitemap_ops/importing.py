"""`import`: an existing sitemap becomes an inventory file, so that a site can be taken over from another generator."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from pyarrow import parquet

from sitemap_ops.columns import arrow, column
from sitemap_ops.dialects.files import Progress, Sitemaps
from sitemap_ops.dialects.rows import COLUMNS, SCHEMA
from sitemap_ops.entries import parse_changefreq, parse_priority
from sitemap_ops.errors import SourceError, TargetError, UsageError
from sitemap_ops.inventory.chunk import CHUNK_ROWS, regroup
from sitemap_ops.reading.record import safe

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections

WRITTEN_BYTES = 4 << 20
"""What is written at once: values may be of any length."""
PARSERS: Mapping[str, Callable[[pd.Series], pd.DataFrame]] = {
    "changefreq": parse_changefreq,
    "priority": parse_priority,
}


@dataclass(frozen=True)
class Imported:
    """What an import did. urls: rows written. files: read, indexes too. repaired: how often what, by stable code.

    skipped: entries and feed items without a URL, of which there is nothing to write.
    """

    urls: int
    files: int
    repaired: Mapping[str, int]
    skipped: int = 0


def import_sitemap(
    location: str, to: Path, connections: Connections, progress: Progress = lambda what, done, total: None
) -> Imported:
    """Write all entries at a location (see `Sitemaps`) to a CSV or Parquet file, by its name, whole or not at all.

    The file's columns are text: loc and lastmod as they came, changefreq and priority in the protocol's words where
    they have a meaning (P-15), images, videos and alternates as JSON. Raises UsageError for another ending, SourceError
    where not everything can be read or there is no entry, TargetError where the file can't be written.
    """
    if to.suffix.lower() not in WRITERS:
        raise UsageError(f"--to {str(to)!r} is no CSV or Parquet file: let its name end in .csv or .parquet.")
    sitemaps = Sitemaps(location, connections, progress=progress)
    rows = skipped = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows, skipped
        for batch in regroup(sitemaps.batches(), CHUNK_ROWS, WRITTEN_BYTES):
            found = batch.filter(pc.fill_null(pc.not_equal(batch["loc"], ""), False))
            rows += found.num_rows
            skipped += batch.num_rows - found.num_rows
            yield _in_protocol_words(found, sitemaps.repairs)
        if not rows:
            raise SourceError(f"There is no URL in {safe(location)}: nothing was imported.")

    part = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        WRITERS[to.suffix.lower()](counted(), part)
        part.replace(to)
    except OSError as error:
        raise TargetError(f"{to} can't be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
    repaired = {code: count for code, count in sorted(sitemaps.repairs.items()) if count}
    return Imported(rows, sitemaps.files, repaired, skipped)


def _in_protocol_words(batch: pa.RecordBatch, repairs: Counter[str]) -> pa.RecordBatch:
    """changefreq and priority as they have to be, or as they came where that can't be told."""
    for name, parse in PARSERS.items():
        came = batch[name]
        parsed = parse(column(came))
        meant, note = arrow(parsed[name]), arrow(parsed["note"])
        for code in pc.value_counts(note.filter(meant.is_valid())).to_pylist():
            if code["values"] is not None:
                repairs[code["values"]] += code["counts"]
        batch = batch.set_column(batch.schema.get_field_index(name), name, pc.coalesce(meant, came))
    return batch


def _write_csv(batches: Iterator[pa.RecordBatch], path: Path) -> None:
    with path.open("wb") as file:
        file.write(",".join(COLUMNS).encode() + b"\n")
        with pyarrow.csv.CSVWriter(
            file, SCHEMA, write_options=pyarrow.csv.WriteOptions(include_header=False)
        ) as writer:
            for batch in batches:
                writer.write_batch(batch)


def _write_parquet(batches: Iterator[pa.RecordBatch], path: Path) -> None:
    with parquet.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


WRITERS = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
