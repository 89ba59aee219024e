from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sitemap_ops.columns import frame
from sitemap_ops.entries import fill_template
from sitemap_ops.errors import SourceError, UsageError


def fill(template: str, **columns: object) -> list[str | None]:
    arrays = {name: values if isinstance(values, pa.Array) else pa.array(values) for name, values in columns.items()}
    return fill_template(template, frame(pa.table(arrays))).tolist()


def test_a_template_over_columns():
    """DESIGN 4: /p/{slug}-{id}; the index is kept."""
    rows = frame(pa.table({"slug": ["red-shoe", "hat"], "id": [7, 12]})).set_axis([3, 9])
    result = fill_template("/p/{slug}-{id}", rows)
    assert result.to_dict() == {3: "/p/red-shoe-7", 9: "/p/hat-12"}
    assert result.dtype == pd.ArrowDtype(pa.string())


def test_null_and_blank_values_give_no_loc():
    """A URL with a part missing is another page's, or none's."""
    assert fill("/p/{slug}", slug=["a", None, "", "  ", "\u200b"]) == ["/p/a", *[pd.NA] * 4]
    assert fill("/{a}/{b}", a=["x", None], b=pa.array([None, 1], pa.int64())) == [pd.NA, pd.NA]
    assert fill("/{a}", a=pa.nulls(2)) == [pd.NA, pd.NA]
    assert fill("/{a}", a=pa.array([], pa.string())) == []


def test_words_for_missing_are_real_slugs():
    """Issue 2 item 3: NA and null are slugs."""
    assert fill("/{a}", a=["NA", "null", "None", "nan"]) == ["/NA", "/null", "/None", "/nan"]


def test_a_value_can_not_open_a_query_or_a_fragment():
    """In the path a value's ? and # are data; its / stays (C-37), its % is the URL policy's to judge."""
    assert fill("/p/{name}/x", name=["what?", "c#", "@scope/name", "100%", "a%20b", "a&b+c=d"]) == [
        *("/p/what%3F/x", "/p/c%23/x", "/p/@scope/name/x", "/p/100%/x", "/p/a%20b/x", "/p/a&b+c=d/x")
    ]


def test_a_value_can_not_add_a_parameter():
    """In the query a value's & # and + are data; ? / and = may stand there."""
    assert fill("/s?q={q}&p=1", q=["a&b", "c++", "d#e", "f=g/h?"]) == [
        *("/s?q=a%26b&p=1", "/s?q=c%2B%2B&p=1", "/s?q=d%23e&p=1", "/s?q=f=g/h?&p=1")
    ]
    assert fill("/{a}?b={a}", a=["x?&"]) == ["/x%3F&?b=x?%26"]


def test_a_placeholder_at_the_start_is_taken_as_it_is():
    """A column of URLs: its value is URL syntax."""
    assert fill("{url}", url=["https://a.example/x?y=1#z", "/a/../b"]) == ["https://a.example/x?y=1#z", "/a/../b"]
    assert fill("{base}/p/{id}", base=["https://a.example/?"], id=["1?"]) == ["https://a.example/?/p/1%3F"]


@pytest.mark.parametrize(
    "value", ["..", ".", "../admin", "a/../../b", "a/./b", "%2e%2E", ".%2e", "x/..", ".. ", "..\u200b", "/../x"]
)
def test_a_value_can_not_climb(value):
    """U-28: a dot segment would name another page, and no URL can name a page called `..`."""
    assert fill("/p/{slug}", slug=[value, "ok"]) == [pd.NA, "/p/ok"]


@pytest.mark.parametrize("value", ["...", "..a", "a..", ".htaccess", "a.b/c.d", "%2e%2e%2e", "v1..2/x"])
def test_dots_in_names_are_names(value):
    """Only a whole segment of one or two dots is a dot segment."""
    assert fill("/p/{slug}", slug=[value]) == [f"/p/{value}"]


def test_dots_that_meet_make_no_dot_segment():
    """Values judged together: `.` and `.` side by side are `..`; beside other text they are not."""
    assert fill("/{a}{b}", a=[".", "x"], b=[".", "."]) == [pd.NA, "/x."]
    assert fill("/{a}.html", a=["."]) == ["/..html"]
    assert fill("/s?dir={a}", a=[".."]) == ["/s?dir=.."]


def test_braces():
    """{{ and }} stand for braces."""
    assert fill("/{{x}}/{a}/{{{a}}}", a=["1"]) == ["/{x}/1/{1}"]


@pytest.mark.parametrize("array", [pa.array([123.0, None]), pa.array([1.5], pa.float32())])
def test_floats_are_refused(array):
    """C-90: an id that became a float would give /product/123.0: an error that says what to do."""
    with pytest.raises(SourceError, match=r"'id'.*cast it to text or to a whole number"):
        fill("/product/{id}", id=array)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([123.0, np.nan]),
        pd.Series([123.0, "a"], dtype=object),
        pd.Series([True]),
        pd.Series([True, None], dtype=object),
        pd.Series([b"x"], dtype=object),
        pd.Series([datetime(2024, 3, 7)], dtype=object),  # noqa: DTZ001
        pd.Series([[1]], dtype=object),
        pd.to_datetime(pd.Series(["2024-03-07"])),
    ],
)
def test_values_without_one_certain_text_are_refused(values):
    """C-90 and its kind: floats hidden among objects, booleans, bytes, times, lists."""
    with pytest.raises(SourceError, match="'id'"):
        fill_template("/{id}", pd.DataFrame({"id": values}))


def test_exact_numbers_dates_and_uuids():
    """C-90: ids beyond 2^53 keep their digits, decimals theirs without an exponent; dates are ISO 8601."""
    uid = UUID(int=5)
    big = 2**63 - 1
    assert fill("/{a}", a=pa.array([big, None])) == [f"/{big}", pd.NA]
    assert fill("/{a}", a=pa.array([Decimal("1.20"), None])) == ["/1.20", pd.NA]
    assert fill("/{a}", a=pa.array([Decimal("0.0000001")])) == ["/0.0000001"]
    assert fill("/{a}", a=pa.array([date(2024, 3, 7)])) == ["/2024-03-07"]
    objects = pd.DataFrame({"a": pd.Series(["s", 5, Decimal("1E+3"), date(2024, 3, 7), uid, None], dtype=object)})
    assert fill_template("/{a}", objects).tolist() == ["/s", "/5", "/1000", "/2024-03-07", f"/{uid}", pd.NA]


def test_lone_surrogates_become_the_replacement_character():
    """The URL policy rejects U+FFFD; nothing raises before it can."""
    assert fill_template("/{a}", pd.DataFrame({"a": pd.Series(["\ud800"], dtype=object)})).tolist() == ["/\ufffd"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("/p/{slgu}", "did you mean 'slug'"),
        ("/p/{zzzz}", "its columns are 'slug'"),
        ("/p/{slug", "lone '{' at character 4"),
        ("/p/slug}", "lone '}' at character 8"),
        ("/p/{}", "lone '{'"),
        ("/p/slug", "names no column"),
        ("", "names no column"),
        ("/p/../{slug}", "'..' segment"),
        ("./{slug}", "'..' segment"),
    ],
)
def test_a_template_that_can_not_work_is_a_usage_error(template, message):
    """The message says what is wrong, where, and what to do."""
    with pytest.raises(UsageError, match=re.escape(message)):
        fill(template, slug=["a"])
