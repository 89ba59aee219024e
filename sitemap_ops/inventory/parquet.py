"""Parquet: a file, a folder of them or a glob, here or on S3; only the wanted columns are read, a few MB at a time.

Files are read in the order of their paths. Names that begin with `_` or `.` are what writers leave beside their data
(`_SUCCESS`, `.crc`), and are no part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.chunk import Chunk, numbered, positions
from sitemap_ops.inventory.files import S3_SCHEME, open_seekable, reading, s3_place
from sitemap_ops.inventory.plain import plain_cast

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections
    from sitemap_ops.site import ParquetSource

BUFFER_BYTES = 8 << 20
"""What is read of a column at once; with it a row group of any size needs little memory."""

WILDCARDS = "*?["


def read_parquet(
    source: ParquetSource, columns: Sequence[str], connections: Connections, chunk_rows: int, urls: Collection[str] = ()
) -> Iterator[Chunk]:
    """The wanted columns of all files, in plain types (see `plain`), which have to be the same in every file.

    Raises SourceError where there is no file, one can't be read whole, or a column is missing or has no plain type.
    """
    files = parquet_files(source, connections)
    yield from numbered(_batches(files, columns, source, connections, chunk_rows, urls), chunk_rows)


def parquet_files(source: ParquetSource, connections: Connections) -> list[str]:
    """The files of a source, in the order in which they are read. Raises SourceError where there is none."""
    with reading(source.path):
        files = _files(source, connections)
    if not files:
        raise SourceError(f"There is no Parquet file at {source.path}: put it there, or correct the path.")
    return files


def _files(source: ParquetSource, connections: Connections) -> list[str]:
    if source.path.startswith(S3_SCHEME):
        bucket, key = s3_place(source.path)
        pages = connections.s3(source.aws_conn_id).get_paginator("list_objects_v2")
        listed = pages.paginate(Bucket=bucket, Prefix=_before_wildcards(key))
        found = [item["Key"] for page in listed for item in page.get("Contents", ())]
        return [f"{S3_SCHEME}{bucket}/{name}" for name in sorted(found) if _belongs(name, key)]
    path = Path(source.path)
    if path.is_file():
        return [str(path)]
    base = path if path.is_dir() else Path(_before_wildcards(source.path) + "_").parent
    pattern = "**/*" if path.is_dir() else str(path.relative_to(base))
    return sorted(str(file) for file in base.glob(pattern) if file.is_file() and _is_data(str(file.relative_to(base))))


def _before_wildcards(path: str) -> str:
    return path[: min((path.index(mark) for mark in WILDCARDS if mark in path), default=len(path))]


def _belongs(name: str, key: str) -> bool:
    """Whether an object is the one asked for, below it as a folder, or of the glob, whose `*` stops at a slash."""
    if name.endswith("/"):  # an empty object that stands for a folder
        return False
    if name == key:
        return True
    if any(mark in key for mark in WILDCARDS):
        folder = _before_wildcards(key).rpartition("/")[0]
        return PurePosixPath("/", name).match("/" + key) and _is_data(name.removeprefix(folder))
    folder = key.rstrip("/") + "/" if key else ""
    return name.startswith(folder) and _is_data(name.removeprefix(folder))


def _is_data(relative: str) -> bool:
    return not any(part.startswith(("_", ".")) for part in relative.split("/"))


def _batches(
    files: Sequence[str],
    columns: Sequence[str],
    source: ParquetSource,
    connections: Connections,
    chunk_rows: int,
    urls: Collection[str],
) -> Iterator[pa.RecordBatch]:
    schema: pa.Schema | None = None
    for file in files:
        for batch in _file_batches(file, columns, source, connections, chunk_rows, urls):
            schema = schema or batch.schema
            if batch.schema != schema:
                raise SourceError(
                    f"The columns of {file} are {_types(batch)}, and were {_types(schema)} in {files[0]}."
                )
            yield batch


def _types(columns: pa.RecordBatch | pa.Schema) -> str:
    schema = columns if isinstance(columns, pa.Schema) else columns.schema
    return ", ".join(f"{field.name!r} {field.type}" for field in schema)


def _file_batches(
    file: str,
    columns: Sequence[str],
    source: ParquetSource,
    connections: Connections,
    chunk_rows: int,
    urls: Collection[str],
) -> Iterator[pa.RecordBatch]:
    with open_seekable(file, connections, source.aws_conn_id) as raw, reading(file):
        try:
            opened = parquet.ParquetFile(
                raw, buffer_size=BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
            )
            schema = opened.schema_arrow
            places = positions(schema.names, columns, file)
            casts = {name: plain_cast(schema.field(place), file, urls) for name, place in places.items()}
            for batch in opened.iter_batches(chunk_rows, columns=list(columns)):
                arrays = [cast(batch.column(name)) for name, cast in casts.items()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(casts))
        except pa.ArrowException as error:
            raise SourceError(f"{file} can't be read as Parquet: {error}") from None
