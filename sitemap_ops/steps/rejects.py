"""The rows that became no entries: a file of each chunk in the workspace, and one file of them all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sitemap_ops.inventory.chunk import REJECT_SCHEMA
from sitemap_ops.render.gzip import compress
from sitemap_ops.site import Section
from sitemap_ops.workspace import Workspace

REJECTS = "rejects.csv.gz"
_SCHEMA = pa.schema([("section", pa.string()), *REJECT_SCHEMA])
_HEADER = b"section,row,value,reason\n"
_NO_HEADER = pa.csv.WriteOptions(include_header=False)


def by_reason(rejects: pa.Table) -> dict[str, int]:
    return {str(item["values"]): item["counts"] for item in rejects["reason"].value_counts().to_pylist()}


def write_rejects(workspace: Workspace, section: Section, rejects: pa.Table, name: str) -> str | None:
    """Leave a section's rejects (REJECT_SCHEMA) in a file of the workspace; None where there are none."""
    if not rejects.num_rows:
        return None
    named = rejects.add_column(0, "section", pa.array([section.name] * rejects.num_rows))
    with workspace.create(name) as path, pa.CompressedOutputStream(str(path), "gzip") as out:
        pa.csv.write_csv(named, out, _NO_HEADER)
    return name


def collect_rejects(files: Iterable[tuple[int, str]], workspace: Workspace) -> None:
    """One file of all rejects; gzip members one after the other are one gzip file to every reader.

    files: of `write_rejects`, each with how many rows of its section were read in the parts before its own.
    """
    with workspace.create(REJECTS) as path, path.open("wb") as out:
        out.write(compress(_HEADER))
        for rows_before, name in files:
            _append(workspace.fetch(name), rows_before, out)


def _append(path: Path, rows_before: int, out: BinaryIO) -> None:
    if not rows_before:
        with path.open("rb") as source:
            shutil.copyfileobj(source, out)
        return
    rejects = pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(column_names=_SCHEMA.names),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=_SCHEMA, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    sink = pa.BufferOutputStream()
    place = _SCHEMA.get_field_index("row")
    pa.csv.write_csv(rejects.set_column(place, "row", pc.add(rejects["row"], rows_before)), sink, _NO_HEADER)
    out.write(compress(sink.getvalue().to_pybytes()))
