"""SQL sources on a real PostgreSQL: by ADBC, and by a DB-API driver's named cursor."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import psycopg2
import pytest
from sqlalchemy import make_url

from sitemap_ops.connections import Database
from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory import Chunk, Span, postgres, read, split, sql
from sitemap_ops.site import SqlSource
from tests.services.postgres import new_database

pytestmark = pytest.mark.integration

ROWS = 200_000

SCHEMA = f"""
CREATE TYPE mood AS ENUM ('ok');
CREATE TABLE kinds AS SELECT
    9007199254740993::bigint AS id, 7::smallint AS small, NULL::int AS nothing,
    12345678901234567890.10::numeric AS exact, 0.5::float8 AS ratio, true AS flag, 'ok'::mood AS mood,
    'a'::text AS word, 'b'::varchar(9) AS short, '803b2b07-83bd-48ad-9330-df0eb82df885'::uuid AS uuid,
    '{{"a": "ü"}}'::jsonb AS doc, '2024-05-01'::date AS day, '2024-05-01 12:30:00.123456'::timestamp AS naive,
    '2024-05-01 12:30:00+03'::timestamptz AS instant,
    '\\x00'::bytea AS bytes, '1 day'::interval AS span, '192.0.2.1'::inet AS address, '12.50'::money AS price;
CREATE TABLE page (id bigint PRIMARY KEY, slug text UNIQUE, seen timestamptz UNIQUE, ref uuid UNIQUE, note text);
INSERT INTO page SELECT g, 'page-' || g, '2024-01-01'::timestamptz + g * '1 microsecond'::interval, gen_random_uuid(),
    repeat('x', 60) FROM generate_series(1, {ROWS}) g;
CREATE TABLE canary (id int);
INSERT INTO canary VALUES (1);
"""

PLAIN = {
    "id": 9007199254740993,
    "small": 7,
    "exact": "12345678901234567890.10",
    "ratio": 0.5,
    "flag": "true",
    "mood": "ok",
    "word": "a",
    "short": "b",
    "uuid": "803b2b07-83bd-48ad-9330-df0eb82df885",
    "doc": '{"a": "ü"}',
    "day": date(2024, 5, 1),
    "naive": datetime.fromisoformat("2024-05-01T12:30:00.123456"),
    "instant": datetime(2024, 5, 1, 9, 30, tzinfo=UTC),
}


@dataclass
class Reader:
    """One way to the database."""

    url: str
    connect: Callable[[], Any] | None = None

    def database(self, conn_id: str) -> Database:
        if self.connect:
            return Database(conn_id, connect=self.connect)
        return Database(conn_id, url=make_url(self.url))

    def s3(self, conn_id: str | None) -> Any:
        raise AssertionError

    def read(self, query: str, *columns: str, chunk_rows: int = 50_000, **settings: Any) -> Iterator[Chunk]:
        source = SqlSource(type="sql", conn_id="shop_db", query=query, **settings)
        return read(source, columns or ("id",), self, chunk_rows=chunk_rows)

    def values(self, query: str, column: str = "id", **settings: Any) -> list[Any]:
        return [value for chunk in self.read(query, column, **settings) for value in chunk.rows[column].tolist()]


@pytest.fixture(scope="module")
def shop_url(postgres_url: str) -> str:
    url = new_database(postgres_url)
    with psycopg.connect(url) as connection:
        connection.execute(SCHEMA)
    return url


@pytest.fixture
def admin(shop_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shop_url, autocommit=True) as connection:
        yield connection


WAYS = ["adbc", "sqlalchemy", "psycopg", "psycopg2"]


def reader_of(way: str, url: str, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(postgres, "is_available", lambda: way == "adbc")
    drivers = {"psycopg": lambda: psycopg.connect(url), "psycopg2": lambda: psycopg2.connect(url)}
    return Reader(url.replace("postgresql://", "postgresql+psycopg://"), drivers.get(way))


@pytest.fixture(params=WAYS)
def shop(request: pytest.FixtureRequest, shop_url: str, monkeypatch: pytest.MonkeyPatch) -> Reader:
    return reader_of(request.param, shop_url, monkeypatch)


@pytest.fixture
def fast(shop_url: str, monkeypatch: pytest.MonkeyPatch) -> Reader:
    return reader_of("adbc", shop_url, monkeypatch)


def test_each_type_is_plain_and_the_same_by_every_way(shop: Reader) -> None:
    """C-90: whole numbers and decimals keep every digit, ids are text, times are told naive from aware."""
    (chunk,) = shop.read("SELECT * FROM kinds", *PLAIN)
    assert chunk.rows.iloc[0].to_dict() == PLAIN
    (chunk,) = shop.read("SELECT * FROM kinds", "nothing")
    assert chunk.rows["nothing"].isna().all()


@pytest.mark.parametrize("column", ["bytes", "span"])
def test_a_type_without_a_plain_form_is_an_error(column: str, shop: Reader) -> None:
    """Bytes and intervals are never guessed at."""
    with pytest.raises(SourceError, match=f"The column '{column}' of the query of 'shop_db'"):
        list(shop.read("SELECT * FROM kinds", column))


@pytest.mark.parametrize("way", WAYS)
def test_a_database_in_another_encoding(way: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-93: text comes as UTF-8 from any server; bytes that a SQL_ASCII database never looked at are an error."""
    reader = reader_of(way, new_database(postgres_url, encoding="LATIN5"), monkeypatch)
    assert reader.values("SELECT 'ğüş' || length('ğüş') AS id") == ["ğüş3"]
    unread = new_database(postgres_url, encoding="SQL_ASCII")
    with psycopg.connect(unread) as connection:
        connection.execute("CREATE TABLE page AS SELECT 'caf' || E'\\351' AS id")
    with pytest.raises(SourceError, match="'shop_db'"):
        list(reader_of(way, unread, monkeypatch).read("SELECT id FROM page"))


