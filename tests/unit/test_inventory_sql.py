"""SQL sources without a server: what is asked of a driver, on SQLite and on a driver that records."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import make_url

from sitemap_ops.connections import Database
from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory import Chunk, dbapi, read, sql
from sitemap_ops.inventory.postgres import libpq_uri
from sitemap_ops.site import SqlSource


@dataclass
class Fixed:
    """Connections to one database."""

    url: str | None = None
    connect: Callable[[], Any] | None = None

    def database(self, conn_id: str) -> Database:
        return Database(conn_id, url=make_url(self.url) if self.url else None, connect=self.connect)

    def s3(self, conn_id: str | None) -> Any:
        raise AssertionError


def read_sql(
    connections: Fixed, query: str, columns: tuple[str, ...] = ("id",), *, chunk_rows: int = 1000, **settings: Any
) -> Iterator[Chunk]:
    source = SqlSource(type="sql", conn_id="shop_db", query=query, **settings)
    return read(source, columns, connections, chunk_rows=chunk_rows)


def values(chunks: Iterator[Chunk], column: str = "id") -> list[Any]:
    return [value for chunk in chunks for value in chunk.rows[column].tolist()]


@pytest.fixture
def shop(tmp_path: Path) -> Fixed:
    """A SQLite database with 1,000 products, ids from 1."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE product (id INTEGER PRIMARY KEY, slug TEXT, maybe INTEGER)")
        rows = ((n, f"p{n}%", n if n > 900 else None) for n in range(1, 1001))
        connection.executemany("INSERT INTO product VALUES (?, ?, ?)", rows)
    connection.close()
    return Fixed(f"sqlite:///{tmp_path}/shop.db")


class Driver:
    """A DB-API driver that records what is asked of it, and can break off."""

    def __init__(self, rows: int, *, breaks_at: int | None = None) -> None:
        self.left, self.breaks_at = rows, breaks_at
        self.executed: list[tuple[Any, ...]] = []
        self.fetches: list[int] = []
        self.closed = 0
        self.description: list[tuple[str]] | None = [("id",), ("other",)]

    def cursor(self) -> Driver:
        return self

    def execute(self, *arguments: Any) -> None:
        self.executed.append(arguments)

    def fetchmany(self, size: int) -> list[tuple[int, bytes]]:
        if self.breaks_at is not None and len(self.fetches) == self.breaks_at:
            raise sqlite3.OperationalError("the line went dead: s3cret/word at db.example\nmore")
        self.fetches.append(size)
        count = min(size, self.left)
        self.left -= count
        return [(self.left + n, b"x") for n in range(count)]

    def fetchall(self) -> None:
        raise AssertionError("the whole result was asked for")

    def close(self) -> None:
        self.closed += 1


def test_rows_are_fetched_page_by_page() -> None:
    """C-87: more than one fetch happens, none of them for the whole result, and the connection is closed."""
    driver = Driver(100_000)
    chunks = read_sql(Fixed(connect=lambda: driver), "SELECT id FROM product", chunk_rows=40_000)
    first = next(chunks)
    assert len(driver.fetches) < 4
    assert [len(first.rows), *(len(chunk.rows) for chunk in chunks)] == [40_000, 40_000, 20_000]
    assert driver.fetches == [dbapi.FETCH_ROWS] * 6
    assert driver.closed == 1


