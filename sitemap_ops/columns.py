"""Between pandas' Arrow-backed columns and the Arrow arrays and byte buffers below them; no copies where possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa


def frame(table: pa.Table | pa.RecordBatch) -> pd.DataFrame:
    """A table as a frame of Arrow-backed columns (zero copy)."""
    columns: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return columns


def column(values: Any, type_: pa.DataType | None = None) -> pd.Series:
    """An Arrow array (or what pyarrow can make one of) as an Arrow-backed Series."""
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, type=type_)
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def arrow(series: pd.Series) -> pa.Array:
    """The one contiguous Arrow array of a Series; other dtypes (object, str) are converted."""
    array = pa.array(series.array, from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array


def text_buffers(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The offsets (int64, len + 1, from 0) and UTF-8 bytes (uint8) of a string array; nulls are empty."""
    if array.null_count:
        array = array.fill_null("")
    width = np.int64 if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type) else np.int32
    _, offsets_buffer, data_buffer = array.buffers()
    if len(array) == 0 or offsets_buffer is None:
        return np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(offsets_buffer, width)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return offsets - offsets[0], data[offsets[0] : offsets[-1]]


def from_text_buffers(offsets: np.ndarray, data: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """A string array of `offsets` (len + 1, from 0) and UTF-8 bytes; `valid` (bool) marks what is not null.

    The bytes are trusted to be UTF-8: the caller made them.
    """
    mask = None if valid is None or valid.all() else pa.array(valid).buffers()[1]
    small = offsets[-1] < 2**31
    buffers = [
        mask,
        pa.py_buffer(offsets.astype(np.int32 if small else np.int64)),
        pa.py_buffer(np.ascontiguousarray(data)),
    ]
    return pa.Array.from_buffers(pa.string() if small else pa.large_string(), len(offsets) - 1, buffers)
