"""SQL sources on a real MariaDB, through PyMySQL's unbuffered cursor."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pymysql
import pytest
from sqlalchemy import make_url

from sitemap_ops.connections import Database
from sitemap_ops.errors import SourceError
from sitemap_ops.inventory import Chunk, read, split
from sitemap_ops.site import SqlSource
from tests.services.shared import missing

pytestmark = [pytest.mark.integration, pytest.mark.full]

ROWS = 200_000
START_SECONDS = 30

SCHEMA = f"""
CREATE TABLE kinds (id BIGINT, big BIGINT UNSIGNED, exact DECIMAL(30, 2), flag BOOL, word VARCHAR(20), doc JSON,
    day DATE, naive DATETIME(6), never DATETIME, nothing INT, raw BLOB, clock TIME) CHARACTER SET utf8mb4;
SET SESSION sql_mode = '';
INSERT INTO kinds VALUES (9007199254740993, 18446744073709551615, 12345678901234567890.10, true, 'ğ😀', '{{"a": 1}}',
    '2024-05-01', '2024-05-01 12:30:00.123456', '0000-00-00 00:00:00', NULL, 'x', '12:00:00');
CREATE TABLE page (id BIGINT PRIMARY KEY, slug VARCHAR(40) UNIQUE, note TEXT);
INSERT INTO page SELECT seq, CONCAT('page-', seq), REPEAT('x', 60) FROM seq_1_to_{ROWS};
"""


@pytest.fixture(scope="module")
def mariadb() -> Iterator[str]:
    """The URL of a MariaDB on a Unix socket, from the system's packages."""
    server, install = _program("mariadbd"), _program("mariadb-install-db")
    base = Path(server).parents[1]
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-") as folder:
        socket, data = f"{folder}/s.sock", f"{folder}/data"
        common = ["--no-defaults", f"--datadir={data}", f"--basedir={base}", f"--user={os.environ.get('USER', 'root')}"]
        normal = "--auth-root-authentication-method=normal"
        subprocess.run([install, *common, normal, "--skip-test-db"], check=True, capture_output=True)
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(
                [server, *common, "--skip-networking", f"--socket={socket}"], stdout=log, stderr=log
            )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not Path(socket).exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            with pymysql.connect(unix_socket=socket, autocommit=True) as connection, connection.cursor() as cursor:
                for statement in ["CREATE DATABASE shop", "USE shop", *filter(str.strip, SCHEMA.split(";\n"))]:
                    cursor.execute(statement)
            yield f"mysql+pymysql://root@/shop?unix_socket={socket}&charset=utf8mb4"
        finally:
            process.terminate()
            process.wait()


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if not found:
        missing(f"{name}: RUNLEVEL=1 apt-get install --no-install-recommends mariadb-server")
        raise AssertionError
    return found


def read_sql(url: str, query: str, *columns: str, connect: bool = False, **settings: Any) -> Iterator[Chunk]:
    parts = make_url(url)
    socket, name = parts.query["unix_socket"], parts.database

    def connection() -> Any:
        return pymysql.connect(unix_socket=socket, user="root", database=name, charset="utf8mb4")

    database = Database("shop_db", connect=connection) if connect else Database("shop_db", url=parts)
    source = SqlSource(type="sql", conn_id="shop_db", query=query, **settings)
    connections: Any = SimpleNamespace(database=lambda conn_id: database)
    return read(source, columns or ("id",), connections, chunk_rows=50_000)


def values(chunks: Iterator[Chunk], column: str = "id") -> list[Any]:
    return [value for chunk in chunks for value in chunk.rows[column].tolist()]


@pytest.mark.parametrize("connect", [False, True])
def test_each_type_is_plain(connect: bool, mariadb: str) -> None:
    """C-90: digits are kept; a zero date is the earliest date, for the guards of lastmod to find."""
    expected = {
        "id": 9007199254740993,
        "exact": "12345678901234567890.10",
        "flag": 1,
        "word": "ğ😀",
        "doc": '{"a": 1}',
        "day": date(2024, 5, 1),
        "naive": datetime.fromisoformat("2024-05-01T12:30:00.123456"),
    }
    (chunk,) = read_sql(mariadb, "SELECT * FROM kinds", *expected, connect=connect)
    assert chunk.rows.iloc[0].to_dict() == expected
    query = "SELECT never FROM kinds UNION ALL SELECT naive FROM kinds"
    times = values(read_sql(mariadb, query, "never", connect=connect), "never")
    assert min(times).replace(tzinfo=UTC) == datetime.min.replace(tzinfo=UTC)
    for column in ("raw", "clock", "big"):
        with pytest.raises(SourceError, match=f"The column '{column}' of the query of 'shop_db'"):
            list(read_sql(mariadb, "SELECT * FROM kinds", column, connect=connect))


