"""Where the files lie, and what that means for the pages: C-22, C-23, C-24, C-26."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.report.scope import robots_lines, scope_findings
from tests.stepping import TWO_SECTIONS, make_site, run_all


def test_bucket_host(tmp_path: Path) -> None:
    """C-22, C-23, C-24, C-84: files on the bucket's host are told, with the line for the pages' robots.txt, and what
    Google, Bing and Yandex want besides."""
    bucket = "https://s3.amazonaws.com/bucket/"
    report = run_all(make_site(tmp_path, f"files_url: {bucket}\n" + TWO_SECTIONS))
    (finding,) = [each for each in report["findings"] if each["code"] == "foreign-host"]
    assert (finding["rule"], finding["place"]) == ("P-47", bucket)
    for told in ("https://a.example/robots.txt", "Search Console", "Bing refuses", "Yandex"):
        assert told in finding["advice"]
    assert report["robots_txt"] == [f"Sitemap: {bucket}sitemap.xml"]


def test_only_the_sites_engines_are_named(tmp_path: Path) -> None:
    """C-23: what an engine wants is told to sites that name it."""
    text = "files_url: https://cdn.example/\nengines: [google]\n"
    (finding,) = scope_findings(make_site(tmp_path, text + TWO_SECTIONS))
    assert "Search Console" in finding["advice"]
    assert "Bing" not in finding["advice"]


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ("https://a.example/", []),
        ("https://a.example/sitemaps/", ["path-scope"]),
        ("http://a.example/", ["foreign-host"]),
        ("https://a.example:8443/", ["foreign-host"]),
        ("https://www.a.example/", ["foreign-host"]),
    ],
)
def test_scope(tmp_path: Path, files: str, codes: list[str]) -> None:
    """C-26, C-25: a sitemap speaks for its own folder, scheme, host and port."""
    site = make_site(tmp_path, f"files_url: {files}\n" + TWO_SECTIONS)
    assert [finding["code"] for finding in scope_findings(site)] == codes


def test_lines() -> None:
    """P-48: a line for each index, with its full URL."""
    assert robots_lines(["https://a.example/sitemap.xml"]) == ["Sitemap: https://a.example/sitemap.xml"]
