"""Each rule for images, videos, news and language versions: an example that breaks it and one that does not, by rule id."""

# ruff: noqa: E501 - one case, one line

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.rules import RULES
from tests.unit import test_validate_rules
from tests.unit.validating import EXTENSIONS, Case, check, extended, index, keys, page, said, shard, urlset

IMAGE = "<image:image><image:loc>https://shop.example/p.jpg</image:loc></image:image>"
VIDEO = {
    "thumbnail_loc": "https://shop.example/t.jpg",
    "title": "A film",
    "description": "About it",
    "content_loc": "https://shop.example/v.mp4",
}
NEWS = {
    "name": "The Example Times",
    "language": "en",
    "publication_date": "2024-06-15T10:00:00Z",
    "title": "It happened",
}


def image(tags: str) -> bytes:
    return extended(f"<image:image>{tags}</image:image>")


def video(more: str = "", **changed: str | None) -> bytes:
    tags = "".join(
        f"<video:{name}>{value}</video:{name}>" for name, value in {**VIDEO, **changed}.items() if value is not None
    )
    return extended(f"<video:video>{tags}{more}</video:video>")


def article(more: str = "", **changed: str | None) -> str:
    tag = {
        name: "" if value is None else f"<news:{name}>{value}</news:{name}>"
        for name, value in {**NEWS, **changed}.items()
    }
    publication = f"<news:publication>{tag['name']}{tag['language']}</news:publication>"
    return f"<news:news>{publication}{tag['publication_date']}{tag['title']}{more}</news:news>"


def news(more: str = "", **changed: str | None) -> bytes:
    return extended(article(more, **changed))


def link(code: str, href: str) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>'


def versions(*pages: tuple[str, dict[str, str]]) -> bytes:
    return urlset(
        *(page(loc, "".join(link(*pair) for pair in links.items())) for loc, links in pages), attributes=EXTENSIONS
    )


def alternates(*links: str) -> bytes:
    return extended(link("en", "https://shop.example/a"), *links)


EN, DE = "https://shop.example/en/", "https://shop.example/de/"
BOTH = {"en": EN, "de": DE}
CLUSTER = versions((EN, BOTH), (DE, BOTH))

