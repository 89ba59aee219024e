"""Cases B7 and B10, end to end: limits, and what is listed at all."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from sitemap_ops.validate import validate
from tests.building import HOME, build


def test_bytes_before_count(tmp_path: Path) -> None:
    """C-66, C-69: 22,000 links of more bytes than the strictest engine takes are two files, each within its limit."""
    rows = [{"url": f"/{n}/{'x' * 600}"} for n in range(22_000)]
    built = build(tmp_path, rows, "engines: [google, legacy-2005]\n")
    sizes = [len(gzip.decompress(path.read_bytes())) for path in built.files()]
    assert len(sizes) == 2
    assert max(sizes) <= 10_485_760 < sum(sizes)


def test_count_before_bytes(tmp_path: Path) -> None:
    """C-68: 60,000 URLs are never one file; the validator says the same of what was published."""
    built = build(tmp_path, [{"url": f"/{n}"} for n in range(60_000)])
    counts = [gzip.decompress(path.read_bytes()).count(b"<url>") for path in built.files()]
    assert sum(counts) == 60_000
    assert max(counts) <= 50_000
    assert validate(tmp_path / "public" / "sitemap.xml", base_url=f"{HOME}/").worst is None


def test_what_should_not_be_listed(tmp_path: Path) -> None:
    """C-95: redirected, missing, noindex, non-canonical and unpublished pages are left out, each counted; no request
    is made to find out."""
    rows = [
        {"url": "/a", "status": "200", "robots": "index,follow", "canonical": "https://a.example/a", "live": "yes"},
        {"url": "/moved", "status": "301"},
        {"url": "/gone", "status": "404"},
        {"url": "/hidden", "robots": "NOINDEX, follow"},
        {"url": "/copy", "canonical": "/a"},
        {"url": "/draft", "live": "no"},
    ]
    built = build(tmp_path, rows, section=", status: status, robots: robots, canonical: canonical, published: live")
    assert set(built.entries) == {f"{HOME}/a"}
    assert built.report["rejected"] == {"http-status": 2, "noindex": 1, "non-canonical": 1, "unpublished": 1}


VARIANTS = [
    {"url": "HTTPS://A.Example:443/A", "day": "2024-01-01"},
    {"url": "https://a.example/A", "day": "2024-03-01"},
    {"url": "https://a.example/A#top", "day": "2024-02-01"},
    {"url": "https://a.example", "day": ""},
    {"url": "https://a.example/", "day": "2024-01-01"},
    {"url": "/a", "day": "2024-01-01"},
    {"url": "/a/", "day": "2024-01-01"},
    {"url": "/%7ebob", "day": "2024-01-01"},
    {"url": "/~bob", "day": ""},
]


def test_variants(tmp_path: Path) -> None:
    """C-96: scheme, host, port, empty path, fragment and triplets are one; slash and case are not. The newest lastmod
    survives, in whatever order the rows come."""
    bodies = set()
    for turn in range(4):
        rows = random.Random(turn).sample(VARIANTS, len(VARIANTS))
        built = build(tmp_path / str(turn), rows, section=", lastmod: day")
        bodies.add(built.body())
    assert {loc: entry.get("lastmod") for loc, entry in built.entries.items()} == {
        f"{HOME}/": "2024-01-01",
        f"{HOME}/A": "2024-03-01",
        f"{HOME}/a": "2024-01-01",
        f"{HOME}/a/": "2024-01-01",
        f"{HOME}/~bob": "2024-01-01",
    }
    assert len(bodies) == 1
    assert built.report["duplicates"] == 4


def test_variants_by_option(tmp_path: Path) -> None:
    """C-96: slashes and tracking parameters are made one only where the site file says so."""
    rows = [{"url": url} for url in ("/a", "/a/", "/b?utm_source=x", "/b", "/c?y=1&x=2")]
    built = build(tmp_path, rows, "urls: {trailing_slash: remove, drop_params: [utm_*]}\n")
    assert set(built.entries) == {f"{HOME}/a", f"{HOME}/b", f"{HOME}/c?y=1&x=2"}
