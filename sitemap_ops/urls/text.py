"""Any Series a source may hand over, as one Arrow array of Unicode text."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import arrow


def as_text(values: pd.Series) -> tuple[pa.Array, np.ndarray]:
    """A string array, and which rows are no Unicode (bool): lone surrogates, bytes that are not UTF-8; null there.

    Other types (numbers, objects) are written as text; missing values of any kind are null.
    """
    try:
        array = arrow(values)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.type != pa.string():
            array = array.cast(pa.string())
        array.validate(full=True)
        return array, np.zeros(len(array), np.bool_)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        texts = [_text(value) for value in _objects(values)]
        array = pa.array([text if isinstance(text, str) else None for text in texts], pa.string())
        return array, np.array([text is ... for text in texts], np.bool_)


def _objects(values: pd.Series) -> list[Any]:
    """The values one by one; text that is no UTF-8 (a driver may trust its server too much) as bytes."""
    if isinstance(values.dtype, pd.ArrowDtype):
        array = arrow(values)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            binary = pa.binary() if pa.types.is_string(array.type) else pa.large_binary()
            array = pa.Array.from_buffers(binary, len(array), array.buffers(), array.null_count, array.offset)
        return list(array.to_pylist())
    return list(values)


def _text(value: Any) -> str | EllipsisType | None:
    """The value as text, None where it is missing, `...` where it is no Unicode."""
    try:
        if isinstance(value, bytes):
            return value.decode("utf-8")
        if value is None or (not isinstance(value, str) and pd.api.types.is_scalar(value) and pd.isna(value)):
            return None
        text = str(value)
        text.encode("utf-8")
        return text
    except UnicodeError:
        return ...