def test_the_query_is_left_as_it_was_written(mariadb: str) -> None:
    """E.4: `%`, `:words` and a backslash before a quote in a string stay, with params and without."""
    query = "SELECT id FROM page WHERE slug LIKE '%-7' AND 'it\\'s :x' <> \"it''s %s :y\" # :z"
    assert values(read_sql(mariadb, query)) == [7]
    bound = query.replace(" #", " AND slug <> :s AND id < :top #")
    assert values(read_sql(mariadb, bound, params={"s": "\\' OR 1=1 -- ", "top": 8})) == [7]


@pytest.mark.parametrize("key", ["id", "slug"])
def test_pages_by_a_key(key: str, mariadb: str) -> None:
    """C-89: every row once, over pages."""
    for connect in (False, True):
        ids = values(read_sql(mariadb, "SELECT * FROM page", key=key, page_rows=70_000, connect=connect))
        assert sorted(ids) == list(range(1, ROWS + 1))


@pytest.mark.parametrize("key", ["id", "seen", "day"])
def test_parts_of_a_query_are_its_rows(key: str, mariadb: str) -> None:
    """Issue 5, Build 5: for each type of key that can be split, parts of one size that are the whole."""
    start = "TIMESTAMP'2024-01-01 00:00:00.5'"
    query = (
        f"SELECT id, {start} + INTERVAL id MINUTE AS seen, DATE({start} + INTERVAL id DAY) AS day FROM page"
        " WHERE id < 1000"
    )
    source = SqlSource(type="sql", conn_id="shop_db", query=query, key=key, page_rows=200, split=4)
    connections: Any = SimpleNamespace(database=lambda conn_id: Database(conn_id, url=make_url(mariadb)))
    parts = split(source, connections)
    ids = [values(read(source, ("id",), connections, span=part)) for part in parts]
    assert [value for part in ids for value in part] == list(range(1, 1000))
    assert [len(part) for part in ids] == pytest.approx([250] * 4, abs=1)


def test_keys_that_the_collation_makes_equal_are_an_error(mariadb: str) -> None:
    """C-89: `a` and `A` are equal in most of MariaDB's collations; at a border one of them would be lost."""
    query = "SELECT 'a' AS k UNION ALL SELECT 'A' UNION ALL SELECT 'b'"
    with pytest.raises(SourceError, match="The key 'k' of the query of 'shop_db' is not unique"):
        list(read_sql(mariadb, query, "k", key="k", page_rows=1))


def test_a_killed_connection_is_an_error(mariadb: str) -> None:
    """A read cut short never counts as complete; the rest is not read to the end first."""
    for command in ("KILL", "KILL QUERY"):
        chunks = read_sql(mariadb, "SELECT p.id, p.note FROM page p, seq_1_to_200 s", "id", "note")
        next(chunks)
        socket = make_url(mariadb).query["unix_socket"]
        with pymysql.connect(unix_socket=socket, user="root") as admin, admin.cursor() as cursor:
            cursor.execute("SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND db = 'shop'")
            for (number,) in cursor.fetchall():
                cursor.execute(f"{command} {number}")
        with pytest.raises(SourceError, match=r"The read of 'shop_db' was cut off after [\d,]+ rows: "):
            list(chunks)


def test_a_reader_that_stops_early_does_not_read_the_rest(mariadb: str) -> None:
    """PyMySQL's unbuffered cursor reads all that is left when it is closed: 40 million rows here."""
    chunks = read_sql(mariadb, "SELECT p.id, p.note FROM page p, seq_1_to_200 s", "id")
    next(chunks)
    closing = threading.Thread(target=chunks.close, daemon=True)  # type: ignore[attr-defined]
    started = time.monotonic()
    closing.start()
    closing.join(timeout=10)
    assert time.monotonic() - started < 5


MEASURE = """
import json, re, sys
from types import SimpleNamespace
from sqlalchemy import make_url
from sitemap_ops.connections import Database
from sitemap_ops.inventory import read
from sitemap_ops.site import SqlSource

database = Database("shop_db", url=make_url(sys.argv[1]))
connections = SimpleNamespace(database=lambda conn_id: database)

def high_water():  # not ru_maxrss, which is never below that of the process that started this one
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024

def peak(rows):
    query = f"SELECT seq AS id, REPEAT('x', 80) AS note FROM seq_1_to_{rows}"
    source = SqlSource(type="sql", conn_id="shop_db", query=query)
    count = sum(len(chunk.rows) for chunk in read(source, ("id", "note"), connections))
    assert count == rows
    return high_water()

print(json.dumps([peak(150_000), peak(600_000)]))
"""


def test_memory_stays_flat(mariadb: str) -> None:
    """C-87: four times the rows need no more memory."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, mariadb],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = json.loads(done.stdout)
    assert second - first < 30, f"peak of {first:.0f} MiB grew to {second:.0f} MiB"
