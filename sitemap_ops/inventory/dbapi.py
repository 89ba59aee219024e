"""Any DB-API driver, through a cursor that streams: rows are fetched page by page, never the whole result (C-87).

PostgreSQL's drivers have named cursors for it, which live on the server, MySQL's have unbuffered ones; others stream by
themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sitemap_ops.errors import SourceError, UsageError
from sitemap_ops.inventory.chunk import positions
from sitemap_ops.inventory.values import Column

if TYPE_CHECKING:
    from sqlalchemy import URL

    from sitemap_ops.inventory.query import MakeQuery, Query

FETCH_ROWS = 20_000

POSTGRESQL = {"psycopg", "psycopg2"}
MYSQL = {"pymysql", "MySQLdb"}

MYSQL_SESSION = "SET SESSION net_write_timeout = 3600"
"""MySQL waits 60 s for a client that takes no rows, and then drops it; sorting what was read can take longer."""


def connect_by_url(url: URL) -> Any:
    """A DB-API connection of one's own to what a SQLAlchemy URL says, set up as SQLAlchemy does.

    Raises UsageError where the URL's driver is not installed.
    """
    from sqlalchemy import create_engine, pool
    from sqlalchemy.exc import NoSuchModuleError

    try:
        engine = create_engine(url, poolclass=pool.NullPool)
    except (ImportError, NoSuchModuleError):
        raise UsageError(
            f"The driver for {url.drivername} is not installed: pip install it beside sitemap-ops."
        ) from None
    pooled = engine.raw_connection()
    connection = pooled.driver_connection
    pooled.detach()
    return connection


def stream(connection: Any, make_query: MakeQuery, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """The columns of a query's rows, in the order wanted; raises what the driver raises.

    Closes the connection and not the cursor: MySQL's cursors read all that is left when they are closed.
    """
    with _abandoning(connection):
        query = make_query(bool(_drivers(connection) & MYSQL))
        cursor = _streaming_cursor(connection)
        sql, arguments = _statement(query, connection)
        cursor.execute(*([sql, arguments] if arguments else [sql]))
        page = cursor.fetchmany(FETCH_ROWS)  # psycopg2's named cursors have no description before
        where = columns[0].where
        if cursor.description is None:
            raise SourceError(f"Nothing comes back from {where}: it has to be a SELECT.")
        names = [description[0] for description in cursor.description]
        places = positions(names, [column.name for column in columns], where)
        while page:
            rows = [row.values() for row in page] if isinstance(page[0], Mapping) else page
            values = list(zip(*rows, strict=True))
            arrays = [column.array(values[place]) for column, place in zip(columns, places.values(), strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=list(places))
            page = cursor.fetchmany(FETCH_ROWS)


@contextmanager
def _abandoning(connection: Any) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(AttributeError):  # or PyMySQL's result reads on when it is collected, and complains in the log
            connection._result.unbuffered_active = False
        connection.close()


def _streaming_cursor(connection: Any) -> Any:
    drivers = _drivers(connection)
    if drivers & POSTGRESQL:
        return connection.cursor("sitemap_ops")
    if mysql := drivers & MYSQL:
        with closing(connection.cursor()) as cursor:
            cursor.execute(MYSQL_SESSION)
        return connection.cursor(importlib.import_module(f"{mysql.pop()}.cursors").SSCursor)
    return connection.cursor()


def _drivers(connection: Any) -> set[str]:
    """The packages that the connection's class and those it is derived from are of."""
    return {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}


def _statement(query: Query, connection: Any) -> tuple[str, Any]:
    """The query as the driver wants it, and its arguments; without values nothing in it is special to the driver."""
    if not query.values:
        return query.texts[0], None
    style = _paramstyle(connection)
    names = [f"p{position}" for position in range(len(query.values))]
    if style == "pyformat":
        sql = query.render(lambda position, _: f"%({names[position]})s", _double_percents)
    elif style == "format":
        sql = query.render(lambda position, _: "%s", _double_percents)
    elif style == "named":
        sql = query.render(lambda position, _: f":{names[position]}")
    elif style == "numeric":
        sql = query.render(lambda position, _: f":{position + 1}")
    else:
        sql = query.render(lambda position, _: "?")
    if style in ("pyformat", "named"):
        return sql, dict(zip(names, query.values, strict=True))
    return sql, query.values


def _double_percents(text: str) -> str:
    return text.replace("%", "%%")


def _paramstyle(connection: Any) -> str:
    for kind in type(connection).__mro__:
        package = kind.__module__
        while package:
            with suppress(ImportError, AttributeError):
                return str(importlib.import_module(package).paramstyle)
            package = package.rpartition(".")[0]
    raise UsageError("The driver does not say how it takes values: write them into the query, without params.")
