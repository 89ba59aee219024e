"""What is said of one page, by its answer: directives, canonicals, types, weight."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_ops.audit.fetch import MAX_BYTES, Page
from sitemap_ops.audit.head import header_canonicals, header_noindex, read_head
from sitemap_ops.audit.judge import Wanted, judge_page, same_url
from sitemap_ops.audit.pace import MAX_PAUSES, Pace
from sitemap_ops.audit.sample import Sample
from sitemap_ops.urls import UrlPolicy

URL = "https://www.example.com/p/%C3%BC?a=1"
POLICY = UrlPolicy(any_host=True)
WANTED = Wanted(3.0, ("google", "bing", "yandex"), POLICY)
ROBOTS = WANTED.robots()


def page(
    body: bytes = b"<html>", status: int = 200, seconds: float = 0.1, size: int | None = None, **headers: Any
) -> Page:
    named = {"content-type": ["text/html"]} | {
        name.replace("_", "-"): value if isinstance(value, list) else [value] for name, value in headers.items()
    }
    return Page(URL, status, named, body, len(body) if size is None else size, seconds)


def codes(answer: Page, wanted: Wanted = WANTED) -> list[str]:
    return [fault.code for fault in judge_page(answer, wanted)]


@pytest.mark.parametrize(
    ("values", "out"),
    [
        (["noindex"], True), (["NOINDEX, nofollow"], True), (["none"], True), (["all", "noindex"], True),
        (["googlebot: noindex"], True), (["BingBot: none"], True), (["yandex: noindex"], True), (["*: noindex"], True),
        (["otherbot: nofollow, googlebot: noindex"], True),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], True),
        (["otherbot: noindex"], False), (["otherbot: noindex, nofollow"], False), (["noarchive, nosnippet"], False),
        (["max-image-preview: none"], False), (["max-snippet: 0, max-video-preview: -1"], False),
        ([""], False), ([], False), (["noindexed", "xnoindex"], False),
    ],
)  # fmt: skip
def test_x_robots_tag(values: list[str], out: bool) -> None:
    """noindex and none, said to all or to one of the site's engines; a name holds until the next name."""
    assert (header_noindex(values, ROBOTS) is not None) is out


@pytest.mark.parametrize(
    ("head", "out"),
    [
        ('<meta name="robots" content="noindex">', True),
        ("<META CONTENT='FOLLOW , NoIndex' NAME=ROBOTS>", True),
        ('<meta name="googlebot" content="none">', True),
        ('<meta name="yandex" content="noindex"/>', True),
        ('<meta name="Bingbot" content="noindex">', True),
        ("</head><body><p>late<meta name=robots content=noindex>", True),
        ('<meta name="robots" content="noarchive, max-image-preview:none">', False),
        ('<meta name="otherbot" content="noindex">', False),
        ('<meta name="description" content="noindex">', False),
        ('<!-- <meta name="robots" content="noindex"> -->', False),
        ("<script>'<meta name=robots content=noindex>'</script>", False),
        ("<title><meta name=robots content=noindex></title>", False),
        ('<meta property="robots" content="noindex">', False),
    ],
)
def test_robots_meta(head: str, out: bool) -> None:
    """As a browser reads it: any case and quoting, nothing in comments, scripts or titles."""
    html = f"<!doctype html><html><head>{head}".encode()
    assert bool(read_head(html, URL, None, ROBOTS).noindex) is out


@pytest.mark.parametrize(
    ("head", "canonicals"),
    [
        ('<link rel="canonical" href="https://www.example.com/b">', ["https://www.example.com/b"]),
        ("<LINK HREF=' /b ' REL='nofollow CANONICAL'>", ["https://www.example.com/b"]),
        ('<link rel="canonical" href="">', []),
        ('<link rel="canonical">', []),
        ('<base href="https://cdn.example/x/"><link rel=canonical href=b>', ["https://cdn.example/x/b"]),
        ('<link rel="alternate" href="/b"><link rel="canonicals" href="/c">', []),
        ('</head><body><link rel="canonical" href="/b">', []),
        ('<link rel="canonical" href="/a"><link rel="canonical" href="/b">',
         ["https://www.example.com/a", "https://www.example.com/b"]),
        ('<link rel="canonical" href="http://[">', ["http://["]),
    ],
)  # fmt: skip
def test_canonical_in_html(head: str, canonicals: list[str]) -> None:
    """G-03: in the head alone, against the base, each of several."""
    assert list(read_head(f"<html><head>{head}".encode(), URL, None, ROBOTS).canonicals) == canonicals


