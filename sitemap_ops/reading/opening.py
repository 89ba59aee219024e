"""From a location as a user names it to the place where its files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_ops.errors import UsageError
from sitemap_ops.reading.places import Folder, NothingThere, Objects, Place, Tree

if TYPE_CHECKING:
    import urllib3

    from sitemap_ops.connections import Connections
    from sitemap_ops.reading.origins import Origin


def place_of(
    location: str | Path,
    connections: Connections | None = None,
    *,
    aws_conn_id: str | None = None,
    base_url: str | None = None,
    hosts: Sequence[Origin] = (),
    pool: urllib3.PoolManager | None = None,
) -> Place:
    """The place of a file, a folder, `s3://bucket/key-or-prefix` or `http(s)://...`.

    connections, aws_conn_id: for S3; the environment's where there are none. base_url: where the folder of the location
    is served. hosts: further origins that may be asked. pool: what makes connections to the web.

    Raises NothingThere where there is no such file or folder, UsageError for an address that can't be meant.
    """
    text = str(location)
    scheme = text.partition("://")[0].lower()
    if scheme in ("http", "https"):
        from sitemap_ops.reading.web import Web

        return Web(text, base_url, hosts, pool)
    if scheme == "s3":
        return _bucket(text, connections, aws_conn_id, base_url)
    if scheme not in ("file", text.lower()):
        raise UsageError(f"{scheme}:// can't be read: name a path, an s3:// or an http(s):// address.")
    path = Path(text.removeprefix("file://"))
    if path.is_dir():
        return Tree(Folder(path), None, base_url)
    if not path.exists():
        raise NothingThere(f"There is no file or folder {str(path)!r}: name a path, an s3:// or an http(s):// address.")
    return Tree(Folder(path.parent), path.name, base_url)


def _bucket(location: str, connections: Connections | None, aws_conn_id: str | None, base_url: str | None) -> Place:
    """A key if there is an object of that name, else a prefix."""
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.storage import open_store

    connections = connections or EnvironmentConnections()
    folder, _, name = location.rpartition("/")
    if name and folder != "s3:/":
        objects = Objects(open_store(folder + "/", connections, aws_conn_id=aws_conn_id))
        if objects.exists(name):
            return Tree(objects, name, base_url)
    return Tree(Objects(open_store(location.rstrip("/") + "/", connections, aws_conn_id=aws_conn_id)), None, base_url)
