"""SQL: one query, streamed by the fastest way there is to its database, or read in pages by a key.

A read that is cut short is an error, never a short inventory. With `key`, a unique column of the query, each page is a
query of its own, ordered by the key (C-89); a dropped connection is opened again and the read goes on after the last
row that it gave. With `split` too, a read may be of one span of the key.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from sitemap_ops.errors import SitemapOpsError, SourceError, UsageError
from sitemap_ops.inventory import dbapi, postgres
from sitemap_ops.inventory.chunk import Chunk, numbered
from sitemap_ops.inventory.query import MakeQuery, Query, parse_query
from sitemap_ops.inventory.spans import Span, spans_between
from sitemap_ops.inventory.values import Column

if TYPE_CHECKING:
    import pyarrow as pa

    from sitemap_ops.connections import Connections, Database
    from sitemap_ops.site import SqlSource

RETRIES = 5
FIRST_WAIT = 1.0
"""Seconds before the first reconnection; each further wait is twice as long: 31 s in all."""


ADBC_PREFIX = re.compile(r"^(?:[A-Z_]+: )?\[libpq\] ")

_log = logging.getLogger(__name__)


class DatabaseError(SourceError):
    """A database refused or dropped a read; the rows so far are not the whole."""


def read_sql(
    source: SqlSource,
    columns: Sequence[str],
    connections: Connections,
    chunk_rows: int,
    urls: Collection[str] = (),
    span: Span | None = None,
) -> Iterator[Chunk]:
    """The wanted columns of a query's rows, in plain types (see `plain`) that stay the same over all chunks.

    span: of `key`, as `split_sql` gives it; None reads all rows. Raises SourceError where the database refuses the
    query or drops the read, a column is missing, has no plain type or values of several kinds, or `key` has NULLs or is
    not unique; UsageError where query and params don't fit.
    """
    database = connections.database(source.conn_id)
    if source.key is None:
        batches = _Reader(database, columns, urls).rows(_whole(source))
    else:
        reader = _Reader(database, list(dict.fromkeys([*columns, source.key])), urls)
        pages = _pages(reader, source, source.key, span or Span(1, None, None))
        batches = (batch.select(list(columns)) for batch in pages)
    yield from numbered(batches, chunk_rows)


def split_sql(source: SqlSource, connections: Connections) -> list[Span]:
    """The spans of `key` in which a query's rows are read side by side: `split` of them, fewer where keys are few.

    They are equally wide, which asks the database for no more than the smallest and the largest key. Raises UsageError
    for keys that are neither whole numbers nor dates, SourceError as `read_sql` does.
    """
    reader = _Reader(connections.database(source.conn_id), ["low", "high"])
    (batch,) = reader.rows(_extremes(source))
    try:
        low, high = (batch.column(name)[0].as_py() for name in ("low", "high"))
    except (ValueError, OverflowError):  # PostgreSQL's infinity, for one
        low = high = "a time that no calendar has"
    if low is None:
        return spans_between(0, 0, 1)
    if not isinstance(low, int | date):
        raise UsageError(
            f"The key {source.key!r} of {reader.where} can't be split: its values are no whole numbers or dates, such"
            f" as {low!r}. Name another key that is unique, or leave split out."
        )
    return spans_between(low, high, source.split)


class _Reader:
    """A database's way of giving some columns; whatever its driver raises becomes a DatabaseError without secrets."""

    def __init__(self, database: Database, columns: Sequence[str], urls: Collection[str] = ()) -> None:
        self.database = database
        self.where = _where(database.conn_id)
        self.urls = urls
        self.columns = [Column(name, self.where, urls) for name in columns]

    def rows(self, make_query: MakeQuery) -> Iterator[pa.RecordBatch]:
        conn_id, count = self.database.conn_id, 0
        failure = f"The database of {conn_id!r} can't be reached"
        try:
            stream = self._connect()
            failure = f"The query of {conn_id!r} failed"
            for batch in stream(make_query):
                count += batch.num_rows
                failure = f"The read of {conn_id!r} was cut off after {count:,} rows"
                yield batch
        except SitemapOpsError:
            raise
        except Exception as error:
            raise DatabaseError(f"{failure}: {_first_line(error, self.database)}") from None

    def _connect(self) -> Callable[[MakeQuery], Iterator[pa.RecordBatch]]:
        url, connect = self.database.url, self.database.connect
        if url is not None and url.get_backend_name() == "postgresql" and postgres.is_available():
            names = [column.name for column in self.columns]
            return partial(postgres.stream, postgres.connect(url), columns=names, where=self.where, urls=self.urls)
        if url is not None:
            connect = partial(dbapi.connect_by_url, url)
        if connect is None:
            raise UsageError(f"The connection {self.database.conn_id!r} has neither a URL nor a way to connect.")
        return partial(dbapi.stream, connect(), columns=self.columns)