IMAGES = [
    Case("G-20", "image-loc-missing", image("<image:title>x</image:title>"), extended(IMAGE)),
    Case("G-20", "image-loc-missing", image("<image:loc/>"), extended(IMAGE)),
    Case("G-20", "image-unknown-tag", image("<image:loc>https://shop.example/p.jpg</image:loc><image:size/>"), extended(IMAGE), "warning"),
    Case("G-20", "loc-not-absolute", image("<image:loc>/p.jpg</image:loc>"), extended(IMAGE)),
    Case("C-40", "loc-not-encoded", image("<image:loc>https://shop.example/steckrüben.jpg</image:loc>"), extended(IMAGE)),
    Case("G-21", "too-many-images", extended(IMAGE * 1_001), extended(IMAGE * 1_000)),
    Case("Y-21", "too-many-images", extended(IMAGE * 1_001), extended(IMAGE * 1_000), engines=("yandex",)),
    Case("G-22", "image-foreign-host", image("<image:loc>https://cdn.example/p.jpg</image:loc>"), extended(IMAGE), "warning"),
    *(Case("G-23", "deprecated-tag", image(f"<image:loc>https://shop.example/p.jpg</image:loc><image:{tag}>x</image:{tag}>"), extended(IMAGE), "warning", engines=("google",))
      for tag in ("caption", "geo_location", "title", "license")),
    Case("Y-21", "yandex-image-bytes", image(f"<image:loc>https://shop.example/p.jpg</image:loc><image:caption>{'ж' * 193}</image:caption>"),
         image(f"<image:loc>https://shop.example/p.jpg</image:loc><image:caption>{'ж' * 192}</image:caption>"), "warning", engines=("yandex",)),
]  # fmt: skip
VIDEOS = [
    *(Case("G-24", "video-missing-tag", video(**{tag: None}), video()) for tag in VIDEO),
    Case("G-24", "video-missing-tag", video(content_loc=None), video(content_loc=None, player_loc="https://shop.example/player")),
    Case("G-24", "video-unknown-tag", video("<video:colour>x</video:colour>"), video(), "warning"),
    Case("G-25", "video-loc-equals-page", video(content_loc="https://shop.example/a"), video()),
    Case("G-26", "video-description-too-long", video(description="ж" * 2_049), video(description="ж" * 2_048)),
    Case("G-26", "video-title-over-100", video(title="x" * 101), video(title="x" * 100), "warning"),
    *(Case("G-27", "video-duration", video(duration=value), video(duration=good)) for value, good in [("0", "1"), ("28801", "28800"), ("PT10M", "600"), ("1.5", "60")]),
    *(Case("G-27", "video-rating", video(rating=value), video(rating=good)) for value, good in [("5.1", "5.0"), ("-1", "0"), ("good", "2.5")]),
    Case("G-27", "video-view-count", video(view_count="1,000"), video(view_count="1000")),
    Case("G-27", "video-too-many-tags", video("<video:tag>x</video:tag>" * 33), video("<video:tag>x</video:tag>" * 32)),
    Case("G-27", "video-uploader", video(uploader="x" * 256), video(uploader="x" * 255)),
    Case("G-27", "video-uploader", video('<video:uploader info="https://other.example/">x</video:uploader>'), video('<video:uploader info="https://www.shop.example/x">x</video:uploader>')),
    *(Case("G-28", "video-date", video(**{tag: "01.06.2024"}), video(**{tag: "2024-06-01"})) for tag in ("publication_date", "expiration_date")),
    *(Case("G-28", "video-flag", video(**{tag: value}), video(**{tag: "no"})) for tag, value in [("live", "true"), ("family_friendly", "No"), ("requires_subscription", "1")]),
    *(Case("G-29", "video-restriction", video(f"<video:restriction{bad}</video:restriction>"), video('<video:restriction relationship="allow">TR DE</video:restriction>'))
      for bad in (' relationship="allow">TR,DE', ">TR", ' relationship="no">TR')),
    *(Case("G-29", "video-platform", video(bad), video('<video:platform relationship="deny">web tv</video:platform>'))
      for bad in ('<video:platform relationship="deny">desktop</video:platform>', '<video:platform relationship="deny">web</video:platform>' * 2)),
    *(Case("G-31", "deprecated-tag", video(f"<video:{tag}>x</video:{tag}>"), video(), "warning") for tag in ("category", "gallery_loc", "price", "tvshow")),
    Case("G-31", "deprecated-tag", video('<video:player_loc autoplay="ap=1">https://shop.example/p</video:player_loc>'), video('<video:player_loc>https://shop.example/p</video:player_loc>'), "warning"),
    Case("G-32", "video-loc-scheme", video(content_loc="rtmp://shop.example/v"), video(content_loc="ftp://shop.example/v.mp4"), "warning"),
    Case("Y-22", "yandex-video-ignored", video(), extended(IMAGE), "warning", engines=("yandex",)),
]  # fmt: skip
ARTICLES = [
    *(Case("G-40", "news-missing-tag", news(**{tag: None}), news()) for tag in NEWS),
    Case("G-40", "news-unknown-tag", news("<news:author>x</news:author>"), news(), "warning"),
    Case("G-41", "news-too-old", news(publication_date="2024-06-13T11:59:59Z"), news(publication_date="2024-06-13T12:00:01Z"), "warning"),
    Case("C-77", "news-too-old", news(publication_date="2024-06-13T13:59:00+03:00"), news(publication_date="2024-06-13T15:01:00+03:00"), "warning"),
    Case("G-41", "news-too-old:week", news(publication_date="2024-05-15"), news(publication_date="2024-06-10")),
    Case("G-42", "too-many-news", urlset(*(page(f"https://shop.example/{n}", article()) for n in range(1_001)), attributes=EXTENSIONS),
         urlset(*(page(f"https://shop.example/{n}", article()) for n in range(1_000)), attributes=EXTENSIONS)),
    Case("G-43", "news-duplicate", extended(article() * 2), news()),
    *(Case("G-44", "news-language", news(language=value), news(language=good)) for value, good in [("en-US", "zh-cn"), ("turkish", "tr"), ("EN", "gsw")]),
    Case("G-45", "news-date", news(publication_date="15.06.2024"), news()),
    Case("G-45", "news-name-parentheses", news(name="The Example Times (subscription)"), news(), "warning"),
    Case("G-46", "empty-sitemap:news", urlset(attributes=EXTENSIONS), news(), "warning"),
    *(Case("G-47", "deprecated-tag", news(f"<news:{tag}>x</news:{tag}>"), news(), "warning") for tag in ("access", "genres", "keywords", "stock_tickers")),
    Case("Y-13", "unknown-tag:extension", news(), extended(IMAGE), "warning", engines=("yandex",)),
]  # fmt: skip
LANGUAGES = [
    *(Case("G-50", "hreflang-attr", alternates(f"<xhtml:link {bad}/>"), CLUSTER)
      for bad in ('rel="alternate" hreflang="de"', f'hreflang="de" href="{DE}"', f'rel="alternate" href="{DE}"', f'rel="canonical" hreflang="de" href="{DE}"')),
    Case("G-51", "hreflang-no-self", versions((EN, {"de": DE}), (DE, BOTH)), CLUSTER),
    Case("G-52", "hreflang-not-reciprocal", versions((EN, BOTH), (DE, {"de": DE})), CLUSTER),
    Case("C-74", "hreflang-not-reciprocal", {"sitemap.xml": index(shard("en.xml")), "en.xml": versions((EN, BOTH))},
         {"sitemap.xml": index(shard("en.xml"), shard("de.xml")), "en.xml": versions((EN, BOTH)), "de.xml": versions((DE, BOTH))}),
    Case("G-52", "hreflang-not-reciprocal:outside", versions((EN, {**BOTH, "fr": "https://shop.example.fr/"}), (DE, BOTH)), CLUSTER, "warning"),
    Case("G-52", "hreflang-not-reciprocal:outside", versions((EN, BOTH)), CLUSTER, "warning"),
    *(Case("G-53", "hreflang-code", alternates(link(code, DE)), alternates(link(good, DE)))
      for code, good in [("en_US", "pt-BR"), ("en-UK", "en-GB"), ("TR-tr-x", "zh-Hant-TW"), ("jp", "ja"), ("", "tr"), ("de-AT-1996", "x-default")] if code),
    Case("G-54", "hreflang-duplicate", alternates(link("x-default", DE), link("x-default", EN)), alternates(link("x-default", DE))),
    Case("G-54", "hreflang-duplicate", alternates(link("EN", DE)), CLUSTER),
    *(Case("G-55", "hreflang-href", alternates(link("de", href)), CLUSTER) for href in ("//shop.example/de/", "/de/", "")),
    Case("G-55", "loc-not-encoded", alternates(link("de", "https://shop.example/ü")), CLUSTER),
    Case("Y-20", "yandex-hreflang-ignored", CLUSTER, extended(IMAGE), "warning", engines=("yandex",)),
]  # fmt: skip
CASES = [*IMAGES, *VIDEOS, *ARTICLES, *LANGUAGES]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rule(case: Case, tmp_path: Path) -> None:
    """Each rule is told for a file that breaks it, at the book's level, and not for one that keeps it."""
    check(case, tmp_path)


