"""A column of values with the places they came from, and the few things that rules do with columns of text.

Arrow's own ways from and to NumPy and Python import pandas at first use, which costs 0.4 s and 40 MB: here arrays are
made of buffers and read from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Column:
    """Values of one tag in one batch.

    text: string, never null. line: int64, from 1. entry: int64, the entry within the batch each value belongs to.
    """

    text: pa.Array
    line: np.ndarray
    entry: np.ndarray

    def __len__(self) -> int:
        return len(self.text)

    def where(self, mask: np.ndarray) -> Column:
        """The rows where the mask (bool) is true."""
        return self if mask.all() else Column(take(self.text, mask.nonzero()[0]), self.line[mask], self.entry[mask])

    def matches(self, pattern: str) -> np.ndarray:
        """Whether each value holds the RE2 pattern (bool)."""
        return matches(self.text, pattern)

    def lengths(self) -> np.ndarray:
        """UTF-8 bytes of each value (int64)."""
        return lengths(self.text)


def strings(values: Sequence[str]) -> pa.Array:
    encoded = [value.encode("utf-8", "replace") for value in values]
    edges = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(value) for value in encoded], out=edges[1:])
    return cut(b"".join(encoded), edges)


def cut(data: bytes | np.ndarray, edges: np.ndarray) -> pa.Array:
    """The pieces of UTF-8 between the edges (int32, one more than pieces), as strings; no copy."""
    return pa.Array.from_buffers(pa.string(), len(edges) - 1, [None, pa.py_buffer(edges), pa.py_buffer(data)])


def take(text: pa.Array, rows: np.ndarray) -> pa.Array:
    rows = np.ascontiguousarray(rows, np.int64)
    return text.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)]))


def matches(text: pa.Array, pattern: str) -> np.ndarray:
    """Whether each value holds the RE2 pattern (bool)."""
    if not len(text):
        return np.zeros(0, bool)  # compiling a pattern costs more than a small file
    found = pc.match_substring_regex(text, pattern)
    bits = np.unpackbits(np.frombuffer(found.buffers()[1], np.uint8), bitorder="little")
    return bits[found.offset : found.offset + len(found)].astype(bool)


def lengths(text: pa.Array) -> np.ndarray:
    """UTF-8 bytes of each value (int64)."""
    edges = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    return np.diff(edges).astype(np.int64)


LONG_BYTES = 16_384
"""A URL has 2,047 characters, a description 2,048."""
MAX_LONG_BYTES = 4 * 1_048_576
LONG = "There are megabytes of values that are longer than any of a sitemap; reading stopped there."


def long_bytes(text: pa.Array) -> int:
    """The bytes of those values that are longer than any of a sitemap: a file that has many of them is not read on."""
    size = lengths(text)
    return int(size[size > LONG_BYTES].sum())


def characters(text: pa.Array) -> np.ndarray:
    """Unicode characters of each value (int32)."""
    return np.frombuffer(pc.utf8_length(text).buffers()[1], np.int32)[: len(text)]


def starts(text: pa.Array, size: int) -> np.ndarray:
    """The first bytes of each value, as NumPy bytes of that size; what is missing is zero."""
    edges = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1].astype(np.int64)
    data = np.frombuffer(text.buffers()[2] or b"", np.uint8)
    at = edges[:-1, None] + np.arange(size)
    inside = at < edges[1:, None]
    first = np.zeros(at.shape, np.uint8)
    first[inside] = data[at[inside]]
    return first.view(f"S{size}")[:, 0]


def distinct(text: pa.Array) -> tuple[np.ndarray, list[str]]:
    """Which of the different values each is (int32, -1 for null), and these values."""
    encoded = text.dictionary_encode()
    which = np.frombuffer(encoded.indices.buffers()[1], np.int32)[: len(text)].copy()
    validity = encoded.indices.buffers()[0]
    if validity is not None:
        which[np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[: len(text)] == 0] = -1
    return which, encoded.dictionary.to_pylist()