@pytest.mark.parametrize(("column", "kind"), [("price", "money"), ("address", "inet")])
def test_what_adbc_gives_raw_is_an_error(column: str, kind: str, fast: Reader) -> None:
    """ADBC gives money as cents, so that 12.50 would be 1250, and addresses as the server's own bytes."""
    with pytest.raises(SourceError, match=f"The column '{column}' of the query of 'shop_db' is of type {kind}"):
        list(fast.read("SELECT * FROM kinds", column))


def test_the_query_is_left_as_it_was_written(shop: Reader) -> None:
    """E.4: `%`, casts, and `:words` in strings and comments mean the same by every way, with params and without."""
    query = "SELECT id::text AS id FROM page WHERE slug LIKE '%-7' AND 'a:b' <> ':id' -- :id 100%"
    assert shop.values(query) == ["7"]
    assert shop.values(query.replace(" --", " AND id < :top --"), params={"top": 8}) == ["7"]


def test_values_take_the_type_that_the_query_gives_them(shop: Reader) -> None:
    """A date in the site file is a text there, and a time in the query."""
    query = (
        "SELECT id FROM page WHERE seen <= :upto AND ref::text <> :ref AND id > :low AND :flag AND :none::int IS NULL"
    )
    params = {"upto": "2024-01-01T00:00:00.000010+00:00", "ref": "", "low": 7, "flag": True, "none": None}
    assert sorted(shop.values(query, params=params)) == [8, 9, 10]


@pytest.mark.parametrize(
    "payload",
    [
        "'; DELETE FROM canary; --",
        "\\'; DELETE FROM canary; --",
        "''; DELETE FROM canary; --",
        "\\\\'; DELETE FROM canary; --",
        "x' OR 1=1 --",
        "$$; DELETE FROM canary; $$",
        "%s %(a)s %% {0} :a $1 ?",
        '"; DELETE FROM canary; --',
        "/* */'; DELETE FROM canary /* */",
        "E'\\''; DELETE FROM canary; --",
        "ʼ; DELETE FROM canary; --",
        "\n'\n;DELETE FROM canary;\n",
    ],
)
def test_a_value_is_never_code(payload: str, shop: Reader, admin: psycopg.Connection[Any]) -> None:
    """Whatever a value holds comes back as it was, and nothing of it is run."""
    assert shop.values("SELECT CAST(:v AS text) AS id", params={"v": payload}) == [payload]
    assert admin.execute("SELECT count(*) FROM canary").fetchone() == (1,)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT slug FROM page WHERE false", r"no column 'id' in the query of 'shop_db': its columns are 'slug'\."),
        ("SELECT nope AS id FROM page", r"^The query of 'shop_db' failed: column \"nope\" does not exist\.$"),
        ("SELEC", r"^The query of 'shop_db' failed: syntax error at or near \"selec\"\.$|SELEC"),
        ("SELECT 1/0 AS id", r"^The query of 'shop_db' failed: division by zero\.$"),
        ("DELETE FROM canary", r"^The query of 'shop_db' failed: "),
    ],
)
def test_what_the_database_refuses(query: str, message: str, shop: Reader, admin: psycopg.Connection[Any]) -> None:
    """The database's own first line, and the connection's id."""
    with pytest.raises(SourceError, match=message) as raised:
        list(shop.read(query))
    assert "\n" not in str(raised.value)
    assert admin.execute("SELECT count(*) FROM canary").fetchone() == (1,)


def test_an_error_in_the_middle_of_a_result_is_an_error(shop: Reader) -> None:
    """Rows that came before the error are not taken for all of them."""
    with pytest.raises(SourceError, match="division by zero"):
        list(shop.read(f"SELECT 1 / (id - {ROWS - 1}) AS id FROM page"))


