"""Python values, as DB-API drivers give them, as Arrow columns whose types stay the same for a whole read.

A column's type is that of its first values that are not NULL; one that is NULL in all of the first rows becomes text,
and what follows is written as text. So a NULL never turns whole numbers into floats (C-90).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.plain import no_url

ZERO_DATE = re.compile(r"\d{4}-\d\d-\d\d\b.*")
"""What MySQL drivers give, as text, for a date that is none: `0000-00-00`, `2024-00-00 00:00:00`."""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_AS_TEXT: Mapping[type, Callable[[Any], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    Decimal: lambda value: format(value, "f"),
    UUID: str,
    datetime: datetime.isoformat,
    date: date.isoformat,
    dict: _json,
    list: _json,
}
_TYPED: Mapping[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), date: pa.date32()}
_NO_URLS = (bool, dict, list)
_FAMILIES = (str, bool, int, float, Decimal, datetime, date, UUID, dict, list)


def _family(kind: type) -> type:
    """The known type of a value's type, which may be a subclass: bool before int, datetime before date."""
    return next(family for family in _FAMILIES if issubclass(kind, family))


class Column:
    """One column of a read: makes an Arrow array of each page of its values, always of the same plain type."""

    def __init__(self, name: str, where: str, urls: Collection[str] = ()) -> None:
        self.name, self.where = name, where
        self.is_url = name in urls
        self.type: pa.DataType | None = None

    def array(self, values: Sequence[Any]) -> pa.Array:
        """Raises SourceError for values that are not of one kind, have no plain form (see `plain`) or make no URL."""
        kinds = set(map(type, values)) - {type(None)}
        try:
            families = {kind: _family(kind) for kind in kinds}
            if self.is_url and (odd := [kind for kind, family in families.items() if family in _NO_URLS]):
                raise no_url(self.name, self.where, odd[0].__name__)
            if self.type is None:
                self.type = _common_type(set(families.values()), values)
            return _array(values, families, self.type)
        except (StopIteration, KeyError, TypeError, ValueError, OverflowError, pa.ArrowException):
            names = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise SourceError(
                f"The column {self.name!r} of {self.where} has values ({names}) that make no column of text, numbers or"
                " dates of one kind: CAST it to text in the query, or leave it out."
            ) from None


def _common_type(families: set[type], values: Sequence[Any]) -> pa.DataType:
    if datetime in families:
        aware = any(value.tzinfo is not None for value in values if isinstance(value, datetime))
        return pa.timestamp("us", "UTC" if aware else None)
    if date in families:
        return pa.date32()
    return _TYPED[next(iter(families))] if len(families) == 1 and families <= _TYPED.keys() else pa.string()


def _array(values: Sequence[Any], families: Mapping[type, type], target: pa.DataType) -> pa.Array:
    found = set(families.values())
    if target == pa.string():
        if found <= {str}:
            return pa.array(values, target)
        return pa.array([None if value is None else _AS_TEXT[families[type(value)]](value) for value in values], target)
    if pa.types.is_timestamp(target):
        return pa.array(_instants(values, found, aware=target.tz is not None), target)
    if target == pa.date32() and str in found:
        values = [_zero(value, date.min) if isinstance(value, str) else value for value in values]
        found = found - {str}
    if found - {family for family, kind in _TYPED.items() if kind == target}:
        raise TypeError
    return pa.array(values, target)


def _instants(values: Sequence[Any], found: set[type], *, aware: bool) -> Sequence[Any]:
    if str in found:
        least = datetime.min.replace(tzinfo=UTC if aware else None)
        values = [_zero(value, least) if isinstance(value, str) else value for value in values]
    if any((value.tzinfo is not None) != aware for value in values if value is not None):
        raise TypeError
    return values


def _zero(text: str, least: date) -> date:
    """The earliest date there is for one that is none: a guard of lastmod then finds it, which a NULL would hide."""
    if not ZERO_DATE.fullmatch(text):
        raise ValueError
    return least
