"""One file, from its bytes to what is to be said about it. Pure: a stream of bytes and what is known of it go in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from sitemap_ops.engines.profiles import PROFILES
from sitemap_ops.reading.decode import Decoded, decode
from sitemap_ops.reading.elements import NS_SITEMAP, XSI, Elements, Root
from sitemap_ops.reading.origins import Origin, origin_of
from sitemap_ops.reading.reader import ElementReader
from sitemap_ops.reading.record import Record
from sitemap_ops.reading.sax import FEEDS
from sitemap_ops.reading.stop import Stop
from sitemap_ops.reading.text import lines
from sitemap_ops.reading.unpack import measured, unpack
from sitemap_ops.validate.feeds import FeedJudge
from sitemap_ops.validate.indexes import Child, IndexJudge
from sitemap_ops.validate.links import Linked
from sitemap_ops.validate.locs import Site, judge_locs
from sitemap_ops.validate.pages import PageJudge
from sitemap_ops.validate.seen import Listed

if TYPE_CHECKING:
    from sitemap_ops.validate.xsd import Schemas

MAX_ENTRIES_READ = 100_000
"""Twice the limit: what goes on is counted no further."""


@dataclass(frozen=True)
class Known:
    """What is known about a file before it is read, and by what it is to be judged.

    name: its file name or URL path. url: where engines fetch it, None if unknown. hosts: further origins its URLs may
    have. submitted: robots.txt names it. engines: whose rules apply. xsd: the published schemas, to be used too. now:
    the instant that lastmods are held against.
    """

    now: datetime
    name: str = ""
    url: str | None = None
    origin: Origin | None = None
    hosts: Sequence[Origin] = ()
    submitted: bool = False
    engines: Sequence[str] = ()
    xsd: Schemas | None = None


@dataclass
class Judged:
    """What reading one file gave."""

    record: Record
    kind: Literal["sitemap", "index", "text", "feed"] | None = None
    urls: int = 0
    size: int = 0
    gzipped: bool = False
    modified: datetime | None = None
    """When its server says that it changed last."""
    children: list[Child] = field(default_factory=list)
    locs: list[Listed] = field(default_factory=list)
    links: list[Linked] = field(default_factory=list)
    origins: set[Origin] = field(default_factory=set)


class Judge(Protocol):
    urls: int

    def batch(self, batch: Elements) -> None: ...

    def finish(self) -> None: ...


def judge(location: str, chunks: Iterator[bytes], known: Known) -> Judged:
    """Judge one file. Never raises for what is in it: a file that can't be read on says so as a finding."""
    judged = Judged(Record(location, known.engines))
    try:
        _judge(judged, chunks, known)
    except Stop as stop:
        judged.record.add(stop.code, value=stop.value, line=stop.line, message=stop.message)
    _sizes(judged)
    return judged


def _judge(judged: Judged, chunks: Iterator[bytes], known: Known) -> None:
    record = judged.record

    def count(size: int) -> None:
        judged.size += size

    judged.gzipped, plain = unpack(chunks, record.add)
    decoded = decode(measured(plain, count), record, known.name)
    site = Site(known.origin or origin_of(known.url or ""), known.hosts, _folder(known.url), known.submitted)
    judged.origins = site.seen
    if decoded.kind == "text":
        _text(judged, decoded, site, known)
    else:
        _xml(judged, decoded, site, known)


def _text(judged: Judged, decoded: Decoded, site: Site, known: Known) -> None:
    judged.kind = "text"
    if not known.name.lower().endswith((".txt", ".txt.gz")):
        judged.record.add("txt-extension", value=known.name or None)
    for column in lines(decoded.blocks, judged.record, decoded.skipped_lines):
        judged.urls += len(column)
        judged.locs.append(Listed.of(judge_locs(column, judged.record, site)))
        _enough(judged.urls)
    if not judged.urls:
        judged.record.add("empty-sitemap")


