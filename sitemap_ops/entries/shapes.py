"""Columns of any shape as text, whose lists and objects are JSON: what sources, object columns and Arrow may hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow
from sitemap_ops.entries.text import MISSING, array_of, is_missing

_LONGEST_MISSING = max(map(len, MISSING))


def numpy(array: pa.Array) -> np.ndarray:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def is_blank(texts: pa.Array) -> np.ndarray:
    """Which trimmed texts (bool) are null, empty, or a word that exports write for no value."""
    lengths = pc.binary_length(texts).fill_null(0).to_numpy()
    blank: np.ndarray = lengths == 0
    short = np.flatnonzero(~blank & (lengths <= _LONGEST_MISSING))
    if short.size:
        blank[short] = numpy(pc.is_in(pc.utf8_lower(texts.take(pa.array(short))), pa.array(sorted(MISSING))))
    return blank


def plain_column(values: pd.Series) -> pa.Array:
    """A Series as a plain Arrow array: text, a number, a time or `list<string>`; what is nested otherwise as JSON."""
    if values.dtype == object:
        return strings([_of_object(value) for value in values])
    array = arrow(values)
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = kind.value_type
        if pa.types.is_string(inner) or pa.types.is_large_string(inner) or pa.types.is_string_view(inner):
            return array.cast(pa.list_(pa.string()))
    if pa.types.is_nested(kind):
        return strings([None if value is None else as_text(value) for value in array.to_pylist()])
    return array_of(values)


def lists_as_text(array: pa.Array) -> pa.Array:
    """The array, its lists as JSON."""
    return strings([as_text(value) for value in array.to_pylist()]) if pa.types.is_list(array.type) else array


def strings(texts: Sequence[str | None]) -> pa.Array:
    """Python texts as a string array. Half characters, which Arrow can't hold, become U+FFFD (C-42)."""
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array([None if text is None else _whole(text) for text in texts], pa.string())


def _whole(text: str) -> str:
    """The text with halves that stand side by side joined, and lone ones as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _of_object(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return None if value is None or is_missing(value) else as_text(value)


def as_text(value: Any) -> str | None:
    """A value of JSON as text: numbers as they are written, lists and objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, bool | int | float | list | tuple | dict):
        return str(value)
    try:
        return json.dumps(value, default=str, skipkeys=True)
    except (ValueError, RecursionError):  # nested in itself, or deeper than can be written
        return None


def loaded(text: str) -> Any:
    """What a JSON text says; `...` where it can't be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ...