def test_no_password_in_what_is_raised(shop_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused login says who and where, never the password or the URL."""
    for way in ("adbc", "sqlalchemy"):
        reader = reader_of(way, shop_url.replace("postgres@", "nobody:s3cret%2Fpass@"), monkeypatch)
        with pytest.raises(SourceError, match=r"The database of 'shop_db' can't be reached: .*nobody") as raised:
            list(reader.read("SELECT 1 AS id"))
        for text in (str(raised.value), repr(raised.value), repr(reader.database("x"))):
            assert "s3cret" not in text and "postgresql" not in text


def test_one_snapshot_that_nothing_is_written_in(fast: Reader) -> None:
    """The fast path reads in one REPEATABLE READ, READ ONLY transaction."""
    query = "SELECT current_setting('transaction_isolation') || current_setting('transaction_read_only') AS id"
    assert fast.values(query) == ["repeatable readon"]


def test_every_row_once_in_full_chunks(shop: Reader) -> None:
    """The whole result, numbered from 1."""
    chunk_rows = 30_000
    chunks = list(shop.read("SELECT id FROM page ORDER BY id", chunk_rows=chunk_rows))
    assert {len(chunk.rows) for chunk in chunks[:-1]} == {chunk_rows}
    assert [number for chunk in chunks for number in chunk.rows.index] == list(range(1, ROWS + 1))
    assert [int(value) for chunk in chunks for value in chunk.rows["id"]] == list(range(1, ROWS + 1))


def readers_in(admin: psycopg.Connection[Any]) -> list[int]:
    found = admin.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    return [pid for (pid,) in found.fetchall()]


def kill_readers(admin: psycopg.Connection[Any]) -> None:
    for pid in readers_in(admin):
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_killed_backend_is_an_error(shop: Reader, admin: psycopg.Connection[Any]) -> None:
    """A read cut short never counts as complete: here by pg_terminate_backend while rows are on their way."""
    chunks = shop.read("SELECT * FROM page a, generate_series(1, 20)", "id", "note")
    next(chunks)
    kill_readers(admin)
    with pytest.raises(SourceError, match=r"The read of 'shop_db' was cut off after [\d,]+ rows: ") as raised:
        list(chunks)
    assert "postgresql" not in str(raised.value)


def test_a_reader_that_stops_early_leaves_no_connection(shop: Reader, admin: psycopg.Connection[Any]) -> None:
    """A caller may stop at any chunk; nothing is left open on the server."""
    chunks = shop.read("SELECT * FROM page a, generate_series(1, 20)", "id")
    next(chunks)
    assert readers_in(admin)
    started = time.monotonic()
    chunks.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 2
    deadline = time.monotonic() + 5
    while readers_in(admin) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert readers_in(admin) == []


@contextmanager
def cutting(url: str, folder: Path, after: list[int]) -> Iterator[str]:
    """The URL of a proxy that passes so many bytes of each connection's answers, one number each, and then hangs up."""
    upstream = parse_qs(urlsplit(url).query)["host"][0] + "/.s.PGSQL.5432"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / ".s.PGSQL.5432"))
    server.listen()
    stopped = threading.Event()

    def pump(source: socket.socket, target: socket.socket, limit: int | None) -> None:
        with suppress(OSError):
            while (limit is None or limit > 0) and (
                part := source.recv(65_536 if limit is None else min(limit, 65_536))
            ):
                target.sendall(part)
                limit = None if limit is None else limit - len(part)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            while not stopped.is_set():
                client, _ = server.accept()
                answer = socket.socket(socket.AF_UNIX)
                answer.connect(upstream)
                limit = after.pop(0) if after else None
                threading.Thread(target=pump, args=(client, answer, None), daemon=True).start()
                threading.Thread(target=pump, args=(answer, client, limit), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield url.replace(parse_qs(urlsplit(url).query)["host"][0], str(folder))
    finally:
        stopped.set()
        server.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_connection_that_ends_anywhere_is_an_error(
    way: str, shop_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection cut at any byte of the answer, in the login too, never gives fewer rows in silence."""
    offsets = [1, 100, 700, 5_000, 100_001, 1_000_000, 8_000_000]
    for offset in offsets:
        (folder := tmp_path / str(offset)).mkdir()
        with cutting(shop_url, folder, [offset] * 9) as url:
            reader = reader_of(way, url, monkeypatch)
            with pytest.raises(SourceError, match=r"of 'shop_db' (was cut off|failed|can't be reached)"):
                list(reader.read("SELECT id, note FROM page", "id", "note"))


@pytest.mark.parametrize("way", ["adbc", "psycopg"])
@pytest.mark.parametrize("key", ["id", "slug", "seen", "ref"])
def test_pages_by_a_key_outlive_dropped_connections(
    way: str, key: str, shop_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-89: whatever type the key has, and wherever connections end, each row comes once, and in order of the key."""
    monkeypatch.setattr(sql.time, "sleep", lambda _: None)
    whole = 10**9
    cuts = [*[whole] * 4, 900_000, 300, 10, whole, whole, 2_500_000, 2_500_000, 2_500_000, 700, whole, 1_000_000, 5_000]
    with cutting(shop_url, tmp_path, cuts) as url:
        reader = reader_of(way, url, monkeypatch)
        query = "SELECT id, slug, seen, ref, note FROM page WHERE id <= :top"
        ids = reader.values(query, key=key, page_rows=25_000, params={"top": ROWS - 1})
    assert cuts == []
    assert sorted(ids) == list(range(1, ROWS))
    if key in ("id", "seen"):
        assert ids == sorted(ids)


def test_pages_need_a_key_without_nulls_and_repeats(shop: Reader) -> None:
    """C-89: nothing is lost or doubled at a border without a word."""
    with pytest.raises(SourceError, match="The key 'id' of the query of 'shop_db' is NULL in 1 rows"):
        list(shop.read("SELECT nullif(id, 9) AS id FROM page WHERE id < 20", key="id", page_rows=4))
    with pytest.raises(SourceError, match="The key 'id' of the query of 'shop_db' is not unique: 0 is there"):
        list(shop.read("SELECT id / 10 AS id FROM page WHERE id < 20", key="id", page_rows=4))


SPANNED = (
    "SELECT id, seen, seen AT TIME ZONE 'UTC' AS naive, date '2024-01-01' + id::int AS day FROM page WHERE id <= :top"
)


def test_parts_of_a_query_are_its_rows(shop: Reader) -> None:
    """Issue 5, Build 5: by every way, for each type of key that can be split: parts of one size that are the whole."""
    for key in ("id", "seen", "naive", "day"):
        source = SqlSource(type="sql", conn_id="shop_db", query=SPANNED, params={"top": 999}, key=key, split=2)
        written = json.dumps([part and part.to_json() for part in split(source, shop)])
        parts = [Span.from_json(part) for part in json.loads(written)]
        ids = [[int(n) for chunk in read(source, ("id",), shop, span=part) for n in chunk.rows["id"]] for part in parts]
        assert [n for part in ids for n in part] == list(range(1, 1000)), key
        assert [len(part) for part in ids] == pytest.approx([500, 500], abs=1), key


def test_keys_that_can_not_be_split(shop: Reader, fast: Reader) -> None:
    """Text, fractions and times that no calendar has are refused in a sentence, whatever the driver makes of them."""
    infinity = "'infinity'::timestamp + id * interval '1 s'"  # psycopg2 takes it for the last day of the year 9999
    for reader, key in ((shop, "slug"), (shop, "ref"), (shop, "id / 2.0"), (fast, infinity)):
        query = f"SELECT {key} AS key FROM page WHERE id < 9"
        with pytest.raises((UsageError, SourceError), match=r"^The (key|column|query|read) .*'shop_db'"):
            split(SqlSource(type="sql", conn_id="shop_db", query=query, key="key", split=4), reader)


MEASURE = """
import json, re, sys
from types import SimpleNamespace
from sqlalchemy import make_url
from sitemap_ops.connections import Database
from sitemap_ops.inventory import postgres, read
from sitemap_ops.site import SqlSource

url, way, rows = make_url(sys.argv[1]), sys.argv[2], int(sys.argv[3])
postgres.is_available = lambda: way == "adbc"
connections = SimpleNamespace(database=lambda conn_id: Database(conn_id, url=url))

def high_water():  # not ru_maxrss, which is never below that of the process that started this one
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024

def peak(rows):
    query = f"SELECT g AS id, repeat('x', 80) AS note FROM generate_series(1, {rows}) g"
    source = SqlSource(type="sql", conn_id="shop_db", query=query)
    count = sum(len(chunk.rows) for chunk in read(source, ("id", "note"), connections))
    assert count == rows
    return high_water()

print(json.dumps([peak(rows // 3), peak(rows)]))
"""


@pytest.mark.parametrize(("way", "rows"), [("adbc", 3_000_000), ("sqlalchemy", 900_000)])
def test_memory_stays_flat(way: str, rows: int, shop_url: str) -> None:
    """C-87: three times the rows need no more memory; kept, they would need 50 MiB more, and as Python objects 100."""
    url = shop_url.replace("postgresql://", "postgresql+psycopg://")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, url, way, str(rows)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = json.loads(done.stdout)
    assert second - first < 30, f"peak of {first:.0f} MiB grew to {second:.0f} MiB"