def _xml(judged: Judged, decoded: Decoded, site: Site, known: Known) -> None:
    judges: list[Judge] = []

    def check_root(root: Root) -> None:
        judges.append(_judge_for(root, judged, site, known))

    reader = ElementReader(check_root, decoded.skipped_lines)
    blocks = decoded.blocks if known.xsd is None else known.xsd.watch(decoded.blocks, judged.record)
    entries = 0
    try:
        for batch in reader.batches(blocks):
            judges[0].batch(batch)
            entries += batch.entries
            _enough(entries)
        judges[0].finish()
    except Stop:
        if judges:
            judges[0].batch(reader.rest())
        raise
    finally:
        judged.urls = judges[0].urls if judges else 0
        _source(reader, judged.record)


def _judge_for(root: Root, judged: Judged, site: Site, known: Known) -> Judge:
    record = judged.record
    if root.name in FEEDS:
        judged.kind = "feed"
        return FeedJudge(record, site, judged.locs)
    if root.name not in ("urlset", "sitemapindex"):
        message = f"The root is <{root.name}>; it has to be <urlset> or <sitemapindex>."
        raise Stop("root-element", value=root.name, line=root.line, message=message)
    if root.namespace != NS_SITEMAP:
        record.add("namespace", value=root.namespace, line=root.line, message=_namespace_message(root.namespace))
    _schema_location(root, record)
    if root.name == "urlset":
        judged.kind = "sitemap"
        return PageJudge(root, record, site, judged.locs, judged.links, known.now)
    judged.kind = "index"
    return IndexJudge(record, site, judged.children, known.now)


def _namespace_message(namespace: str) -> str:
    wild = {
        "": "The root has no namespace.",
        NS_SITEMAP.replace("http:", "https:"): "The root's namespace has https: where the name has http:.",
        NS_SITEMAP + "/": "The root's namespace ends in a slash.",
    }
    said = wild.get(namespace)
    if said is None and "google.com/schemas/sitemap" in namespace:
        said = "The root's namespace is one of Google's from before the common protocol."
    return said or "The root's namespace is not the protocol's."


def _schema_location(root: Root, record: Record) -> None:
    """P-56: pairs of namespace and schema; the protocol's namespace with the schema of this kind of file."""
    value = root.attributes.get(f"{XSI} schemaLocation")
    if value is None:
        return
    tokens = value.split()
    pairs = dict(zip(tokens[::2], tokens[1::2], strict=False))
    schema = "sitemap.xsd" if root.name == "urlset" else "siteindex.xsd"
    if len(tokens) % 2 or not pairs.get(NS_SITEMAP, "").endswith(f"/{schema}"):
        record.add("schema-location", value=value, line=root.line)


def _source(reader: ElementReader, record: Record) -> None:
    if reader.root_stray:
        record.add("stray-text", value="<urlset>")
    for line, value in reader.raw_quotes:
        record.add("loc-raw-quote", value=value, line=line)
    record.add("loc-raw-quote", count=reader.raw_quote_count - len(reader.raw_quotes))


def _enough(entries: int) -> None:
    if entries > MAX_ENTRIES_READ:
        raise Stop(
            "too-many-urls", message=f"The file lists more than {MAX_ENTRIES_READ:,} URLs; reading stopped there."
        )


def _sizes(judged: Judged) -> None:
    """P-30, P-31, P-37, BD-01: what a whole file may hold."""
    record, urls = judged.record, judged.urls
    core, baidu, legacy = (PROFILES[name].limits for name in ("core", "baidu", "legacy-2005"))
    if judged.size > baidu.max_bytes:
        record.add("baidu-too-large", value=f"{judged.size:,} bytes")
    if judged.size > legacy.max_bytes:
        record.add("over-historic-10mb", value=f"{judged.size:,} bytes")
    if judged.kind == "index":
        if len(judged.children) > core.max_files_per_index:
            record.add("too-many-sitemaps", value=f"{len(judged.children):,} sitemaps")
        if len(judged.children) > legacy.max_files_per_index:
            record.add("over-historic-1000", value=f"{len(judged.children):,} sitemaps")
        record.add("baidu-index-unsupported")
    elif core.max_urls < urls <= MAX_ENTRIES_READ:
        record.add("too-many-urls", value=f"{urls:,} URLs")


def _folder(url: str | None) -> str | None:
    return urlsplit(url).path.rpartition("/")[0] + "/" if url else None
