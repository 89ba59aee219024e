"""What is wrong with a listed page, by its answer alone. Pure: nothing is asked here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from typing import NamedTuple

from sitemap_ops.audit.fetch import MAX_BYTES, Page
from sitemap_ops.audit.head import header_canonicals, header_noindex, read_head
from sitemap_ops.columns import arrow, column
from sitemap_ops.engines import profile
from sitemap_ops.urls import UrlPolicy, canonicalize

REDIRECTS = frozenset({301, 302, 303, 307, 308})
HTML = frozenset({"text/html", "application/xhtml+xml"})

_INDEXED = re.compile(
    r"text/(html|plain|csv|rtf|xml|vnd\.wap\.wml|x-[\w.+-]+)|image/[\w.+-]+|video/[\w.+-]+|audio/[\w.+-]+"
    r"|application/(xhtml\+xml|xml|pdf|postscript|rtf|msword|epub\+zip|x-tex|x-latex|gpx\+xml|(rss|atom|rdf)\+xml"
    r"|vnd\.(ms-(excel|powerpoint|word)[\w.+-]*|openxmlformats-officedocument\.[\w.+-]+|oasis\.opendocument\.[\w.+-]+"
    r"|google-earth\.km[lz][\w.+-]*))"
)
"""Types of the files that Google says it indexes (Search Central, "File types indexable by Google")."""
_LOOKS_LIKE_HTML = re.compile(
    rb"(?i)\A(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]", re.DOTALL
)
_NO_TEXT = {b"\x1f\x8b": "gzip", b"%PDF-": "PDF", b"PK\x03\x04": "zip", b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG"}


class Fault(NamedTuple):
    """A key of the rule table, what was found, and a sentence that says it closer than the rule does."""

    code: str
    value: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What pages are held against. slow: seconds. engines: whose robots are meant. urls: what makes URLs equal."""

    slow: float
    engines: Sequence[str]
    urls: UrlPolicy

    def robots(self) -> list[str]:
        """The names that meta tags and headers address these engines' robots by, in lower case."""
        names = [profile(name).robot.lower() for name in self.engines]
        return [*(name for name in names if name != "*"), *(["yandex"] if "yandex" in self.engines else [])]


def judge_page(page: Page, wanted: Wanted) -> Iterator[Fault]:
    """Everything that keeps a page out of an index, or makes it a poor entry. A redirect is the caller's to explain."""
    if page.status != 200:
        if page.status not in REDIRECTS or not page.header("location"):
            yield Fault("page-status", str(page.status), f"The server answers {page.status}.")
        return
    yield from _weight(page, wanted)
    twice = page.header("content-encoding") and page.body.startswith(b"\x1f\x8b")
    if twice:
        yield Fault("gzip-double", page.header("content-encoding"), "The page is compressed twice.")
    else:
        yield from _type(page)
    yield from _directives(page, wanted, readable=not twice)


def _weight(page: Page, wanted: Wanted) -> Iterator[Fault]:
    if page.seconds > wanted.slow:
        yield Fault(
            "page-slow", f"{page.seconds:.1f} s", f"It took {page.seconds:.1f} of {wanted.slow:g} seconds at most."
        )
    if page.size > MAX_BYTES and page.media() in HTML | {"", "text/plain"}:
        size = f"{page.size:,} bytes" if page.size > MAX_BYTES + 1 else f"more than {MAX_BYTES:,} bytes"
        yield Fault("page-too-large", size)


def _type(page: Page) -> Iterator[Fault]:
    media, told = page.media(), page.header("content-type") or "none"
    html = bool(_LOOKS_LIKE_HTML.match(page.body[:4_096]))
    if not _INDEXED.fullmatch(media):
        yield Fault("page-type", told)
    elif html and media not in HTML | {"text/xml", "application/xml"}:
        yield Fault("page-type", told, f"The page is HTML, and is served as {media}.")
    elif media in HTML and (
        kind := next((name for magic, name in _NO_TEXT.items() if page.body.startswith(magic)), None)
    ):
        yield Fault("page-type", told, f"The bytes are {kind}, and are served as {media}.")


def _directives(page: Page, wanted: Wanted, *, readable: bool) -> Iterator[Fault]:
    robots = wanted.robots()
    header = header_noindex(page.headers.get("x-robots-tag", ()), robots)
    if header:
        yield Fault("noindex", header, "The X-Robots-Tag header says noindex.")
    canonicals = header_canonicals(page.headers.get("link", ()), page.url)
    if readable and (page.media() in HTML or not page.media()):
        head = read_head(page.body, page.url, _charset(page), robots)
        if head.noindex and not header:
            yield Fault("noindex", head.noindex[0], f"{head.noindex[0]} says noindex.")
        canonicals += head.canonicals
    elsewhere = [each for each in dict.fromkeys(canonicals) if not same_url(each, page.url, wanted.urls)]
    if elsewhere:
        several = len(elsewhere) > 1 or len(elsewhere) < len(set(canonicals))
        said = (
            "The page names several canonical URLs." if several else "The page names another URL as its canonical one."
        )
        yield Fault("non-canonical", elsewhere[0], said)


def _charset(page: Page) -> str | None:
    message = Message()
    message["content-type"] = page.header("content-type")
    charset = message.get_content_charset()
    return charset if charset and re.fullmatch(r"[\w.:-]{1,40}", charset) else None


def same_url(one: str, other: str, policy: UrlPolicy) -> bool:
    """Whether two URLs are one once both are canonical."""
    if one == other:
        return True
    first, second = arrow(canonicalize(column([one, other]), policy)["loc"]).to_pylist()
    return first is not None and first == second
