"""Arrow columns of any type as one of the few that the rest of a run knows.

    text        string; also UUIDs, JSON, booleans (`true`, `false`) and decimals with all their digits; structures,
                and lists of them, as JSON
    whole       int64; beyond its range an error, never a float (C-90)
    fractional  double
    day         date32
    instant     timestamp[us, UTC]      naive time  timestamp[us]
    texts       list<string>

Anything else (bytes, times of day, intervals, maps, other lists) is an error that names the column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sitemap_ops.errors import SourceError

HEX_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
UUID_BYTES, UUID_LENGTH = 16, 36
UUID_DASHES = (8, 13, 18, 23)

Cast = Callable[[pa.Array], pa.Array]


def plain_cast(field: pa.Field, where: str, urls: Collection[str] = ()) -> Cast:
    """What makes a column plain: a function of its arrays, which raises SourceError for a value that does not fit.

    urls: the columns whose values are URLs or parts of them. Raises SourceError for a type that has no plain form, or
    whose plain form is no part of a URL.
    """
    if field.name in urls and _is_no_url(field.type):
        raise no_url(field.name, where, str(field.type))
    cast = _cast(field.type)
    if cast is None:
        raise SourceError(
            f"The column {field.name!r} of {where} is of type {_type_name(field.type)}, which is no text, number or"
            " date: turn it into text at its source, or leave it out."
        )
    return partial(_checked, cast, f"The column {field.name!r} of {where}")


def _is_no_url(kind: pa.DataType) -> bool:
    if types.is_dictionary(kind):
        return _is_no_url(kind.value_type)
    return isinstance(kind, pa.JsonType) or types.is_boolean(kind) or types.is_nested(kind)


def no_url(column: str, where: str, kind: str) -> SourceError:
    """What is wrong with a column of a kind whose text is no part of a URL: `true`, or JSON."""
    return SourceError(
        f"The column {column!r} of {where} is of type {kind}, which makes no URL: name a column of text, or turn what"
        " is meant into text in the source."
    )


def _checked(cast: Cast, column: str, array: pa.Array) -> pa.Array:
    try:
        made = cast(array)
        made.validate(full=True)  # text that is not UTF-8, which neither Parquet nor a SQL_ASCII database refuses
    except pa.ArrowInvalid as error:
        raise SourceError(f"{column} has a value that can't be used: {error}.") from None
    return made


def _cast(kind: pa.DataType) -> Cast | None:
    if isinstance(kind, pa.UuidType):
        return _uuid_texts
    if isinstance(kind, pa.BaseExtensionType):
        stored = _cast(kind.storage_type)
        return stored and (lambda array: stored(array.storage))
    if types.is_dictionary(kind):
        decoded = _cast(kind.value_type)
        return decoded and (lambda array: decoded(array.dictionary_decode()))
    if types.is_struct(kind) or (_is_list(kind) and types.is_struct(kind.value_type)):
        return _json_texts
    target, safe = _target(kind)
    return target and (lambda array: array if array.type == target else pc.cast(array, target, safe=safe))


def _target(kind: pa.DataType) -> tuple[pa.DataType | None, bool]:
    """The plain type, and whether a value that can't keep all its digits is an error."""
    if (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_boolean(kind)
        or (types.is_decimal(kind) and kind.scale >= 0)
        or types.is_null(kind)
    ):
        return pa.string(), True
    if types.is_integer(kind):
        return pa.int64(), True
    if types.is_floating(kind):
        return pa.float64(), True
    if types.is_date(kind):
        return pa.date32(), True
    if types.is_timestamp(kind):
        # nanoseconds are cut to microseconds: no reader of a sitemap looks at either
        return pa.timestamp("us", "UTC" if kind.tz else None), kind.unit != "ns"
    if _is_list(kind) and _target(kind.value_type)[0] == pa.string():
        return pa.list_(pa.string()), True
    return None, True


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _json_texts(array: pa.Array) -> pa.Array:
    """What is nested as JSON, which is what the columns of images and videos hold; times in it are ISO 8601."""
    texts = (
        None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in array.to_pylist()
    )
    return pa.array(texts, pa.string())


def _uuid_texts(array: pa.Array) -> pa.Array:
    """The 36-character form of RFC 9562, in lower case."""
    stored = array.storage
    raw = np.frombuffer(stored.buffers()[1] or b"", np.uint8)[stored.offset * UUID_BYTES :][: len(stored) * UUID_BYTES]
    digits = HEX_DIGITS[np.stack([raw >> 4, raw & 15], axis=1)].reshape(len(stored), UUID_BYTES * 2)
    text = np.full((len(stored), UUID_LENGTH), ord("-"), np.uint8)
    text[:, [place for place in range(UUID_LENGTH) if place not in UUID_DASHES]] = digits
    whole = pa.FixedSizeBinaryArray.from_buffers(pa.binary(UUID_LENGTH), len(stored), [None, pa.py_buffer(text)])
    return pc.if_else(stored.is_valid(), whole.cast(pa.binary()).cast(pa.string()), pa.scalar(None, pa.string()))


def _type_name(kind: pa.DataType) -> str:
    return kind.type_name if isinstance(kind, pa.OpaqueType) else str(kind)
