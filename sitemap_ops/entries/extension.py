"""What the extensions have in common: notes on rows, and XML fragments that are joined row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.render.escape import escape_column


@dataclass(frozen=True)
class Extension:
    """An extension of a chunk's rows.

    columns: the rows' index; each column (string) has the fragments to publish, null for a row that has none.
    notes: code of `NOTES` -> the positions (int64, ascending, each once) of the rows that it is said of.
    """

    columns: pd.DataFrame
    notes: Mapping[str, np.ndarray]


class Notes:
    """Collects what is said of so many rows; `kind` is the first word of codes that are an extension's own."""

    def __init__(self, kind: str, rows: int) -> None:
        self._kind, self._size = kind, rows
        self._said: dict[str, np.ndarray] = {}

    def add(self, code: str, rows: np.ndarray) -> None:
        """Note positions of rows, in any order; a code without the kind before it."""
        self.add_whole(f"{self._kind}-{code}", rows)

    def add_whole(self, code: str, rows: np.ndarray) -> None:
        """The same under a code that is no kind's own."""
        if rows.size:
            self._said.setdefault(code, np.zeros(self._size, bool))[rows] = True

    def found(self) -> dict[str, np.ndarray]:
        return {code: np.flatnonzero(rows) for code, rows in self._said.items()}


def element(tag: str, texts: pa.Array, attributes: pa.Array | None = None) -> pa.Array:
    """`<tag>text</tag>` of each text, escaped (P-21, C-32); "" where it is null.

    attributes: what stands after the tag's name, blank and escapes included; "" or null for none.
    """
    start: pa.Scalar | pa.Array = pa.scalar(f"<{tag}>")
    if attributes is not None:
        start = joined(f"<{tag}", attributes.fill_null(""), ">")
    return pc.binary_join_element_wise(start, escape_column(texts), f"</{tag}>", "").fill_null("")


def joined(*pieces: pa.Array | str) -> pa.Array:
    """Texts one after the other; null where one is."""
    return pc.binary_join_element_wise(*pieces, "")


def by_row(fragments: pa.Array, row: np.ndarray, rows: int) -> pa.Array:
    """The fragments of each of `rows` rows as one text, null for a row without any; `row` is each one's, ascending."""
    if not row.size:
        return pa.nulls(rows, pa.string())
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    if starts.size < row.size:
        offsets = pa.array(np.append(starts, row.size).astype(np.int32))
        fragments = pc.binary_join(pa.ListArray.from_arrays(offsets, fragments), "")
    at = np.full(rows, -1)
    at[row[starts]] = np.arange(starts.size)
    return fragments.take(pa.array(at, mask=at < 0))


def first_of_each(row: np.ndarray, values: pa.Array) -> np.ndarray:
    """Which values (bool) no earlier one of the same row equals; `row` ascending."""
    repeated = np.diff(row, prepend=-1, append=-1) == 0
    shared = np.flatnonzero(repeated[:-1] | repeated[1:])
    first = np.ones(row.size, bool)
    if shared.size:
        encoded = values.take(pa.array(shared)).dictionary_encode()
        keys = row[shared] * len(encoded.dictionary) + encoded.indices.to_numpy()
        first[shared] = False
        first[shared[np.unique(keys, return_index=True)[1]]] = True
    return first


def place_in_row(row: np.ndarray) -> np.ndarray:
    """How many items of the same row come before each; `row` ascending."""
    return np.arange(row.size) - np.searchsorted(row, row)
