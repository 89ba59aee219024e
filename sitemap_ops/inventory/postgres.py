"""PostgreSQL straight into Arrow: ADBC over COPY, five times the speed of a DB-API cursor at less memory.

COPY takes no bound values, and ADBC reads a result whole when it is given some: values are written into the query by
psycopg, in the forms of libpq's PQescapeLiteral, untyped as psycopg binds them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pyarrow as pa

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.chunk import positions
from sitemap_ops.inventory.plain import plain_cast

if TYPE_CHECKING:
    from adbc_driver_postgresql.dbapi import Connection
    from sqlalchemy import URL

    from sitemap_ops.inventory.query import MakeQuery

LIBPQ_DEFAULTS = {
    "client_encoding": "utf8",
    "connect_timeout": "10",
    "keepalives_idle": "60",
    "keepalives_interval": "10",
    "keepalives_count": "6",
}
"""Text comes as Arrow has it. A server that is gone is noticed in two minutes, and not in the system's two hours."""

MONEY = b"money"


def is_available() -> bool:
    return find_spec("adbc_driver_postgresql") is not None and find_spec("psycopg") is not None


def libpq_uri(url: URL) -> str:
    """The URI of libpq for a SQLAlchemy URL of any PostgreSQL driver: its options are libpq's already."""
    user = quote(url.username, safe="") if url.username else ""
    password = ":" + quote(str(url.password), safe="") if url.password else ""
    host = f"[{url.host}]" if ":" in (url.host or "") else quote(url.host or "", safe="")
    port = f":{url.port}" if url.port else ""
    at = "@" if user or password else ""
    given = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    options = urlencode(LIBPQ_DEFAULTS | given, quote_via=quote)
    return f"postgresql://{user}{password}{at}{host}{port}/{quote(url.database or '', safe='')}?{options}"


def connect(url: URL) -> Connection:
    from adbc_driver_postgresql import dbapi

    return dbapi.connect(libpq_uri(url))


def stream(
    connection: Connection, make_query: MakeQuery, columns: Sequence[str], where: str, urls: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """The columns of a query's rows, plain, in the order wanted, of one snapshot; raises what the driver raises.

    Closes the connection.
    """
    from adbc_driver_postgresql.dbapi import Error
    from psycopg.sql import Literal

    cursor = connection.cursor()
    try:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(make_query(False).render(lambda _, value: Literal(value).as_string()))
        reader = cursor.fetch_record_batch()
        schema = reader.schema
        if not schema.names:
            raise SourceError(f"Nothing comes back from {where}: it has to be a SELECT.")
        places = positions(schema.names, columns, where)
        casts = [plain_cast(_known(schema.field(place)), where, urls) for place in places.values()]
        for batch in reader:
            arrays = [cast(batch.column(place)) for cast, place in zip(casts, places.values(), strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=list(places))
    finally:
        with suppress(Error):  # of a connection that is gone
            cursor.close()
        with suppress(Error):
            connection.close()


def _known(field: pa.Field) -> pa.Field:
    """ADBC gives money as whole cents, as if it were a number."""
    if (field.metadata or {}).get(b"POSTGRESQL:type") == MONEY:
        return field.with_type(pa.opaque(pa.binary(), "money", "PostgreSQL"))
    return field
