"""A driver's Python values as Arrow columns of one type for a whole read."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.values import Column

ISTANBUL = timezone(timedelta(hours=3))
AWARE = datetime(2024, 5, 1, 12, 30, 0, 123456, tzinfo=ISTANBUL)
NAIVE = datetime.fromisoformat("2024-05-01T12:30:00")
ID = UUID("803b2b07-83bd-48ad-9330-df0eb82df885")


class Mood(StrEnum):
    OK = "ok"


def arrays(*pages: list[Any]) -> list[pa.Array]:
    column = Column("c", "the query of 'shop_db'")
    return [column.array(page) for page in pages]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["a", None, ""], pa.string(), ["a", None, ""]),
        ([Mood.OK], pa.string(), ["ok"]),
        ([9007199254740993, None], pa.int64(), [9007199254740993, None]),
        ([0.5, None], pa.float64(), [0.5, None]),
        ([True, None, False], pa.string(), ["true", None, "false"]),
        ([Decimal("12345678901234567890.10"), None], pa.string(), ["12345678901234567890.10", None]),
        ([Decimal("1E+3"), Decimal("1E-9")], pa.string(), ["1000", "0.000000001"]),
        ([ID, None], pa.string(), [str(ID), None]),
        ([{"a": "ü"}, None, ["x", 1]], pa.string(), ['{"a": "ü"}', None, '["x", 1]']),
        ([date(2024, 5, 1), None], pa.date32(), [date(2024, 5, 1), None]),
        ([NAIVE, None], pa.timestamp("us"), [NAIVE, None]),
        ([AWARE, None], pa.timestamp("us", "UTC"), [AWARE.astimezone(UTC), None]),
        ([1, "a", None], pa.string(), ["1", "a", None]),
        ([1, Decimal("2.50")], pa.string(), ["1", "2.50"]),
    ],
)
def test_each_kind_of_value(values: list[Any], kind: pa.DataType, expected: list[Any]) -> None:
    """C-90: every digit is kept, and a NULL makes no float; aware times become instants."""
    (array,) = arrays(values)
    assert array.type == kind
    assert array.to_pylist() == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, pa.int64()), ("a", pa.string()), (date(2024, 5, 1), pa.date32()), (AWARE, pa.timestamp("us", "UTC"))],
)
def test_a_page_of_nulls_keeps_the_type(value: Any, kind: pa.DataType) -> None:
    """E.5: types do not differ from chunk to chunk when a chunk is all NULL."""
    assert [array.type for array in arrays([value], [None, None], [value, None])] == [kind] * 3


@pytest.mark.parametrize(
    ("later", "text"),
    [
        (7, "7"),
        (Decimal("1.50"), "1.50"),
        (True, "true"),
        (ID, str(ID)),
        (date(2024, 5, 1), "2024-05-01"),
        (AWARE, "2024-05-01T12:30:00.123456+03:00"),
        ("x", "x"),
    ],
)
def test_values_after_a_page_of_nulls_are_text(later: Any, text: str) -> None:
    """A column with no value in its first rows becomes text, and stays it."""
    assert [array.to_pylist() for array in arrays([None, None], [later, None])] == [[None, None], [text, None]]


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([[b"\0"]], id="bytes"),
        pytest.param([[memoryview(b"x")]], id="memoryview"),
        pytest.param([[time(12, 0)]], id="time of day"),
        pytest.param([[timedelta(1)]], id="interval"),
        pytest.param([[1], ["a"]], id="text after whole numbers"),
        pytest.param([[1], [1.5]], id="float after whole numbers"),
        pytest.param([[1], [True]], id="boolean after whole numbers"),
        pytest.param([[1.5], [1]], id="whole number after floats"),
        pytest.param([[1, 1.5]], id="whole numbers and floats"),
        pytest.param([[None], [1.5]], id="float after nulls"),
        pytest.param([[2**63]], id="beyond int64"),
        pytest.param([[NAIVE, AWARE]], id="naive and aware"),
        pytest.param([[AWARE], [NAIVE]], id="naive after aware"),
        pytest.param([[NAIVE], [AWARE]], id="aware after naive"),
        pytest.param([[date(2024, 5, 1)], [NAIVE]], id="time after dates"),
        pytest.param([[date(2024, 5, 1), "tomorrow"]], id="text among dates"),
        pytest.param([["\ud800"]], id="lone surrogate"),
    ],
)
def test_what_makes_no_column_is_an_error_that_names_it(pages: list[list[Any]]) -> None:
    """C-90, C-92: no value is bent to fit; naive and aware times are never mixed."""
    with pytest.raises(SourceError, match=r"The column 'c' of the query of 'shop_db' has values .* CAST it to text"):
        arrays(*pages)


def test_zero_dates_of_mysql_are_the_earliest_date() -> None:
    """MySQL's `0000-00-00` is found by the guards of lastmod, wherever it comes in the read."""
    first, second = arrays([date(2024, 5, 1)], ["0000-00-00", None, date(2024, 5, 2)])
    assert second.type == first.type == pa.date32()
    assert second.to_pylist() == [date.min, None, date(2024, 5, 2)]
    (mixed,) = arrays(["0000-00-00 00:00:00", NAIVE])
    assert mixed.to_pylist() == [datetime.min, NAIVE]  # noqa: DTZ901
