"""What a page says of itself to robots: directives and canonical URL, in headers and in the head of its HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HTMLParser

HEAD_BYTES = 524_288
"""How much of a page is parsed: heads end long before."""

_VALUED = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
"""Directives that have a colon themselves, so that it does not end a robot's name."""
_LINK = re.compile(r"""<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^";,]*))?)*)""")
_REL = re.compile(r"""(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]*))""")


@dataclass(frozen=True)
class Head:
    """noindex: the tags that say so, such as `<meta name="googlebot">`. canonicals: absolute URLs."""

    noindex: tuple[str, ...] = ()
    canonicals: tuple[str, ...] = ()


def header_noindex(values: Iterable[str], robots: Sequence[str]) -> str | None:
    """The X-Robots-Tag header that keeps the page from one of the robots' index, None where none does.

    values: of each such header. robots: lower-case names; what is said to no one by name is said to all.
    """
    return next((value for value in values if _forbids(value, robots)), None)


def _forbids(value: str, robots: Sequence[str]) -> bool:
    """A name and a colon address what follows, up to the next name: `googlebot: noindex, nofollow`."""
    addressed = ""
    for part in value.lower().split(","):
        name, colon, directive = part.partition(":")
        if colon and name.strip() not in _VALUED:
            addressed, part = name.strip(), directive
        if part.strip() in ("noindex", "none") and (addressed in ("", "*") or addressed in robots):
            return True
    return False


def header_canonicals(values: Iterable[str], base: str) -> tuple[str, ...]:
    """The canonical URLs of Link headers (RFC 8288), absolute."""
    found = []
    for target, parameters in (match.groups() for value in values for match in _LINK.finditer(value)):
        rel = _REL.search(parameters)
        if rel and "canonical" in (rel[1] or rel[2] or "").lower().split():
            found.append(_absolute(base, target))
    return tuple(found)


def read_head(html: bytes, base: str, charset: str | None, robots: Sequence[str]) -> Head:
    """What the first HEAD_BYTES of HTML say. robots: lower-case names besides "robots". No network, no exception."""
    try:
        root = _parsed(html[:HEAD_BYTES], charset)
    except (etree.LxmlError, LookupError, ValueError):
        return Head()
    if root is None:
        return Head()
    named = next((each.get("href", "") for each in root.iter("base")), "")
    base = _absolute(base, named) if named else base
    # A canonical counts in the head alone; the parser has moved what HTML does not allow there to the body.
    links = [link for head in root.iter("head") for link in head.iter("link")]
    canonicals = tuple(
        _absolute(base, link.get("href", ""))
        for link in links
        if "canonical" in link.get("rel", "").lower().split() and link.get("href", "").strip()
    )
    return Head(tuple(_metas(root, robots)), canonicals)


def _parsed(html: bytes, charset: str | None) -> etree._Element | None:
    try:
        return etree.fromstring(html, HTMLParser(encoding=charset, no_network=True))
    except LookupError:
        return etree.fromstring(html, HTMLParser(no_network=True))


def _metas(root: etree._Element, robots: Sequence[str]) -> Iterator[str]:
    for meta in root.iter("meta"):
        name = meta.get("name", "").strip().lower()
        words = {word.strip() for word in meta.get("content", "").lower().split(",")}
        if words & {"noindex", "none"} and (name == "robots" or name in robots):
            yield f'<meta name="{name}">'


def _absolute(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return reference.strip()