@pytest.mark.parametrize(
    ("values", "canonicals"),
    [
        (['<https://a.example/b>; rel="canonical"'], ["https://a.example/b"]),
        (["</b>; rel=canonical; title=x"], ["https://www.example.com/b"]),
        (['</style.css>; rel=preload; as=style, </b>; title="a, b; c"; rel="next CANONICAL"'], ["https://www.example.com/b"]),
        (['</x>; rel="preload"', "</b>;rel=canonical"], ["https://www.example.com/b"]),
        (['</b>; title="rel=canonical"'], []),
        (["nonsense", "<", "</b>"], []),
    ],
)  # fmt: skip
def test_canonical_in_a_header(values: list[str], canonicals: list[str]) -> None:
    """RFC 8288: several links in one header or in several, relations as a list."""
    assert list(header_canonicals(values, URL)) == canonicals


@pytest.mark.parametrize(
    ("charset", "bytes_"),
    [("utf-8", "ü".encode()), ("iso-8859-9", b"\xfc"), ("no-such-charset", "ü".encode()), (None, "ü".encode())],
)
def test_charset_of_a_page(charset: str | None, bytes_: bytes) -> None:
    """A URL in the head is read in the page's own charset; one that is not known is no obstacle."""
    html = b"<html><head><meta charset='utf-8'><link rel=canonical href='/p/" + bytes_ + b"'>"
    assert read_head(html, URL, charset, ROBOTS).canonicals == ("https://www.example.com/p/ü",)


@given(st.binary(max_size=400), st.sampled_from([None, "utf-8", "utf-16", "shift_jis"]))
def test_any_bytes_are_read(body: bytes, charset: str | None) -> None:
    """Whatever a server sends as HTML, nothing is raised."""
    read_head(body, URL, charset, ROBOTS)
    read_head(b"<html><head>" + body, URL, charset, ROBOTS)
    list(judge_page(page(body), WANTED))


@given(st.text(max_size=60))
def test_any_headers_are_read(value: str) -> None:
    """Nor by a header."""
    list(judge_page(page(x_robots_tag=value, link=[value, f"<{value}>; rel=canonical"], content_type=value), WANTED))


@pytest.mark.parametrize(
    ("canonical", "same"),
    [
        (URL, True), ("https://www.example.com/p/ü?a=1", True), ("https://WWW.Example.com:443/p/%c3%bc?a=1#top", True),
        ("https://www.example.com/x/../p/%C3%BC?a=1", True),
        ("http://www.example.com/p/%C3%BC?a=1", False), ("https://www.example.com/p/%C3%BC", False),
        ("https://www.example.com/p/%C3%BC/?a=1", False), ("https://example.com/p/%C3%BC?a=1", False),
        ("http://[", False),
    ],
)  # fmt: skip
def test_when_two_urls_are_one(canonical: str, same: bool) -> None:
    """DESIGN 5: as the site's own policy makes them; scheme, slash and query tell pages apart."""
    assert same_url(canonical, URL, POLICY) is same


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (page(), []),
        (page(b"", 404), ["page-status"]), (page(b"", 503), ["page-status"]), (page(b"", 204), ["page-status"]),
        (page(b"", 301), ["page-status"]), (page(b"", 301, location="/b"), []),
        (page(b"", 304, location="/b"), ["page-status"]),
        (page(seconds=3.1), ["page-slow"]), (page(seconds=2.9), []),
        (page(size=MAX_BYTES), []), (page(size=MAX_BYTES + 1), ["page-too-large"]),
        (page(b"%PDF-1", size=MAX_BYTES * 9, content_type="application/pdf"), []),
        (page(x_robots_tag="noindex"), ["noindex"]),
        (page(b"<meta name=robots content=noindex>", x_robots_tag="noindex"), ["noindex"]),
        (page(link=f"<{URL}>; rel=canonical"), []), (page(link="</>; rel=canonical"), ["non-canonical"]),
        (page(f'<head><link rel=canonical href="{URL}">'.encode(), link="</>; rel=canonical"), ["non-canonical"]),
        (page(b"\x1f\x8b\x08", content_encoding="gzip"), ["gzip-double"]),
        (page(b"\x1f\x8b\x08", content_encoding="gzip", x_robots_tag="none"), ["gzip-double", "noindex"]),
        (page(b"\x1f\x8b\x08"), ["page-type"]), (page(b"%PDF-1.4"), ["page-type"]), (page(b"\x89PNG\r"), ["page-type"]),
    ],
    ids=lambda each: None if isinstance(each, Page) else "+".join(each) or "good",
)  # fmt: skip
def test_what_is_said(answer: Page, expected: list[str]) -> None:
    """Each fault under its own code; several of one page side by side; a failed page has no other fault."""
    assert codes(answer) == expected