def test_deprecated_tags_concern_those_who_dropped_them(tmp_path: Path) -> None:
    """G-23, Y-21: Google's dead image tags are still read by Yandex, so that Yandex alone says nothing of them."""
    body = image("<image:loc>https://shop.example/p.jpg</image:loc><image:title>x</image:title>")
    assert "deprecated-tag" not in keys(said(tmp_path, body, engines=["yandex"]))
    assert "deprecated-tag" in keys(said(tmp_path, body, engines=["yandex", "google"]))


def test_mobile_alternates_are_no_language_versions(tmp_path: Path) -> None:
    """G-50: a separate mobile address is announced by `media` without hreflang, which is no fault."""
    body = extended(
        '<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href="https://m.shop.example/a"/>'
    )
    assert not keys(said(tmp_path, body))


def test_every_rule_has_an_example() -> None:
    """Issue 3: each error or warning that a file, its robots.txt or its set can raise is in a table.

    Headers have their own tests, and pages that the audit fetches have theirs (test_audit_*).
    """
    headers = {
        "http-status", "unreachable", "noindex-header", "s3-content-type-default", "s3-content-type", "s3-gz-encoding",
        "s3-gzip-without-encoding", "s3-content-encoding", "s3-cache-control", "stale-build", "child-not-followed",
        "unreadable", "xsd-invalid", "xsd-differs", "not-at-root", "index-lastmod-mismatch",
    }  # fmt: skip
    pages = {
        "page-status", "page-unreachable", "loc-redirects", "noindex", "non-canonical", "robots-disallowed", "page-type",
        "page-slow", "page-too-large",
    }  # fmt: skip
    shown = {case.key for case in [*CASES, *test_validate_rules.CASES]} | headers | pages
    assert shown == set(RULES)