def _pages(reader: _Reader, source: SqlSource, key: str, span: Span) -> Iterator[pa.RecordBatch]:
    database = reader.database
    # The first span's, for all of them: NULL is in none.
    nulls = _count(database, source, "IS NULL") if span.start is None else 0
    if nulls:
        raise SourceError(f"The key {key!r} of {reader.where} is NULL in {nulls:,} rows, which no page would have.")
    last: Any = None
    failures = 0
    while True:
        rows = 0
        try:
            if last is not None and _count(database, source, "= ", last) > 1:
                raise SourceError(f"The key {key!r} of {reader.where} is not unique: {last!r} is there more than once.")
            for batch in reader.rows(_page(source, span, last)):
                rows += batch.num_rows
                last = batch.column(key)[-1].as_py()
                failures = 0
                yield batch
        except DatabaseError as error:
            if last is None or failures == RETRIES:
                raise
            wait = FIRST_WAIT * 2**failures
            failures += 1
            _log.warning("%s Reading on after the key %r in %.0f s.", error, last, wait)
            time.sleep(wait)
            continue
        if rows < source.page_rows:
            return


def _whole(source: SqlSource) -> MakeQuery:
    return lambda mysql: parse_query(source.query, source.params, _where(source.conn_id), mysql=mysql)


def _page(source: SqlSource, span: Span, last: Any) -> MakeQuery:
    after = ("> ", last) if last is not None else (">= ", span.start)
    conditions = [(sign, value) for sign, value in (after, ("< ", span.end)) if value is not None]

    def make(mysql: bool) -> Query:
        key = _quoted(source.key, mysql)
        texts = [") q"]
        for word, (sign, _) in zip(("WHERE", "AND"), conditions, strict=False):
            texts[-1] += f" {word} {key} {sign}"
            texts.append("")
        texts[-1] += f" ORDER BY {key} LIMIT {source.page_rows}"
        values = tuple(value for _, value in conditions)
        return _whole(source)(mysql).within("SELECT * FROM (\n", *texts, values=values)

    return make


def _extremes(source: SqlSource) -> MakeQuery:
    def make(mysql: bool) -> Query:
        key = _quoted(source.key, mysql)
        before = f"SELECT min({key}) AS low, max({key}) AS high FROM (\n"  # noqa: S608 - the name is quoted
        return _whole(source)(mysql).within(before, ") q")

    return make


def _count(database: Database, source: SqlSource, condition: str, *values: Any) -> int:
    def make(mysql: bool) -> Query:
        after = f") q WHERE {_quoted(source.key, mysql)} {condition}"
        ends = [""] if values else []
        return _whole(source)(mysql).within("SELECT count(*) AS n FROM (\n", after, *ends, values=values)

    (batch,) = _Reader(database, ["n"]).rows(make)
    count: int = batch.column("n")[0].as_py()
    return count


def _quoted(name: str | None, mysql: bool) -> str:
    mark = "`" if mysql else '"'
    return mark + str(name).replace(mark, mark * 2) + mark


def _where(conn_id: str) -> str:
    return f"the query of {conn_id!r}"


def _first_line(error: Exception, database: Database) -> str:
    """What the database itself said first, without the password that a driver may repeat."""
    error = getattr(error, "orig", None) or error
    text = error.args[1] if len(error.args) == 2 and isinstance(error.args[1], str) else str(error)
    said = re.search(r"(?:ERROR|FATAL|PANIC):\s*(.+)", text)
    first = (text.strip() or type(error).__name__).splitlines()[0]
    line = said[1] if said else ADBC_PREFIX.sub("", first)
    password = str(database.url.password) if database.url is not None and database.url.password else ""
    for secret in filter(None, (password, quote(password, safe=""), quote_plus(password))):
        line = line.replace(secret, "***")
    return line.strip().rstrip(".") + "."
