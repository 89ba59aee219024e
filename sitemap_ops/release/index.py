"""The index files of a release: what they are called, what they list, at which URLs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urljoin, urlsplit

from sitemap_ops.errors import OutputError
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.index import render_index
from sitemap_ops.storage.content import GZIP_MAGIC, DamagedContent, gunzip_blocks

if TYPE_CHECKING:
    from lxml.etree import _Element

Listing = Sequence[tuple[str, str | None]]
"""What an index lists: each file's URL and lastmod."""

MAX_INDEX_BYTES = 52_428_800


@dataclass(frozen=True)
class IndexFile:
    """An index, ready to put; `sha256` is the hex digest of its XML, before gzip where the name ends in .gz."""

    key: str
    body: bytes
    sha256: str


def index_files(
    name: str,
    files_url: str,
    shards: Sequence[ShardRecord],
    max_files: int,
    *,
    guests: Listing = (),
    schema_location: bool = False,
) -> list[IndexFile]:
    """The indexes that list the shards, in order, then `guests`; `max_files` in each at most, none for nothing to list.

    The first has the name itself, those after it `<stem>-2.xml`, `<stem>-3.xml`: side by side, for an index may not
    list an index (P-38). Raises OutputError for a shard whose URL would not be below `files_url`.
    """
    entries = [*((url_of(files_url, shard.key), shard.lastmod) for shard in shards), *guests]
    starts = range(0, len(entries), max_files)
    return [
        index_file(numbered(name, number), entries[start : start + max_files], schema_location=schema_location)
        for number, start in enumerate(starts, 1)
    ]


def numbered(name: str, number: int) -> str:
    """What a set's n-th index is called, the first being `name`."""
    stem, extension = name[: name.rindex(".xml")], name[name.rindex(".xml") :]
    return name if number == 1 else f"{stem}-{number}{extension}"


def index_file(key: str, entries: Listing, *, schema_location: bool = False) -> IndexFile:
    xml = render_index(entries, schema_location=schema_location)
    return IndexFile(key, compress(xml) if key.endswith(".gz") else xml, sha256(xml).hexdigest())


def listed_by(body: bytes) -> list[tuple[str, str | None]] | None:
    """What an index lists, whoever made it; None where the bytes are no index.

    A document type is not expanded, and nothing is fetched for it.
    """
    from lxml import etree  # here, as most runs meet no index that is not their own

    try:
        blocks = gunzip_blocks([body], limit=MAX_INDEX_BYTES) if body.startswith(GZIP_MAGIC) else [body]
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        root = etree.fromstring(b"".join(blocks), parser)
    except (DamagedContent, etree.XMLSyntaxError, ValueError):
        return None
    if root is None or etree.QName(root).localname != "sitemapindex":
        return None
    found = ((_text(entry, "loc"), _text(entry, "lastmod")) for entry in root.iterchildren("{*}sitemap"))
    return [(loc, lastmod or None) for loc, lastmod in found if loc]


def _text(entry: _Element, name: str) -> str:
    return (entry.findtext(f"{{*}}{name}") or "").strip()


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


def key_of(files_url: str, url: str) -> str | None:
    """The object that crawlers fetch at a URL: what `url_of` undoes; None for one that is not below `files_url`."""
    base = files_url if files_url.endswith("/") else f"{files_url}/"
    key = unquote(url.removeprefix(base), errors="strict") if url.startswith(base) else ""
    try:
        return key if key and url_of(files_url, key) == url else None
    except OutputError:
        return None
