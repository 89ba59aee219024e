"""The rest of the book: rules that restate another one's, or that need a limit, a place, headers or the schemas.

Together with the tables of `test_validate_rules` and `test_validate_extensions` each rule that can be an error or a
warning, and can be judged offline, has an example that breaks it and one that keeps it; `test_each_rule...` counts.
"""

# ruff: noqa: E501 - one case, one line

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitemap_ops.rules import RULES
from sitemap_ops.validate import validate
from tests.hostile import HEAD, bomb
from tests.services.shared import ROOT, shared
from tests.services.web import Answer, WebService, web_service
from tests.unit import test_validate_extensions, test_validate_rules
from tests.unit.test_validate_extensions import video
from tests.unit.validating import NOW, Case, check, extended, gz, index, keys, page, pages, said, shard, urlset

SHOP = "https://shop.example"
GOOD = pages(f"{SHOP}/a")
ONE = {"sitemap.xml": index(shard("s1.xml")), "s1.xml": GOOD}
MAIN = b"Sitemap: https://shop.example/sitemap.xml"
CASES = [
    Case("P-15", "changefreq-value", urlset(page(rest="<changefreq>her ay</changefreq>")), urlset(page(rest="<changefreq>monthly</changefreq>"))),
    Case("P-15", "priority-value", urlset(page(rest="<priority>0,8</priority>")), urlset(page(rest="<priority>0.8</priority>"))),
    Case("P-29", "double-entity-escape", pages(f"{SHOP}/%C3%BC?a&amp;amp;b"), pages(f"{SHOP}/%C3%BC?a&amp;b"), "warning"),
    Case("P-38", "too-large", {"s.xml.gz": gz(ONE["sitemap.xml"][:-17] + b" " * 52_428_800 + b"</sitemapindex>")}, ONE),
    Case("X-05", "too-many-images", extended("<image:image><image:loc>https://shop.example/p</image:loc></image:image>" * 1_001), extended("<image:image><image:loc>https://shop.example/p</image:loc></image:image>" * 1_000)),
    Case("G-02", "loc-not-absolute", pages("./mypage.html"), pages("https://www.shop.example/mypage.html"), engines=("google",)),
    Case("G-05", "lastmod-uniform", urlset(*[page(rest="<lastmod>2024-06-01T00:00:03Z</lastmod>")] * 100), urlset(*(page(rest=f"<lastmod>2024-06-01T00:00:{n % 60:02}Z</lastmod>") for n in range(100))), "warning", engines=("google",)),
    Case("G-09", "encoding", GOOD.replace(b"UTF-8", b"ISO-8859-9"), GOOD, engines=("google",)),
    Case("G-09", "xml-parse", pages(f"{SHOP}/?a&b"), pages(f"{SHOP}/?a&amp;b"), engines=("google",)),
    Case("G-12", "loc-not-encoded", pages(f"{SHOP}/ü"), pages(f"{SHOP}/%C3%BC"), engines=("google",)),
    Case("Y-10", "robots-sitemap-missing", {**ONE, "robots.txt": b"User-agent: *"}, {**ONE, "robots.txt": MAIN}, "warning", engines=("yandex",), base_url=SHOP),
    Case("SZ-01", "robots-sitemap-relative", {**ONE, "robots.txt": b"Sitemap: sitemap.xml"}, {**ONE, "robots.txt": MAIN}, engines=("seznam",), base_url=SHOP),
    Case("SZ-02", "priority-uniform", urlset(*[page(rest="<priority>1.0</priority>")] * 10), urlset(*[page(rest="<priority>1.0</priority>")] * 9, page(rest="<priority>0.2</priority>")), "warning", engines=("seznam",)),
    Case("U-11", "loc-not-encoded", pages(f"{SHOP}/表"), pages(f"{SHOP}/%E8%A1%A8")),
    Case("U-16", "percent-not-utf8", pages(f"{SHOP}/%FCmlat"), pages(f"{SHOP}/%C3%BCmlat"), "warning"),
    Case("U-17", "url-char-encoded", pages(f"{SHOP}/?q=a b"), pages(f"{SHOP}/?q=a%20b", f"{SHOP}/?q=a+b"), "warning"),
    Case("U-18", "loc-raw-quote", pages(f"{SHOP}/?n=O'Brien"), pages(f"{SHOP}/?n=O&apos;Brien"), "warning"),
    Case("U-32", "duplicate-loc", pages(f"{SHOP}/a", f"{SHOP}/a"), pages(f"{SHOP}/A", f"{SHOP}/a"), "warning"),
    Case("U-34", "loc-not-absolute", pages("../a"), pages(f"{SHOP}/a")),
    Case("S3-08", "too-large", {"s.xml": bomb(51, start=HEAD)}, {"s.xml.gz": GOOD}),
    Case("S3-13", "gzip-multi-member", {"s.xml.gz": gz(GOOD[:90]) + gz(GOOD[90:])}, {"s.xml.gz": gz(GOOD)}, "warning"),
    Case("PUB-05", "index-path-scope", {"index.xml": index(shard("s1.xml"))}, {"index.xml": index(shard("sm/s1.xml"))}, base_url=f"{SHOP}/sm/"),
    Case("PUB-05", "path-scope:submitted", {"sitemap.xml": pages(f"{SHOP}/a"), "robots.txt": b"Sitemap: https://shop.example/sm/sitemap.xml"}, {"sitemap.xml": pages(f"{SHOP}/sm/a"), "robots.txt": b"Sitemap: https://shop.example/sm/sitemap.xml"}, "warning", base_url=f"{SHOP}/sm/"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rule(case: Case, tmp_path: Path) -> None:
    """Each rule is told for a file that breaks it, at the book's level, and not for one that keeps it."""
    check(case, tmp_path)


@dataclass(frozen=True)
class Placed:
    """One file, said to be in a wrong place and in a right one."""

    rule: str
    key: str
    file: bytes
    bad: str
    good: str


PLACED = [
    Placed("P-46", "not-at-root", GOOD, f"{SHOP}/static/gen/v2/", f"{SHOP}/"),
    Placed("G-10", "path-scope", GOOD, f"{SHOP}/static/gen/v2/", f"{SHOP}/"),
    Placed("Y-07", "foreign-scheme", GOOD, "http://shop.example/", f"{SHOP}/"),
    Placed("Y-07", "foreign-host", GOOD, "https://www.shop.example/", f"{SHOP}/"),
    Placed("S3-22", "foreign-host", GOOD, "http://bucket.s3-website-eu-west-1.amazonaws.com/", f"{SHOP}/"),
    Placed("S3-22", "foreign-scheme", GOOD, "http://shop.example/", f"{SHOP}/"),
]


@pytest.mark.parametrize("case", PLACED, ids=lambda case: f"{case.rule} {case.key}")
def test_place(case: Placed, tmp_path: Path) -> None:
    """What is right at one address is wrong at another."""
    for base_url, expected in ((case.bad, True), (case.good, False)):
        found = said(tmp_path, case.file, engines=("google", "yandex"), base_url=base_url)
        assert (case.key in keys(found)) is expected


LIMITS = {
    "G-01": ("google", "too-many-urls"), "Y-04": ("yandex", "too-many-urls"), "B-01": ("bing", "too-many-urls"),
    "PUB-04": ("core", "too-large"), "G-57": ("google", "too-large"),
}  # fmt: skip
"""Rule: the engine whose limit it is, and the finding."""


@pytest.fixture(scope="module")
def at_the_limits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What is said of a file just within both limits, and of two just beyond one of them; for all engines at once."""
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="x-default" href="{SHOP}/{"x" * 2_000}"/>' for _ in range(10)
    )
    files = {
        "within": pages(*[f"{SHOP}/a"] * 50_000),
        "too-many-urls": pages(*[f"{SHOP}/a"] * 50_001),
        "too-large": urlset(*[page(rest=links)] * 2_600, attributes=' xmlns:xhtml="http://www.w3.org/1999/xhtml"'),
    }
    engines = sorted({engine for engine, _ in LIMITS.values()})
    return {name: keys(said(tmp_path_factory.mktemp(name), body, engines)) for name, body in files.items()}


@pytest.mark.parametrize("rule", LIMITS)
def test_limit(rule: str, at_the_limits: dict[str, set[str]]) -> None:
    """50,000 URLs and 52,428,800 bytes, annotations included, whoever's rule it is; either alone is too much."""
    key = LIMITS[rule][1]
    assert key in at_the_limits[key]
    assert key not in at_the_limits["within"]


@pytest.mark.parametrize(("count", "expected"), [(50_001, True), (50_000, False)])
def test_files_of_an_index(count: int, expected: bool, tmp_path: Path) -> None:
    """B-01: 50,000 sitemaps in an index."""
    found = said(tmp_path, index(*(shard("s1.xml") for _ in range(count))), engines=("bing",))
    assert ("too-many-sitemaps" in keys(found)) is expected


@dataclass(frozen=True)
class Served:
    """One file under two sets of headers, or two answers."""

    rule: str
    key: str
    bad: Answer
    good: Answer
    name: str = "sitemap.xml"


CACHE = {"Cache-Control": "public, max-age=300"}
XML = {"Content-Type": "application/xml; charset=utf-8", **CACHE}
GZIP = {"Content-Type": "application/gzip", **CACHE}
TEXT = {"Content-Type": "text/plain; charset=utf-8", **CACHE}
PACKED = gz(GOOD)
LINE = b"https://shop.example/a\n"
SERVED = [
    Served("Y-08", "http-status", Answer(GOOD, 301, {**XML, "Location": "/sitemap_index.xml"}), Answer(GOOD, headers=XML)),
    Served("B-05", "stale-build", Answer(GOOD, headers={**XML, "Last-Modified": "Thu, 13 Jun 2024 12:00:00 GMT"}), Answer(GOOD, headers={**XML, "Last-Modified": "Sat, 15 Jun 2024 06:00:00 GMT"})),
    Served("S3-01", "s3-content-type-default", Answer(GOOD, headers={**XML, "Content-Type": "binary/octet-stream"}), Answer(GOOD, headers=XML)),
    Served("S3-02", "s3-content-type", Answer(GOOD, headers={**XML, "Content-Type": "text/html"}), Answer(GOOD, headers={**XML, "Content-Type": "text/xml; charset=utf-8"})),
    Served("S3-03", "s3-content-type", Answer(LINE, headers={**TEXT, "Content-Type": "application/octet-stream"}), Answer(LINE, headers=TEXT), "urls.txt"),
    Served("S3-04", "s3-gz-encoding", Answer(PACKED, headers={**XML, "Content-Encoding": "gzip"}), Answer(PACKED, headers=GZIP), "s.xml.gz"),
    Served("S3-05", "s3-gzip-without-encoding", Answer(PACKED, headers=XML), Answer(PACKED, headers={**XML, "Content-Encoding": "gzip"})),
    Served("S3-06", "s3-gz-encoding", Answer(PACKED, headers={**GZIP, "Content-Encoding": "gzip"}), Answer(PACKED, headers=GZIP), "s.xml.gz"),
    Served("S3-09", "s3-cache-control", Answer(GOOD, headers={"Content-Type": "application/xml"}), Answer(GOOD, headers=XML)),
    Served("S3-09", "s3-cache-control", Answer(GOOD, headers={**XML, "Cache-Control": "max-age=31536000, immutable"}), Answer(GOOD, headers={**XML, "Cache-Control": "max-age=31536000, immutable"}), "s-0123456789abcdef.xml"),
]  # fmt: skip
FIXED_NAME = "sitemap.xml"


@pytest.fixture(scope="module")
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


@pytest.mark.parametrize("case", SERVED, ids=lambda case: f"{case.rule} {case.key} {case.name}")
def test_headers(case: Served, web: WebService) -> None:
    """What a server says about a file is judged with it: type, encoding, caching, status."""
    for answer, expected in ((case.bad, True), (case.good, False)):
        name = FIXED_NAME if expected and case.name.startswith("s-") else case.name
        web.answers = {f"/{name}": answer}
        assert (case.key in keys(validate(web.url + name, engines=("bing", "google"), now=NOW))) is expected


@pytest.mark.parametrize(("claimed", "expected"), [("2024-06-14T12:00:00Z", True), ("2024-06-01T12:00:00Z", False)])
def test_index_that_claims_too_much(claimed: str, expected: bool, web: WebService) -> None:
    """S3-15: an index dates a file later than the server that has it: it was written anew for nothing."""
    listed = shard("a.xml", f"<lastmod>{claimed}</lastmod>", web.url)
    told = {**XML, "Last-Modified": "Sat, 01 Jun 2024 12:00:00 GMT"}
    web.answers = {"/sitemap.xml": Answer(index(listed), headers=XML), "/a.xml": Answer(GOOD, headers=told)}
    assert ("index-lastmod-mismatch" in keys(validate(web.url + "sitemap.xml", now=NOW))) is expected


@pytest.mark.parametrize(("hosts", "expected"), [((), True), ((SHOP,), False)])
def test_cross_submission(hosts: tuple[str, ...], expected: bool, tmp_path: Path) -> None:
    """P-47: pages of another host than the file's are foreign, unless that host is named: its robots.txt proves it."""
    (tmp_path / "sitemap.xml").write_bytes(GOOD)
    found = validate(tmp_path / "sitemap.xml", base_url="https://files.example/", hosts=hosts, now=NOW)
    assert ("foreign-host" in keys(found)) is expected


SCHEMA: list[tuple[str, str, bytes, bytes]] = [
    ("X-01", "xsd-differs", urlset(page(rest="<lastmod>2005-01</lastmod>")), urlset(page(rest="<lastmod>2005-01-01T10:00:00+03:00</lastmod>"))),
    ("X-03", "xsd-invalid", extended("<image:image/>"), extended("<image:image><image:loc>https://shop.example/p</image:loc></image:image>")),
    ("X-06", "xsd-differs", video(title="x" * 101), video(title="x" * 100)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "key", "bad", "good"), SCHEMA, ids=[rule for rule, *_ in SCHEMA])
def test_schema(rule: str, key: str, bad: bytes, good: bytes, tmp_path: Path) -> None:
    """The published schemas, all of them as one, are a second opinion, told apart from our own."""
    for body, expected in ((bad, True), (good, False)):
        (tmp_path / "sitemap.xml").write_bytes(body)
        found = validate(tmp_path / "sitemap.xml", xsd=shared("xsd"), now=NOW)
        assert (key in keys(found)) is expected


def examples() -> Iterator[tuple[str, str]]:
    """Rule and key of every example of a finding."""
    for case in [*test_validate_rules.CASES, *test_validate_extensions.CASES, *CASES, *PLACED, *SERVED]:
        yield case.rule, case.key
    yield from ((rule, key) for rule, (_, key) in LIMITS.items())
    yield from ((rule, key) for rule, key, *_ in SCHEMA)
    yield from (("B-01", "too-many-sitemaps"), ("S3-15", "index-lastmod-mismatch"), ("P-47", "foreign-host"))


def test_each_rule_has_examples() -> None:
    """Issue 3: an example that breaks it and one that keeps it, for each rule that can be an error or a warning."""
    book = json.loads(shared("rules.json").read_text(encoding="utf-8"))
    serious = {rule["id"] for rule in book if rule["severity"] in ("ERROR", "WARNING")}
    offline = (ROOT / "docs" / "rules-offline.md").read_text(encoding="utf-8")
    excused = set(re.findall(r"\b[A-Z]+\d?-\d+\b", offline))
    assert serious - {rule for rule, _ in examples()} <= excused


def test_examples_are_of_their_rules() -> None:
    """An example shows the rule that it names: the finding's entry in the table has it (cases of the field apart)."""
    strays = {(rule, key) for rule, key in examples() if not rule.startswith("C-") and rule not in RULES[key].ids}
    assert not strays
