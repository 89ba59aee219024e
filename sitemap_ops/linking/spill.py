"""Rows on disk by a hash, to be read back part by part: how more than memory holds is joined and grouped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import pyarrow as pa

from sitemap_ops.linking.arrays import column_of

FLUSH_BYTES = 32 << 20
"""Rows that wait in memory before they are written."""

PIECE_ROWS = 1 << 20
"""Rows read back at once: a part may be of any size, as one page can be named by all others."""


class Spill(AbstractContextManager["Spill"]):
    """Rows of a schema, divided by their key: a column of well-mixed uint64.

    First all is added, then parts are read, each as often as needed. Rows with equal keys are in the same part.
    """

    def __init__(self, schema: pa.Schema, key: str, folder: Path, parts: int) -> None:
        """parts: a power of two. What does not fit into memory is one file in the folder, gone with this object."""
        self.schema, self.key, self.parts = schema, key, parts
        self.rows = 0
        self._folder = folder
        self._held: list[pa.Table] = []
        self._held_bytes = 0
        self._path: Path | None = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._reader: pa.ipc.RecordBatchFileReader | None = None
        self._batches: list[list[int]] = [[] for _ in range(parts)]
        self._written = 0

    def __exit__(self, *_: object) -> None:
        self._close_writer()
        self._held, self._reader = [], None
        if self._path:
            self._path.unlink(missing_ok=True)

    def add(self, rows: pa.Table) -> None:
        """rows: has the schema's columns."""
        if not rows.num_rows:
            return
        self.rows += rows.num_rows
        self._held.append(rows.select(self.schema.names).cast(self.schema))
        self._held_bytes += rows.nbytes
        if self._held_bytes >= FLUSH_BYTES:
            self._flush()

    def pieces(self, part: int) -> Iterator[pa.Table]:
        """A part's rows, about PIECE_ROWS at a time."""
        taken: list[pa.Table] = []
        count = 0
        for table in self._tables(part):
            taken.append(table)
            count += table.num_rows
            if count >= PIECE_ROWS:
                yield pa.concat_tables(taken).combine_chunks()
                taken, count = [], 0
        if taken:
            yield pa.concat_tables(taken).combine_chunks()

    def whole(self, part: int) -> pa.Table:
        """All rows of a part: for those that are known to be small."""
        tables = list(self._tables(part))
        return pa.concat_tables(tables).combine_chunks() if tables else self.schema.empty_table()

    def _tables(self, part: int) -> Iterator[pa.Table]:
        if self._path and self._held:
            self._flush()  # each later read of a part would divide what is still held once more
        self._close_writer()
        if self._path and self._reader is None:
            self._reader = pa.ipc.open_file(pa.OSFile(str(self._path), "rb"))
        if self._reader is not None:
            for number in self._batches[part]:
                yield pa.Table.from_batches([self._reader.get_batch(number)])
        for table in self._held:
            yield table.filter(pa.array(self._part_of(table) == part)) if self.parts > 1 else table

    def _flush(self) -> None:
        table = pa.concat_tables(self._held).combine_chunks()
        self._held, self._held_bytes = [], 0
        part = self._part_of(table)
        order = np.argsort(part, kind="stable")
        table = table.take(pa.array(order)).combine_chunks()
        bounds = np.searchsorted(part[order], np.arange(self.parts + 1))
        if self._writer is None:
            with NamedTemporaryFile(dir=self._folder, prefix=".spill-", delete=False) as file:
                self._path = Path(file.name)
            self._writer = pa.ipc.new_file(pa.OSFile(str(self._path), "wb"), self.schema)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            piece = table.slice(bounds[number], bounds[number + 1] - bounds[number])
            self._writer.write_batch(piece.to_batches()[0])
            self._batches[number].append(self._written)
            self._written += 1

    def _part_of(self, table: pa.Table) -> np.ndarray:
        # The low bits: a cluster's label is the least of several hashes, so that its high ones are seldom set.
        part: np.ndarray = (column_of(table, self.key) & np.uint64(self.parts - 1)).astype(np.uint16)
        return part

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
