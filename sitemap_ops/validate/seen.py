"""Which URLs of a set were there before: 64-bit hashes in sorted runs, those that grow large in files (P-53)."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sitemap_ops.reading.column import Column

IN_MEMORY = 8_388_608
"""Hashes of one run that stay in memory: 64 MiB."""


@dataclass(frozen=True)
class Listed:
    """The URLs of a batch, small enough to be kept until their turn: what tells them apart, and themselves, packed."""

    hashes: np.ndarray
    line: np.ndarray
    packed: pa.Buffer

    @classmethod
    def of(cls, column: Column) -> Listed:
        return cls(hashed(column.text), column.line, _pack(column.text))

    def text(self) -> pa.Array:
        with pa.ipc.open_stream(self.packed) as stream:
            return stream.read_all().column(0).combine_chunks()


def hashed(text: pa.Array) -> np.ndarray:
    """A 64-bit hash of each value (int64), the same for equal values within this process."""
    return np.fromiter(map(hash, text.to_pylist()), np.int64, len(text))


def _pack(text: pa.Array) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays([text], ["loc"])
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


class Seen:
    """A growing set of hashes. Runs double in size as they merge, so that each hash is sorted few times."""

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def add(self, hashes: np.ndarray) -> np.ndarray:
        """Add a batch; returns which of it (bool) were in it or in an earlier one before."""
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        again = np.zeros(len(hashes), bool)
        again[1:] = ordered[1:] == ordered[:-1]
        again |= self.holds(ordered)
        self._push(ordered[~again])
        repeated = np.zeros(len(hashes), bool)
        repeated[order] = again
        return repeated

    def holds(self, hashes: np.ndarray) -> np.ndarray:
        """Which of the hashes (bool) are in it."""
        held = np.zeros(len(hashes), bool)
        for run in self._runs:
            at = np.searchsorted(run, hashes)
            at[at == len(run)] = 0
            held |= run[at] == hashes
        return held

    def _push(self, run: np.ndarray) -> None:
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) <= len(run) < IN_MEMORY:
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(_spilled(run) if len(run) >= IN_MEMORY else run)


def _spilled(run: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        spilled = np.memmap(file, np.int64, "w+", shape=run.shape)
    spilled[:] = run
    return spilled
