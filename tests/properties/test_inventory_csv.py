"""CSV: whatever cells are written, the same cells are read, or the row is refused with its number."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_ops.inventory import csv as csv_source
from sitemap_ops.inventory import read
from sitemap_ops.site import CsvSource

# NUL is refused (see `text`); a lone carriage return ends a row, and Python's writer leaves it without quotes
CELL = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r"), max_size=12)
HEADER = ["loc", "note", "extra"]


@given(
    rows=st.lists(st.lists(CELL, min_size=1, max_size=5), max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    block=st.integers(200, 600),
    chunk_rows=st.integers(1, 15),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(
    rows: list[list[str]],
    delimiter: str,
    line_end: str,
    quoting: int,
    encoding: str,
    block: int,
    chunk_rows: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C-90: cells come back as the text that they were, rows of another length as rejects, each with its row number."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=line_end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(HEADER)
    writer.writerows(rows)
    monkeypatch.setattr(csv_source, "BLOCK_BYTES", block)
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        Path(file.name).write_bytes(written.getvalue().encode(encoding))
        source = CsvSource(type="csv", path=file.name, encoding=encoding, delimiter=delimiter)
        chunks = list(read(source, HEADER, None, chunk_rows=chunk_rows))  # type: ignore[arg-type]
    found = {number: cells for chunk in chunks for number, *cells in chunk.rows.itertuples(name=None)}
    assert found == {number: row for number, row in enumerate(rows, 1) if len(row) == len(HEADER)}
    refused = [number for chunk in chunks for number in chunk.rejects["row"]]
    assert refused == [number for number, row in enumerate(rows, 1) if len(row) != len(HEADER)]
