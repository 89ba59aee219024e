"""The index files of a release: what they are called, what they list, at which URLs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, urljoin, urlsplit

from sitemap_ops.errors import OutputError
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.index import render_index


@dataclass(frozen=True)
class IndexFile:
    """An index, ready to put; `sha256` is the hex digest of its XML, before gzip where the name ends in .gz."""

    key: str
    body: bytes
    sha256: str


def index_files(
    name: str, files_url: str, shards: Sequence[ShardRecord], max_files: int, *, schema_location: bool = False
) -> list[IndexFile]:
    """The indexes that list the shards, in order, `max_files` in each at most; none where there are no shards.

    The first has the name itself, those after it `<stem>-2.xml`, `<stem>-3.xml`: side by side, for an index may not
    list an index (P-38). Raises OutputError for a shard whose URL would not be below `files_url`.
    """
    stem, extension = name[: name.rindex(".xml")], name[name.rindex(".xml") :]
    files = []
    for number, start in enumerate(range(0, len(shards), max_files), 1):
        listed = [(url_of(files_url, s.key), s.lastmod) for s in shards[start : start + max_files]]
        xml = render_index(listed, schema_location=schema_location)
        key = name if number == 1 else f"{stem}-{number}{extension}"
        files.append(IndexFile(key, compress(xml) if key.endswith(".gz") else xml, sha256(xml).hexdigest()))
    return files


def url_of(files_url: str, key: str) -> str:
    """Where crawlers fetch the object: joined by the rules of URLs, then read again to be sure (C-29)."""
    base = files_url if files_url.endswith("/") else f"{files_url}/"
    path = quote(key, safe="/-._~")
    url = urljoin(base, f"./{path}")
    whole, root = urlsplit(url), urlsplit(base)
    if (whole.scheme, whole.netloc, whole.path, whole.query, whole.fragment) != (
        root.scheme,
        root.netloc,
        root.path + path,
        "",
        "",
    ):
        raise OutputError(f"{key!r} has no URL below {files_url}: its URL would be {url}.")
    return url