@pytest.mark.parametrize(
    "media",
    ["text/html; charset=utf-8", "application/xhtml+xml", "TEXT/HTML", "application/pdf", "text/plain", "image/webp",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/rss+xml", "video/mp4"],
)  # fmt: skip
def test_types_that_are_indexed(media: str) -> None:
    """A sitemap may list every kind of file that engines index."""
    assert codes(page(b"", content_type=media)) == []


@pytest.mark.parametrize(
    "media",
    ["", "application/octet-stream", "binary/octet-stream", "application/json", "text/css", "html", "multipart/x"],
)
def test_types_that_are_not(media: str) -> None:
    """S3's default type, none, or one of no page: an engine downloads the page, or leaves it."""
    assert codes(page(b"<!doctype html>", content_type=media)) == ["page-type"]


@pytest.mark.parametrize(
    "body", [b"<!DOCTYPE html><p>", b"\xef\xbb\xbf\n<html lang=tr>", b"<!-- a\nb --> <body>", b"  <HEAD>"]
)
def test_html_that_is_served_as_text(body: bytes) -> None:
    """HTML under another type is shown as its source."""
    assert codes(page(body, content_type="text/plain")) == ["page-type"]
    assert codes(page(b"<p>" + body, content_type="text/plain")) == []


def test_only_the_named_engines_robots_count() -> None:
    """A site that is made for Yandex alone may say noindex to Googlebot."""
    yandex = Wanted(3.0, ("yandex",), POLICY)
    assert codes(page(x_robots_tag="googlebot: noindex"), yandex) == []
    assert codes(page(x_robots_tag="yandexbot: noindex"), yandex) == ["noindex"]


class TestSample:
    URLS: ClassVar = [f"https://www.example.com/{number}" for number in range(5_000)]

    def taken(self, size: int, seed: int, *batches: list[str]) -> list[str]:
        sample = Sample(size, seed, ["https://www.example.com/"])
        for batch in batches:
            sample.take(pa.array(batch, pa.string()))
        return sample.urls()

    def test_same_sample_for_any_order(self) -> None:
        """Issue 6: size and seed say which pages, not how the files are cut or read."""
        first = self.taken(100, 1, self.URLS)
        shuffled = np.random.default_rng(7).permutation(np.array(self.URLS, object)).tolist()
        assert first == self.taken(100, 1, *(shuffled[start : start + 17] for start in range(0, 5_000, 17)))
        assert len(set(first)) == 100
        assert first != self.taken(100, 2, self.URLS)

    def test_every_page_is_as_likely(self) -> None:
        """Of 5,000 pages 400 are taken for each of 100 seeds: every page some 8 times, none always."""
        counts = np.zeros(5_000)
        for seed in range(100):
            counts[[int(url.rpartition("/")[2]) for url in self.taken(400, seed, self.URLS)]] += 1
        assert counts.sum() == 40_000
        assert counts.max() < 30
        assert 7.5 < counts[:2_500].mean() < 8.5

    def test_url_listed_twice(self) -> None:
        """A page is asked once."""
        assert sorted(self.taken(10, 1, self.URLS[:3] * 2, self.URLS[:3])) == self.URLS[:3]

    def test_other_hosts_are_not_taken(self) -> None:
        """What is not the site's own is judged as a loc, and not asked."""
        foreign = [
            "https://www.example.com.evil.example/",
            "http://www.example.com/a",
            "https://m.example.com/",
            "/a",
            "",
        ]
        assert self.taken(10, 1, [*foreign, "https://WWW.example.com/b", "https://www.example.com?c"]) != []
        assert self.taken(10, 1, foreign) == []

    def test_none(self) -> None:
        """A sample of none is the files alone."""
        assert self.taken(0, 1, self.URLS) == []


class TestPace:
    def test_evenly_at_the_rate(self) -> None:
        """Issue 6: so many requests a second and no burst, over all threads; a pause holds all of them."""
        now, slept = 100.0, []

        def sleep(seconds: float) -> None:
            nonlocal now
            now += seconds
            slept.append(round(seconds, 6))

        pace = Pace(4.0, lambda: now, sleep)
        for _ in range(5):
            pace.wait()
        assert slept == [0.25] * 4
        now += 10
        pace.wait()
        assert pace.pause(7)
        pace.wait()
        assert slept[4:] == [7.0]

    def test_patience_is_bounded(self) -> None:
        """A server that asks for ever more patience does not get it: a minute at a time, ten times."""
        pace = Pace(1.0, lambda: 0.0, lambda seconds: None)
        assert [pace.pause(3_600) for _ in range(MAX_PAUSES + 1)] == [True] * MAX_PAUSES + [False]
        assert pace._next == 60.0
