"""Templates that make locs of columns: `/p/{slug}-{id}` (DESIGN 4).

The template is URL syntax, a value is data: it can't open a query or a fragment, or climb out of its folder. What else
a URL may hold, and how the rest is encoded, is the URL policy's to say. Values that are URLs already stand at the start
(`{url}?ref=sitemap`), or in the column that a section names instead of a template.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import column
from sitemap_ops.entries.text import PADDING, array_of, holds, is_missing, text_of, trimmed
from sitemap_ops.errors import SourceError, UsageError

_TOKEN = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<name>[^{}]+)\}|(?P<literal>[^{}]+)|(?P<stray>.)", re.DOTALL)
_DOT_SEGMENT = rf"(?i)(?:^|/)[{PADDING}]*(?:(?:\.|%2e)[{PADDING}]*){{1,2}}(?:/|$)"
"""What the URL policy would take for `.` or `..`: it removes padding and decodes `%2E`."""
_PATH_SYNTAX = {"?": "%3F", "#": "%23"}
_QUERY_SYNTAX = {"&": "%26", "#": "%23", "+": "%2B"}


@dataclass(frozen=True)
class _Token:
    """A column's name, or literal text."""

    text: str
    is_column: bool = False


def fill_template(template: str, rows: pd.DataFrame) -> pd.Series:
    """The loc of each row (string), null where a placeholder's value is null or blank.

    In the path a value's `?` and `#` are percent-encoded, its `/` stays (`@scope/name` is two segments, C-37); after
    the template's own `?` a value's `&`, `#` and `+` are. A `%` is left to the URL policy. The value of a placeholder
    at the very start is taken as it is. A value that makes a dot segment has no loc, as no URL can name such a page
    (U-28). `{{` and `}}` stand for braces.

    :param rows: the columns that the template names: text, whole or decimal numbers, dates (ISO 8601), UUIDs.
    :return: the same index.
    :raises UsageError: for a template that can't be read, names no column, or one that isn't there.
    :raises SourceError: for a column whose text is not certain: floats (`/product/123.0`, C-90), times, booleans.
    """
    tokens = _tokens(template)
    _check(template, tokens, rows)
    start = tokens[:1] if tokens[0].is_column else []
    path, query = _at_query(tokens[len(start) :])
    pieces = [
        *_pieces(start, rows, {}),
        *_safe_path(_pieces(path, rows, _PATH_SYNTAX)),
        *_pieces(query, rows, _QUERY_SYNTAX),
    ]
    return pd.Series(column(_joined(pieces)).array, index=rows.index)


def _tokens(template: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(template):
        if match["stray"]:
            raise UsageError(
                f"The template {template!r} has a lone {match['stray']!r} at character {match.start() + 1}:"
                " write {column} for a column's value, and {{ or }} for a brace."
            )
        is_column = match["name"] is not None
        tokens.append(_Token(match["name"] if is_column else match["literal"] or match["brace"][0], is_column))
    return tokens


def _check(template: str, tokens: list[_Token], rows: pd.DataFrame) -> None:
    names = [token.text for token in tokens if token.is_column]
    if not names:
        raise UsageError(
            f"The template {template!r} names no column, so that all rows would have one URL: write {{column}}."
        )
    for name in names:
        if name not in rows.columns:
            near = difflib.get_close_matches(name, map(str, rows.columns), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"its columns are {', '.join(map(repr, rows.columns))}."
            raise UsageError(f"The template {template!r} names a column {name!r} that the source does not have: {hint}")
    path, _ = _at_query(tokens)
    if re.search(_DOT_SEGMENT, "".join("x" if token.is_column else token.text for token in path)):
        raise UsageError(f"The template {template!r} has a '.' or '..' segment: write the path without it.")


def _at_query(tokens: list[_Token]) -> tuple[list[_Token], list[_Token]]:
    """The tokens before the template's own `?` or `#`, and those from there on."""
    for position, token in enumerate(tokens):
        mark = None if token.is_column else re.search("[?#]", token.text)
        if mark:
            before, after = _Token(token.text[: mark.start()]), _Token(token.text[mark.start() :])
            return [*tokens[:position], before], [after, *tokens[position + 1 :]]
    return tokens, []


def _pieces(tokens: Iterable[_Token], rows: pd.DataFrame, syntax: Mapping[str, str]) -> list[pa.Array | str]:
    return [_encoded(_values(rows, token.text), syntax) if token.is_column else token.text for token in tokens]


def _encoded(texts: pa.Array, syntax: Mapping[str, str]) -> pa.Array:
    for character, triplet in syntax.items():
        if holds(texts, character):
            texts = pc.replace_substring(texts, character, triplet)
    return texts


def _safe_path(pieces: list[pa.Array | str]) -> list[pa.Array | str]:
    """The pieces of a path, null where the values make a dot segment: for that one of them has a dot of its own."""
    if not any(holds(piece, mark) for piece in pieces if not isinstance(piece, str) for mark in ".%"):
        return pieces
    path = _joined(pieces)
    return [pc.if_else(pc.match_substring_regex(path, _DOT_SEGMENT), None, path)]


def _joined(pieces: list[pa.Array | str]) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")


def _values(rows: pd.DataFrame, name: str) -> pa.Array:
    """A column's texts, null where they are blank."""
    check_certain(rows, name)
    texts = text_of(array_of(rows[name]))
    blank = pc.equal(trimmed(texts), "")
    return pc.if_else(blank, None, texts) if pc.any(blank).as_py() else texts


def check_certain(rows: pd.DataFrame, name: str) -> None:
    """Raises SourceError for a column whose text is not certain: floats, times, booleans, lists."""
    values = rows[name]
    array = array_of(values)
    if not (_objects_certain(values) if values.dtype == object else _certain(array.type)):
        kind = "mixed Python objects" if values.dtype == object else f"type {array.type}"
        raise SourceError(
            f"Column {name!r} is of {kind}, whose text in a URL is not certain (an id would become 123.0, a time has"
            " many forms): cast it to text or to a whole number in the source."
        )


def _certain(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_integer, pa.types.is_decimal, pa.types.is_date, pa.types.is_null)
    return any(is_kind(type_) for is_kind in kinds)


def _objects_certain(values: Iterable[Any]) -> bool:
    kinds = {type(value) for value in values if not is_missing(value)}
    return all(issubclass(kind, str | int | np.integer | Decimal | date | UUID) for kind in kinds) and not any(
        issubclass(kind, bool | datetime) for kind in kinds
    )
