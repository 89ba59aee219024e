"""The robots.txt that a site file names, as text (DESIGN 5): what it disallows is no entry."""

from __future__ import annotations

from sitemap_ops.connections import Connections
from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.files import open_bytes, reading
from sitemap_ops.site import Site

MAX_BYTES = 512_000
"""What crawlers read of it (G-14); what stands behind has no effect on them and none here."""

_CONNECT_SECONDS, _READ_SECONDS = 10, 30
_REDIRECTS = 5


def robots_text(site: Site, connections: Connections) -> str | None:
    """The text; None where the site file names none. A server that answers 4xx has no rules (RFC 9309 section 2.3.1.3).

    Raises SourceError where it can't be read: publishing what may be disallowed would be a guess.
    """
    if site.robots is None:
        return None
    kind, value = site.robots
    if kind == "text":
        return value
    body = _fetch(value) if kind == "url" else _read(value, connections, site.aws_conn_id)
    return body.decode("utf-8-sig", "replace")


def _read(path: str, connections: Connections, aws_conn_id: str | None) -> bytes:
    with open_bytes(path, connections, aws_conn_id) as file, reading(path):
        return file.read(MAX_BYTES)


def _fetch(url: str) -> bytes:
    import urllib3

    timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS)
    retries = urllib3.Retry(3, redirect=_REDIRECTS, backoff_factor=0.5, raise_on_redirect=True)
    try:
        with urllib3.PoolManager(timeout=timeout, retries=retries) as pool:
            response = pool.request("GET", url, preload_content=False)
            body = response.read(MAX_BYTES, decode_content=True)
            response.close()
    except urllib3.exceptions.HTTPError as error:
        raise SourceError(
            f"robots: {url} can't be reached ({type(error).__name__}): try again, or name a file."
        ) from None
    if 400 <= response.status < 500:
        return b""
    if response.status != 200:
        raise SourceError(f"robots: {url} answers {response.status}: try again, or name a file.")
    return body