def test_a_query_without_params_reaches_the_driver_as_it_is() -> None:
    """E.4: without params nothing is special, so no `%` or `:word` has to be doubled or escaped."""
    driver = Driver(1)
    list(read_sql(Fixed(connect=lambda: driver), "SELECT id FROM product WHERE a LIKE '%x' AND b = ':c';"))
    assert driver.executed == [("SELECT id FROM product WHERE a LIKE '%x' AND b = ':c'\n",)]


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("qmark", ("SELECT 5 % ?, ?\n", (1, "x"))),
        ("format", ("SELECT 5 %% %s, %s\n", (1, "x"))),
        ("pyformat", ("SELECT 5 %% %(p0)s, %(p1)s\n", {"p0": 1, "p1": "x"})),
        ("named", ("SELECT 5 % :p0, :p1\n", {"p0": 1, "p1": "x"})),
        ("numeric", ("SELECT 5 % :1, :2\n", (1, "x"))),
    ],
)
def test_values_are_bound_in_the_drivers_own_style(
    style: str, expected: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """PEP 249: values are bound, never pasted, in whichever style the driver has."""
    monkeypatch.setattr(dbapi.importlib, "import_module", lambda _: SimpleNamespace(paramstyle=style))
    driver = Driver(1)
    list(read_sql(Fixed(connect=lambda: driver), "SELECT 5 % :n, :s", params={"n": 1, "s": "x"}))
    assert driver.executed == [expected]


def test_a_read_that_breaks_off_is_an_error() -> None:
    """A read cut short never counts as complete; the message has the connection's id and no second line."""
    driver = Driver(10**9, breaks_at=3)
    chunks = read_sql(Fixed(connect=lambda: driver), "SELECT id FROM product", chunk_rows=20_000)
    with pytest.raises(
        SourceError, match=r"The read of 'shop_db' was cut off after 60,000 rows: the line went dead"
    ) as e:
        list(chunks)
    assert "more" not in str(e.value)
    assert driver.closed == 1


def test_a_message_never_holds_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver may repeat the password; the error does not, in any of its spellings."""
    driver = Driver(1, breaks_at=0)
    monkeypatch.setattr(dbapi, "connect_by_url", lambda url: driver)
    with pytest.raises(SourceError, match=r"The query of 'shop_db' failed: the line went dead: \*\*\*") as raised:
        list(read_sql(Fixed("sqlite://user:s3cret%2Fword@db.example/x"), "SELECT 1 AS id"))
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


def test_rows_that_a_driver_gives_as_mappings() -> None:
    """A connection may be set to give dicts: their values are the row, not their keys."""
    driver = Driver(3)
    tuples = driver.fetchmany
    driver.fetchmany = lambda size: [dict(zip(("id", "other"), row, strict=True)) for row in tuples(size)]  # type: ignore
    assert values(read_sql(Fixed(connect=lambda: driver), "SELECT id FROM product")) == [0, 1, 2]


def test_a_statement_that_is_no_query() -> None:
    """An UPDATE by mistake is told as one."""
    driver = Driver(0)
    driver.description = None
    with pytest.raises(SourceError, match="Nothing comes back from the query of 'shop_db': it has to be a SELECT"):
        list(read_sql(Fixed(connect=lambda: driver), "UPDATE product SET id = 1"))


def test_sqlite(shop: Fixed) -> None:
    """Any SQLAlchemy URL is read, here SQLite's: typed, numbered, with bound values."""
    query = "SELECT * FROM product WHERE slug LIKE '%\\%' ESCAPE '\\' AND id > :low AND slug <> :s ORDER BY id"
    params = {"low": 800, "s": "p801%' OR 1=1 --"}
    chunks = list(read_sql(shop, query, ("slug", "maybe"), chunk_rows=90, params=params))
    assert [len(chunk.rows) for chunk in chunks] == [90, 90, 20]
    assert list(chunks[0].rows.columns) == ["slug", "maybe"]
    assert [int(number) for chunk in chunks for number in chunk.rows.index] == list(range(1, 201))
    assert chunks[0].rows["slug"].iloc[0] == "p801%"
    assert chunks[-1].rows["maybe"].iloc[-1] == 1000


def test_ids_never_become_floats(shop: Fixed) -> None:
    """C-90: a column of whole numbers with NULLs stays whole, whichever comes first."""
    for direction, expected in (("DESC", "int64[pyarrow]"), ("ASC", "int64[pyarrow]")):
        chunks = list(read_sql(shop, f"SELECT maybe AS id FROM product ORDER BY id {direction}"))
        assert {str(chunk.rows["id"].dtype) for chunk in chunks} == {expected}
        assert sorted(int(value) for value in chunks[0].rows["id"].dropna()) == list(range(901, 1001))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT slug FROM product", r"no column 'id' in the query of 'shop_db': its columns are 'slug'\."),
        ("SELECT slug FROM product WHERE false", r"no column 'id' in the query of 'shop_db': its columns are 'slug'\."),
        ("SELECT id, id FROM product", "2 columns named 'id' in the query of 'shop_db'"),
        ("SELECT nope AS id FROM product", r"The query of 'shop_db' failed: no such column: nope\."),
        ("SELEC", r"The query of 'shop_db' failed: .*syntax error\."),
        ("SELECT x'00' AS id", "The column 'id' of the query of 'shop_db' has values"),
    ],
)
def test_a_query_that_can_not_be_used(query: str, message: str, shop: Fixed) -> None:
    """C-86: the database's own first line, or what the columns were."""
    with pytest.raises(SourceError, match=message):
        list(read_sql(shop, query))


