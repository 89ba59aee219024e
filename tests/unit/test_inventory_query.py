"""Named values in a user's SQL: what is one, and what is text."""

from __future__ import annotations

import pytest

from sitemap_ops.errors import UsageError
from sitemap_ops.inventory.query import Query, parse_query

WHERE = "the query of 'shop_db'"


def rendered(query: Query) -> str:
    return query.render(lambda position, value: f"<{position}={value!r}>").strip()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT :a", "SELECT <0=1>"),
        ("SELECT :a, :b, :a", "SELECT <0=1>, <1='x'>, <2=1>"),
        ("SELECT (:a)::text, x::int, x :: int", "SELECT (<0=1>)::text, x::int, x :: int"),
        ("SELECT ':a' || 'it''s :a' || :a", "SELECT ':a' || 'it''s :a' || <0=1>"),
        ("SELECT E'it\\'s :a', :a", "SELECT E'it\\'s :a', <0=1>"),
        ("SELECT 'C:\\' , :a", "SELECT 'C:\\' , <0=1>"),
        ('SELECT "odd:a "" :a", `:a`, :a', 'SELECT "odd:a "" :a", `:a`, <0=1>'),
        ("SELECT 1 -- :a\n, :a /* :a\n :a */", "SELECT 1 -- :a\n, <0=1> /* :a\n :a */"),
        ("SELECT $$:a$$, $x$ $$ :a $x$, :a", "SELECT $$:a$$, $x$ $$ :a $x$, <0=1>"),
        ("SELECT n[1:2], n[x:y], :a", "SELECT n[1:2], n[x:y], <0=1>"),
        ("SELECT @n:=:a", "SELECT @n:=<0=1>"),
        ("SELECT '12:30:00', 'a:b' LIKE '%a', :a%2", "SELECT '12:30:00', 'a:b' LIKE '%a', <0=1>%2"),
        ("SELECT :a_1", "SELECT <0='y'>"),
        ("SELECT ünïcode:a, :a", "SELECT ünïcode:a, <0=1>"),
    ],
)
def test_names_outside_of_text_are_values(sql: str, expected: str) -> None:
    """E.4: strings, quoted names, comments, casts, slices and `%` stay as they were written."""
    params = {name: value for name, value in {"a": 1, "b": "x", "a_1": "y"}.items() if repr(value) in expected}
    assert rendered(parse_query(sql, params, WHERE)) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'it\\'s :a', :a", "SELECT 'it\\'s :a', <0=1>"),
        ('SELECT "it\\"s :a", :a', 'SELECT "it\\"s :a", <0=1>'),
        ("SELECT 1 # :a\n, `:a`, :a", "SELECT 1 # :a\n, `:a`, <0=1>"),
    ],
)
def test_text_in_mysql(sql: str, expected: str) -> None:
    """In MySQL a backslash escapes a quote in every string, and `#` begins a comment."""
    assert rendered(parse_query(sql, {"a": 1}, WHERE, mysql=True)) == expected


@pytest.mark.parametrize("end", [";", " ; ; ", "\n;\n", ""])
def test_a_query_may_end_with_a_semicolon_or_a_comment(end: str) -> None:
    """What is put around a query can't end up in its last comment."""
    query = parse_query(f"SELECT 1 -- all{end}", {}, WHERE)
    assert query.within("SELECT * FROM (", ") q").texts == ("SELECT * FROM (SELECT 1 -- all\n) q",)


def test_a_query_within_another_keeps_its_values_first() -> None:
    """Inner and outer values stay where they belong."""
    query = parse_query("SELECT :a", {"a": 1}, WHERE).within("(", ") WHERE k > ", " LIMIT 5", values=("last",))
    assert rendered(query) == "(SELECT <0=1>\n) WHERE k > <1='last'> LIMIT 5"


def test_names_and_params_have_to_agree() -> None:
    """A forgotten or misspelt name is told before the database is asked."""
    with pytest.raises(
        UsageError, match="no value for :since in the query of 'shop_db': its params are 'form', 'sinc'"
    ):
        parse_query("SELECT :since, :form", {"sinc": 1, "form": 2}, WHERE)
    with pytest.raises(UsageError, match=r"no value for :since .*: its params are none"):
        parse_query("SELECT :since", {}, WHERE)
    with pytest.raises(UsageError, match="not used in the query of 'shop_db': 'a', 'b'; write them there as :name"):
        parse_query("SELECT ':a'", {"b": 1, "a": 2}, WHERE)
