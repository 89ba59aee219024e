"""Tags of videos over columns: each method makes one tag's values or elements, and notes what it dropped or rewrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, column
from sitemap_ops.entries import video_values
from sitemap_ops.entries.extension import Notes, by_row, element, first_of_each, joined, place_in_row
from sitemap_ops.entries.items import Items
from sitemap_ops.entries.lastmod import parse_lastmod
from sitemap_ops.entries.media import media_urls
from sitemap_ops.entries.notes import DROPPED
from sitemap_ops.entries.prose import clean_texts, cut_characters
from sitemap_ops.entries.shapes import is_blank, numpy, strings
from sitemap_ops.entries.text import by_value, trimmed
from sitemap_ops.render.escape import escape_column
from sitemap_ops.urls import UrlPolicy
from sitemap_ops.urls.authority import parse_authority

MAX_UPLOADER = 255
"""Characters (G-27)."""
MAX_TAGS = 32

_FTP = r"(?i)^ftp://([^/?#:@]+/)"
"""What Google also fetches (G-32). With a port or a password it is refused."""
_OTHER_SCHEME = r"^[A-Za-z][A-Za-z0-9+.-]*://"
_ANY_TIME = datetime(9999, 12, 1, tzinfo=UTC)
"""Films are announced, and expire, later than the run."""


@dataclass(frozen=True)
class VideoColumns:
    """Some items. locs: the canonical URL of each row (string, null where refused). timezone: of times without one."""

    items: Items
    locs: pd.Series
    policy: UrlPolicy
    timezone: str | None
    notes: Notes

    def note(self, code: str, items: np.ndarray) -> None:
        """Note the rows of a mask of items."""
        self.notes.add(code, self.items.row[items])

    @property
    def pages(self) -> pa.Array:
        """The URL of each item's page."""
        return arrow(self.locs).take(pa.array(self.items.row))

    def url(self, tag: str) -> pa.Array:
        """Canonical URLs, of http, https or ftp."""
        texts = trimmed(self.items.text(tag))
        ftp = _matching(texts, _FTP)
        if ftp.any():  # is written like one of http
            texts = pc.replace_substring_regex(texts, _FTP, "http://\\1")
        urls = media_urls(texts, self.policy)
        other = _matching(texts, _OTHER_SCHEME) & ~_matching(texts, "(?i)^https?:")
        self.note("loc-scheme", urls.refused & other)
        self.note("loc", urls.refused & ~other)
        self.note("normalised", urls.changed)
        if not ftp.any():
            return urls.locs
        return pc.if_else(pa.array(ftp), pc.replace_substring_regex(urls.locs, "^http:", "ftp:"), urls.locs)

    def apart_from_page(self, locs: pa.Array) -> pa.Array:
        """The URLs without those that are the page's own (G-25)."""
        same = numpy(pc.equal(locs, self.pages).fill_null(False))
        self.note("loc-equals-page", same)
        return _without(locs, same)

    def prose(self, tag: str, most: int, code: str) -> pa.Array:
        """Texts for people, cut at so many characters."""
        texts, cut = cut_characters(clean_texts(self.items.text(tag), self.items.row, self.notes), most)
        self.note(code, cut)
        return texts

    def judged(self, tag: str, judge: Callable[[str], str | None], code: str) -> pa.Array:
        """What `judge` makes of each different text; `code` is noted where that is nothing."""
        if tag not in self.items.values:
            return self.items.text(tag)
        texts = trimmed(self.items.text(tag))
        texts = _without(texts, is_blank(texts))
        made, _ = by_value(texts, lambda text: (judge(text), None))
        self.note(code, numpy(texts.is_valid()) & ~numpy(made.is_valid()))
        self.note("normalised", numpy(pc.not_equal(made, texts).fill_null(False)))
        return made

    def date(self, tag: str) -> pa.Array:
        """Dates and times (G-28), as `parse_lastmod` reads them, but of any time after 1970."""
        if tag not in self.items.values:
            return self.items.text(tag)
        dates = parse_lastmod(
            column(self.items.values[tag]), timezone=self.timezone, coarse_dates="drop", as_of=_ANY_TIME
        )
        said = arrow(dates["note"])
        dropped = numpy(pc.is_in(said, pa.array(sorted(DROPPED))))
        self.note("date", dropped)
        self.note("normalised", numpy(said.is_valid()) & ~dropped)
        return arrow(dates["lastmod"])

    def keywords(self) -> pa.Array:
        """`<video:tag>` for each one, once and MAX_TAGS at most."""
        if "tag" not in self.items.values:
            return self.items.text("tag").fill_null("")
        listed = [[] if text is None else video_values.listed(text) for text in self.items.text("tag").to_pylist()]
        owner = np.repeat(np.arange(len(self.items)), [len(words) for words in listed])
        words = clean_texts(strings([word for words in listed for word in words]), self.items.row[owner], self.notes)
        there = numpy(words.is_valid())
        owner, words = owner[there], words.filter(pa.array(there))
        first = first_of_each(owner, words)
        owner, words = owner[first], words.filter(pa.array(first))
        fitting = place_in_row(owner) < MAX_TAGS
        self.notes.add("too-many-tags", self.items.row[owner[~fitting]])
        tags = element("video:tag", words.filter(pa.array(fitting)))
        return by_row(tags, owner[fitting], len(self.items)).fill_null("")

    def relation(self, tag: str, judge: Callable[[str], str | None]) -> pa.Array:
        """The element of a list and of what it does; dropped where one of both is missing (G-29)."""
        listed = self.judged(tag, judge, tag)
        does = self.judged(f"{tag}_relationship", video_values.relationship, tag)
        alone = numpy(listed.is_valid()) != numpy(does.is_valid())
        self.note(tag, alone)
        return element(f"video:{tag}", _without(listed, alone), joined(' relationship="', does, '"'))

    def price(self) -> pa.Array:
        """The element of a price that has a currency."""
        price = self.judged("price", video_values.price, "price")
        currency = self.judged("price_currency", video_values.currency, "price")
        alone = numpy(price.is_valid()) & ~numpy(currency.is_valid())
        self.note("price", alone)
        return element("video:price", _without(price, alone), joined(' currency="', currency, '"'))

    def uploader(self) -> pa.Array:
        """The element of the uploader's name, with the page about them where it is on the video's own domain (G-27)."""
        names = self.prose("uploader", MAX_UPLOADER, "uploader")
        info = self.url("uploader_info")
        foreign = np.zeros(len(self.items), bool)
        there = np.flatnonzero(numpy(info.is_valid()))
        urls, pages = info.take(pa.array(there)).to_pylist(), self.pages.take(pa.array(there)).to_pylist()
        foreign[there] = [not _same_domain(url, page) for url, page in zip(urls, pages, strict=True)]
        self.note("uploader", foreign)
        return element("video:uploader", names, joined(' info="', escape_column(_without(info, foreign)), '"'))


def _matching(texts: pa.Array, pattern: str) -> np.ndarray:
    return numpy(pc.match_substring_regex(texts, pattern).fill_null(False))


def _without(array: pa.Array, items: np.ndarray) -> pa.Array:
    """The array with null where the mask is."""
    return pc.if_else(pa.array(items), pa.scalar(None, array.type), array) if items.any() else array


def _same_domain(url: str, page: str | None) -> bool:
    """Whether one URL's host is the other's, or lies below it; `www.` is no part of it."""
    if page is None:
        return False
    one, other = (f".{_host(address).removeprefix('www.')}" for address in (url, page))
    return one.endswith(other) or other.endswith(one)


def _host(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return parse_authority(f"{scheme}://{rest.partition('/')[0]}").host
