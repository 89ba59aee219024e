"""Columns of any type as text, and judgements that are made once for each different value."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, text_buffers

MISSING = frozenset({"", "nat", "nan", "none", "null", "<na>", "na", "n/a", "\\n"})
"""How exports spell "no value", in lower case (C-59): the row never had one, so there is nothing to say about it."""

PADDING = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
)
"""White space and invisible characters: around a value they mean nothing."""


def array_of(values: pd.Series) -> pa.Array:
    """The Arrow array of a Series; strings and categories as plain `string`, Python objects by their own text.

    Python objects are never left to Arrow's inference, which reads a naive time beside an aware one as UTC (C-92).
    """
    if values.dtype == object:
        return pa.array([None if is_missing(value) else _text(value) for value in values], pa.string())
    array = arrow(values)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array


def text_of(array: pa.Array) -> pa.Array:
    """A `string` array of any array, null where it is null; decimals without an exponent."""
    if pa.types.is_string(array.type):
        return array
    try:
        texts = array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = None
    if texts is None or (pa.types.is_decimal(array.type) and holds(texts, "E")):
        return pa.array([None if value is None else _text(value) for value in array.to_pylist()], pa.string())
    return texts


def holds(array: pa.Array, character: str) -> bool:
    """Whether any text of a string array has the ASCII character: one look at the bytes, for columns that have none."""
    return bool((text_buffers(array)[1] == ord(character)).any())


def trimmed(array: pa.Array) -> pa.Array:
    return pc.utf8_trim(array, PADDING)


def by_value(array: pa.Array, judge: Callable[[str], tuple[str | None, str | None]]) -> tuple[pa.Array, pa.Array]:
    """`judge(text) -> (value, note)` once for each different text of a string array: the values and the notes."""
    encoded = array.dictionary_encode()
    judged = [judge(text) for text in encoded.dictionary.to_pylist()]
    values = pa.array([value for value, _ in judged], pa.string())
    notes = pa.array([note for _, note in judged], pa.string())
    return values.take(encoded.indices), notes.take(encoded.indices)


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for no value."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _text(value: object) -> str:
    """The text of a Python object; a lone surrogate becomes U+FFFD, as Arrow holds none."""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