def test_no_rows_are_no_error(shop: Fixed) -> None:
    """An empty section is for the guards to judge."""
    assert list(read_sql(shop, "SELECT id FROM product WHERE id < 0")) == []


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("sqlite:////no/such/folder/x.db", SourceError, "The database of 'shop_db' can't be reached: unable to open"),
        ("oracle+nodriver://u:s3cret@h/x", UsageError, r"The driver for oracle\+nodriver is not installed"),
        ("nosuch://u:s3cret@h/x", UsageError, "The driver for nosuch is not installed"),
        (
            "mysql+pymysql://u:s3cret@127.0.0.1:1/x",
            SourceError,
            r"The database of 'shop_db' can't be reached: Can't conn",
        ),
        ("postgresql://u:s3cret@127.0.0.1:1/x", SourceError, "The database of 'shop_db' can't be reached: .*refused"),
        (None, UsageError, "The connection 'shop_db' has neither a URL nor a way to connect"),
    ],
)
def test_a_database_that_can_not_be_reached(url: str | None, error: type[Exception], message: str) -> None:
    """What is wrong with a connection is told apart from what is wrong with a query."""
    with pytest.raises(error, match=message) as raised:
        list(read_sql(Fixed(url), "SELECT 1 AS id"))
    assert "s3cret" not in str(raised.value)


def test_pages_by_a_key_give_every_row_once(shop: Fixed) -> None:
    """C-89: pages are ordered by the key; the key need not be among the columns."""
    query = 'SELECT slug, id AS "odd ""key?" FROM product ORDER BY slug -- ?'
    for page_rows in (97, 100, 999, 1000, 1001):
        chunks = list(read_sql(shop, query, ("slug",), key='odd "key?', page_rows=page_rows))
        assert [value for chunk in chunks for value in chunk.rows["slug"]] == [f"p{n}%" for n in range(1, 1001)]
        assert list(chunks[0].rows.columns) == ["slug"]


def test_a_key_with_nulls_or_repeats_is_an_error(shop: Fixed) -> None:
    """C-89: a page border among equal keys would lose rows, and no page has a NULL: neither is passed over."""
    with pytest.raises(SourceError, match="The key 'maybe' of the query of 'shop_db' is NULL in 900 rows"):
        list(read_sql(shop, "SELECT maybe FROM product", ("maybe",), key="maybe", page_rows=100))
    with pytest.raises(
        SourceError, match="The key 'k' of the query of 'shop_db' is not unique: 9 is there more than once"
    ):
        list(read_sql(shop, "SELECT id / 100 AS k FROM product", ("k",), key="k", page_rows=960))


def test_keys_that_only_a_collation_makes_equal_are_an_error(shop: Fixed, tmp_path: Path) -> None:
    """C-89: the database judges what is equal: here `a` and `A`, which differ as Python texts."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE tag (k TEXT COLLATE NOCASE)")
        connection.executemany("INSERT INTO tag VALUES (?)", [("a",), ("A",), ("b",)])
    connection.close()
    with pytest.raises(SourceError, match="is not unique"):
        list(read_sql(shop, "SELECT k FROM tag", ("k",), key="k", page_rows=1))
    assert len(values(read_sql(shop, "SELECT k FROM tag", ("k",), key="k", page_rows=3), "k")) == 3


class Flaky:
    """Connections of which each breaks at a fetch that is chosen for it."""

    def __init__(self, path: Path, breaks: list[int | None]) -> None:
        self.path, self.breaks, self.opened = path, breaks, 0

    def __call__(self) -> Any:
        at = self.breaks[self.opened] if self.opened < len(self.breaks) else None
        self.opened += 1
        if at == 0:
            raise sqlite3.OperationalError("no route to host")
        return _Breaking(sqlite3.connect(self.path), at)


@dataclass
class _Breaking:
    connection: sqlite3.Connection
    breaks_at: int | None
    fetched: int = 0
    real: Any = field(default=None)

    def cursor(self) -> _Breaking:
        self.real = self.connection.cursor()
        return self

    def execute(self, *arguments: Any) -> None:
        self.real.execute(*arguments)

    @property
    def description(self) -> Any:
        return self.real.description

    def fetchmany(self, size: int) -> Any:
        self.fetched += 1
        if self.fetched == self.breaks_at:
            raise sqlite3.OperationalError("server closed the connection unexpectedly")
        return self.real.fetchmany(size)

    def close(self) -> None:
        self.connection.close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What a read slept; pages of 10 rows a fetch."""
    slept: list[float] = []
    monkeypatch.setattr(sql.time, "sleep", slept.append)
    monkeypatch.setattr(dbapi, "FETCH_ROWS", 10)
    monkeypatch.setattr(dbapi, "_paramstyle", lambda _: "qmark")
    return slept


