"""The engine profiles. Each number and each yes or no is of the source named, as read at the date named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Limits:
    """What one file may hold; all inclusive. Bytes are counted before compression (P-32)."""

    max_urls: int = 50_000
    max_bytes: int = 52_428_800
    max_files_per_index: int = 50_000


@dataclass(frozen=True)
class Profile:
    """One engine.

    source, date: where this was read, and the day or month of that page (rule ids are the rule book's).
    extensions: those whose tags the engine reads ("image", "video", "news", "xhtml"); image_texts: the text tags too.
    index, text, feeds: whether it reads index files, text sitemaps, RSS and Atom. None: its pages don't say.
    lastmod, changefreq, priority: "used", "read" (documented, use unknown), "ignored"; None: its pages don't say.
    max_loc_bytes, max_path_chars, max_host_chars, max_value_bytes: an engine's own content limits, 0 for none; they
        concern that engine's own set only.
    robot: the name it answers to in robots.txt.
    """

    name: str
    source: str
    date: str
    limits: Limits = Limits()
    index: bool = True
    text: bool | None = True
    feeds: bool | None = True
    extensions: frozenset[str] = frozenset()
    image_texts: bool = False
    lastmod: Literal["used", "read", "ignored"] | None = "read"
    changefreq: Literal["used", "read", "ignored"] | None = "read"
    priority: Literal["used", "read", "ignored"] | None = "read"
    max_loc_bytes: int = 0
    max_path_chars: int = 0
    max_host_chars: int = 0
    max_value_bytes: int = 0
    robot: str = "*"
    indexnow: bool = False


_ALL = (
    Profile(
        name="core",
        source="https://www.sitemaps.org/protocol.html, faq.html (P-01 to P-59)",
        date="2026-07",
        extensions=frozenset({"image", "video", "news", "xhtml"}),
    ),
    Profile(
        name="google",
        source="https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap and its sisters;"
        " Search Central blog 2022-05-06, 2023-06-26, 2024-12-09 (G-01 to G-63)",
        date="2026-07-08",
        extensions=frozenset({"image", "video", "news", "xhtml"}),
        lastmod="used",
        changefreq="ignored",
        priority="ignored",
        robot="Googlebot",
    ),
    Profile(
        name="bing",
        source="bing.com/webmasters/help; blogs.bing.com 2009-06-12, 2022-05, 2023-02, 2025-07 (B-01 to B-07)",
        date="2025-07",
        lastmod="used",
        changefreq="ignored",
        priority="ignored",
        robot="bingbot",
        indexnow=True,
    ),
    Profile(
        name="yandex",
        source="https://yandex.com/support/webmaster/en/indexing-options/sitemap, error-dictionary/sitemap,"
        " support/images/sitemap-images.html (Y-01 to Y-28)",
        date="2026-07",
        feeds=False,
        extensions=frozenset({"image"}),
        image_texts=True,
        priority="used",
        max_path_chars=1_024,
        max_host_chars=1_024,
        max_value_bytes=100,
        robot="YandexBot",
        indexnow=True,
    ),
    Profile(
        name="baidu",
        source="Baidu Search Resource Platform notices, as quoted by wbolt.com 2020-07-07, xueke.org and cdcxhl.com"
        " (BD-01 to BD-06; second-hand)",
        date="2020-07",
        limits=Limits(max_bytes=10_485_759),
        index=False,
        feeds=False,
        max_loc_bytes=256,
        robot="Baiduspider",
    ),
    Profile(
        name="naver",
        source="https://searchadvisor.naver.com/guide (NV-01, NV-02; its own numbers were not found)",
        date="2026-07",
        text=None,
        changefreq=None,
        priority=None,
        robot="Yeti",
        indexnow=True,
    ),
    Profile(
        name="seznam",
        source="https://blog.seznam.cz/2007/11/podpora-sitemap-xml; o-seznam.cz help (SZ-01 to SZ-03)",
        date="2007-11-07",
        text=None,
        feeds=None,
        changefreq=None,
        priority="used",
        robot="SeznamBot",
        indexnow=True,
    ),
    Profile(
        name="legacy-2005",
        source="Google's sitemap guide of 2005-2009 as kept in Turkish forum copies (S000; P-31, P-37)",
        date="2005-06",
        limits=Limits(max_bytes=10_485_760, max_files_per_index=1_000),
    ),
)

PROFILES: Mapping[str, Profile] = {one.name: one for one in _ALL}
