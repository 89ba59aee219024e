"""A query in parts by its key: the parts are the whole, whatever the keys are."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory import Span, read, split
from sitemap_ops.inventory.spans import make_up_the_whole, spans_between
from sitemap_ops.site import CsvSource, SqlSource

CONNECTIONS = EnvironmentConnections()
ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=-3, minutes=-30))])
KEYS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2),
    st.lists(st.dates(), min_size=2),
    ZONES.flatmap(lambda zone: st.lists(st.datetimes(timezones=st.just(zone)), min_size=2)),
)


def within(span: Span, key: Any) -> bool:
    return (span.start is None or key >= span.start) and (span.end is None or key < span.end)


@settings(max_examples=50)
@given(KEYS, st.integers(1, 300))
def test_every_key_is_in_just_one_span(keys: list[Any], count: int) -> None:
    """Issue 5, Build 5: of keys known when the spans were made and of others alike; also after a way through JSON."""
    low, high, *others = keys
    spans = spans_between(min(low, high), max(low, high), count)
    assert [span.number for span in spans] == list(range(1, len(spans) + 1))
    assert len(spans) <= count
    assert make_up_the_whole(spans)
    passed = [Span.from_json(json.loads(json.dumps(span.to_json()))) for span in spans]
    assert passed == spans
    bounds = [span.start for span in spans[1:]]
    for key in (low, high, *others, *bounds):
        assert sum(within(span, key) for span in passed) == 1


def test_spans_are_equally_wide() -> None:
    """Evenly spread keys make parts of one size, days and times too; few keys make few parts."""
    assert [span.start for span in spans_between(0, 100, 4)] == [None, 25, 50, 75]
    assert [span.end for span in spans_between(date(2026, 1, 1), date(2026, 1, 9), 2)] == [date(2026, 1, 5), None]
    assert [span.end for span in spans_between(7, 9, 256)] == [8, None]
    assert spans_between(7, 7, 5) == [Span(1, None, None)]


@pytest.mark.parametrize("lost", range(4))
def test_parts_that_are_not_the_whole(lost: int) -> None:
    """C-102: a part that is missing, is there twice, or is of another split is noticed."""
    spans = spans_between(0, 100, 4)
    assert make_up_the_whole([None])
    assert not make_up_the_whole([None, *spans])
    assert not make_up_the_whole([*spans, None])
    assert not make_up_the_whole([None, None])
    assert not make_up_the_whole(spans[:lost] + spans[lost + 1 :])
    assert not make_up_the_whole(spans[: lost + 1] + spans[lost:])
    assert not make_up_the_whole(spans[:lost] + spans_between(0, 104, 4)[lost:]) or lost == 0


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A SQLite database: ids with a gap."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, slug TEXT, maybe INTEGER, half REAL)")
        rows = ((n, f"p{n}", n if n > 9 else None, n / 2) for n in [*range(-40, 500), 900, 901])
        connection.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", rows)
    connection.close()
    monkeypatch.setenv("SITEMAP_OPS_CONN_SHOP_DB", f"sqlite:///{path}")
    return path


def source(key: str = "id", query: str = "SELECT * FROM page WHERE slug <> ':x' -- all", **more: Any) -> SqlSource:
    return SqlSource(type="sql", conn_id="shop_db", query=query, key=key, page_rows=70, **{"split": 4} | more)


def ids(of: SqlSource, span: Span | None) -> list[int]:
    return [int(n) for chunk in read(of, ["id"], CONNECTIONS, span=span) for n in chunk.rows["id"]]


def test_parts_of_a_query_are_its_rows(shop: Path) -> None:
    """Issue 5, Build 5: the spans' rows, one after the other, are those of a read without split, numbered from 1 in
    each; a gap makes a smaller part, not a wrong one."""
    of = source(query="SELECT * FROM page WHERE slug <> :x", params={"x": "p7"})
    parts = split(of, CONNECTIONS)
    assert len(parts) == 4
    rows = [ids(of, span) for span in parts]
    assert [row for part in rows for row in part] == ids(of, None)
    assert [len(part) for part in rows] == [234, 235, 70, 2]
    (first, *_) = read(of, ["slug"], CONNECTIONS, span=parts[1])
    assert first.rows.index[0] == 1


def test_rows_that_come_while_parts_are_read(shop: Path) -> None:
    """Below the smallest key and above the largest one of before: the outer parts are open."""
    of = source()
    parts = split(of, CONNECTIONS)
    with sqlite3.connect(shop) as connection:
        connection.executemany("INSERT INTO page (id, slug) VALUES (?, 'new')", [(-1_000_000,), (1_000_000,)])
    connection.close()
    rows = [ids(of, span) for span in parts]
    assert rows[0][0] == -1_000_000 and rows[-1][-1] == 1_000_000
    assert [row for part in rows for row in part] == ids(of, None)


def test_null_keys_stop_the_read(shop: Path) -> None:
    """C-89: NULL is in no span, so the first of them looks for it, once for all."""
    of = source("maybe")
    first, *others = split(of, CONNECTIONS)
    with pytest.raises(SourceError, match="The key 'maybe' of the query of 'shop_db' is NULL in 50 rows"):
        ids(of, first)
    assert [len(ids(of, span)) for span in others] == [223, 45, 2]


@pytest.mark.parametrize(("key", "example"), [("slug", "'p-1'"), ("half", "-20.0")])
def test_keys_that_can_not_be_split(key: str, example: str, shop: Path) -> None:
    """Text and fractions have no middle that every database agrees on: the error says what to name instead."""
    with pytest.raises(
        UsageError, match=rf"The key '{key}' of the query of 'shop_db' can't be split.* such as {example}"
    ):
        split(source(key), CONNECTIONS)


def test_no_rows_are_one_part(shop: Path) -> None:
    """An empty query is read, and found empty, by one task."""
    of = source(query="SELECT * FROM page WHERE id > 5000")
    assert split(of, CONNECTIONS) == [Span(1, None, None)]


def test_other_sources_are_one_part() -> None:
    """Without split nothing is asked of a database, which here is none."""
    assert split(source(split=1), CONNECTIONS) == [None]
    assert split(CsvSource(type="csv", path="/x.csv"), CONNECTIONS) == [None]
