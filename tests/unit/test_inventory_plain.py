"""Arrow columns of any type as the few that a run knows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.plain import plain_cast

DAY = date(2024, 5, 1)
NAIVE = datetime.fromisoformat("2024-05-01T12:30:00.123456")
ID = UUID("803b2b07-83bd-48ad-9330-df0eb82df885")


def plain(array: pa.Array) -> pa.Array:
    return plain_cast(pa.field("c", array.type), "pages.parquet")(array)


def uuids(values: list[UUID | None]) -> pa.Array:
    return pa.array([value and value.bytes for value in values], pa.uuid())


@pytest.mark.parametrize(
    ("array", "kind", "expected"),
    [
        (pa.array(["a", None]), pa.string(), ["a", None]),
        (pa.array(["a", None], pa.large_string()), pa.string(), ["a", None]),
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), pa.string(), ["a", None, "a"]),
        (pa.nulls(2), pa.string(), [None, None]),
        (pa.array([True, None, False]), pa.string(), ["true", None, "false"]),
        (pa.array([Decimal("12345678901234567890.10"), None]), pa.string(), ["12345678901234567890.10", None]),
        (pa.array([-(2**63), 2**63 - 1, None]), pa.int64(), [-(2**63), 2**63 - 1, None]),
        (pa.array([1, None], pa.uint8()), pa.int64(), [1, None]),
        (pa.array([2**63 - 1], pa.uint64()), pa.int64(), [2**63 - 1]),
        (pa.array([0.5, None], pa.float32()), pa.float64(), [0.5, None]),
        (pa.array([DAY, None], pa.date64()), pa.date32(), [DAY, None]),
        (pa.array([NAIVE, None]), pa.timestamp("us"), [NAIVE, None]),
        (pa.array([1_714_566_600_123_456_789], pa.timestamp("ns")), pa.timestamp("us"), [NAIVE]),
        (pa.array([1_714_566_600], pa.timestamp("s", "+03:00")), pa.timestamp("us", "UTC"), None),
        (uuids([ID, None, UUID(int=0)]), pa.string(), [str(ID), None, str(UUID(int=0))]),
        (uuids([None, ID, ID]).slice(1), pa.string(), [str(ID), str(ID)]),
        (uuids([]), pa.string(), []),
        (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}'])), pa.string(), ['{"a": 1}']),
        (pa.array([["a", None], [], None]), pa.list_(pa.string()), [["a", None], [], None]),
        (pa.array([["a"]], pa.large_list(pa.large_string())), pa.list_(pa.string()), [["a"]]),
        (pa.array([{"loc": "/ü", "at": DAY}, None]), pa.string(), ['{"loc": "/ü", "at": "2024-05-01"}', None]),
        (pa.array([[{"loc": "/1"}, None], [], None]), pa.string(), ['[{"loc": "/1"}, null]', "[]", None]),
    ],
)
def test_each_type(array: pa.Array, kind: pa.DataType, expected: list[Any] | None) -> None:
    """C-90: whole numbers stay whole, decimals and ids keep every digit as text, times are told naive from aware."""
    made = plain(array)
    assert made.type == kind
    made.validate(full=True)
    assert made.to_pylist() == (expected or [datetime(2024, 5, 1, 12, 30, tzinfo=UTC)] if expected != [] else [])


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (pa.array([b"x"]), "binary"),
        (pa.array([[1]]), "list<item: int64>"),
        (pa.array([[[{"a": 1}]]]), "list<item: list<item: struct<a: int64>>>"),
        (pa.array([1], pa.time32("s")), "time32"),
        (pa.array([1], pa.duration("s")), "duration"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "map<string, int64>"),
        (pa.array([Decimal("1E+3")], pa.decimal128(5, -3)), "decimal128"),
        (pa.ExtensionArray.from_storage(pa.opaque(pa.binary(), "inet", "PostgreSQL"), pa.array([b"x"])), "inet"),
    ],
)
def test_a_type_without_a_plain_form_is_an_error_that_names_the_column(array: pa.Array, name: str) -> None:
    """Nested and binary values are never guessed at."""
    with pytest.raises(SourceError, match=f"The column 'c' of pages.parquet is of type {name}"):
        plain(array)


def test_a_number_beyond_int64_is_an_error() -> None:
    """C-90: it would lose digits as a float."""
    with pytest.raises(SourceError, match=r"The column 'c' of pages\.parquet has a value that can't be used"):
        plain(pa.array([2**63], pa.uint64()))


def test_text_that_is_not_utf8_is_an_error() -> None:
    """C-93: Parquet and some databases hand over bytes as text unread."""
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"caf\xe9"]).buffers())
    with pytest.raises(SourceError, match=r"The column 'c' of pages\.parquet has a value that can't be used: .*UTF8"):
        plain(bad)