def test_a_dropped_connection_goes_on_after_the_last_row(shop: Fixed, tmp_path: Path, waits: list[float]) -> None:
    """A long read by pages outlives a dropped connection, wherever it drops: nothing is lost or doubled."""
    plans: list[list[int | None]] = [
        [None, None, 3],  # the second connection counts NULLs, here none; then within the first page
        [None, 5, None, 2, 0, 0, 7],
        [None, None, 4, 0, 0, 0, 0],
        [None, 4, *[None, 3] * 8],  # more often in all than in a row
    ]
    for breaks in plans:
        flaky = Flaky(tmp_path / "shop.db", breaks)
        ids = values(read_sql(Fixed(connect=flaky), "SELECT id FROM product", key="id", page_rows=100))
        assert ids == list(range(1, 1001))
        assert flaky.opened > len(breaks)
    assert waits


def test_retries_are_bounded_and_wait_longer_each_time(shop: Fixed, tmp_path: Path, waits: list[float]) -> None:
    """A database that stays away ends the read with the error it gave."""
    flaky = Flaky(tmp_path / "shop.db", [None, 4, *[0] * 50])
    with pytest.raises(SourceError, match="The database of 'shop_db' can't be reached: no route to host"):
        list(read_sql(Fixed(connect=flaky), "SELECT id FROM product", key="id", page_rows=100))
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_nothing_is_retried_before_the_first_row(shop: Fixed, tmp_path: Path, waits: list[float]) -> None:
    """A wrong query or password is told at once."""
    with pytest.raises(SourceError, match="can't be reached"):
        list(read_sql(Fixed(connect=Flaky(tmp_path / "shop.db", [None, 0])), "SELECT id FROM product", key="id"))
    assert waits == []


def test_a_reader_that_stops_early_closes_the_connection() -> None:
    """A caller may stop at any chunk."""
    driver = Driver(10**9)
    chunks = read_sql(Fixed(connect=lambda: driver), "SELECT id FROM product")
    next(chunks)
    del chunks
    gc.collect()
    assert driver.closed == 1


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:p%40%2F@db.example:6432/shop", "postgresql://u:p%40%2F@db.example:6432/shop?"),
        ("postgresql+psycopg://u@[::1]/shop?sslmode=verify-full", "postgresql://u@[::1]/shop?sslmode=verify-full"),
        ("postgresql+psycopg2://postgres@/s%20x?host=/tmp/a b", "postgresql://postgres@/s%20x?host=%2Ftmp%2Fa%20b"),
        ("postgresql:///shop?host=a&host=b&port=1&port=2", "postgresql:///shop?host=a%2Cb&port=1%2C2"),
        ("postgresql://db.example/shop?connect_timeout=3", "postgresql://db.example/shop?connect_timeout=3"),
    ],
)
def test_a_sqlalchemy_url_as_libpqs(url: str, expected: str) -> None:
    """Driver names go, every option of libpq stays, and what is not given has a time limit."""
    uri = libpq_uri(make_url(url))
    head, _, options = expected.partition("?")
    assert uri.partition("?")[0] == head
    assert set(filter(None, options.split("&"))) <= set(uri.partition("?")[2].split("&"))
    assert uri.count("connect_timeout=") == 1 and "keepalives_idle=60" in uri
