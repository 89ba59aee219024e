"""Cases of the field, end to end: rows go in by a site file, and what is looked at lies in the published files.

B3 (host, path, scope), B4 (escaping), B6 (lastmod), B7 (limits) and B10 (what is listed). Each step has its own tests.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site import load_site
from sitemap_ops.validate import validate
from tests.stepping import run_all

HOME = "https://a.example"
NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}"
SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
guards: {max_rejected: 1, max_drop: 1}
"""


@dataclass(frozen=True)
class Built:
    """What a run published. entries: by loc, each entry's values by tag; images: of each, by tag."""

    folder: Path
    report: dict[str, Any]
    entries: dict[str, dict[str, str]]
    images: dict[str, list[dict[str, str]]]
    rejects: dict[str, str]

    def body(self) -> str:
        """All published sitemaps, as text."""
        return "".join(gzip.decompress(path.read_bytes()).decode() for path in self.files())

    def files(self) -> list[Path]:
        return sorted((self.folder / "public").glob("*.xml.gz"))


def build(folder: Path, rows: Sequence[dict[str, str]], keys: str = "", section: str = "", day: int = 30) -> Built:
    """Run a site whose one section has these rows as CSV; loc is the column `url`."""
    folder.mkdir(exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    source = f"sections:\n  - {{name: all, source: {{type: csv, path: rows.csv}}, loc: url{section}}}\n"
    (folder / "site.yaml").write_text(SITE + keys + source)
    report = run_all(load_site(folder / "site.yaml"), day=day)
    rejects = gzip.decompress(
        (folder / ".sitemap-ops/shop/releases" / report["release"] / "rejects.csv.gz").read_bytes()
    )
    entries, images = {}, {}
    for path in (folder / "public").glob("*.xml.gz"):
        for url in etree.fromstring(gzip.decompress(path.read_bytes())).iter(f"{NS}url"):
            values = {tag.tag.removeprefix(NS): tag.text or "" for tag in url}
            entries[values["loc"]] = values
            images[values["loc"]] = [
                {tag.tag.removeprefix(IMAGE): tag.text or "" for tag in image} for image in url.iter(f"{IMAGE}image")
            ]
    reasons = {row["value"]: row["reason"] for row in csv.DictReader(io.StringIO(rejects.decode(), newline=""))}
    return Built(folder, report, entries, images, reasons)


# B3 and B4: one inventory of odd URLs ------------------------------------------------------------------------------

URLS = {
    "/plain": "/plain",
    "/fruit-&-veg?a=1&b=2": "/fruit-&-veg?a=1&b=2",
    "/Bücher": "/B%C3%BCcher",
    "/B%C3%BCcher": "/B%C3%BCcher",
    "/100%-wool/caf%C3%A9": "/100%25-wool/caf%C3%A9",
    "/article/foo": "/article/foo",
    "/article%2Ffoo": "/article%2Ffoo",
    "https://a.example/colon": "/colon",
    " /Managing Domains.html ": "/Managing%20Domains.html",
    "/q?q=a+b c": "/q?q=a+b%20c",
    "/künstliche-intelligenz": "/k%C3%BCnstliche-intelligenz",
    "/проверка/": "/%D0%BF%D1%80%D0%BE%D0%B2%D0%B5%D1%80%D0%BA%D0%B0/",
    "/jp/新": "/jp/%E6%96%B0",
    "/🌞": "/%F0%9F%8C%9E",
    "/a:b$c[1]@!'()*+,;=": "/a:b$c%5B1%5D@!'()*+,;=",
    '/{|}^`<>"': "/%7B%7C%7D%5E%60%3C%3E%22",
    "/media/https://a.example/pub": "/media/https://a.example/pub",
}
REFUSED = {
    "http://pending.a.example/x": "foreign-host",
    "http://a.example/insecure": "foreign-scheme",
    "https://a.example:8443/x": "foreign-port",
    "/a\tb": "url-inner-newline",
    "/a\nb": "url-inner-newline",
    "/esc\x1b": "url-control-char",
    "/vt\x0bx": "url-control-char",
    "/nonchar\ufffe": "url-control-char",
    "/caf\ufffd": "url-replacement-char",
}
TEXTS = {
    "/t/ampersand": "Fish & chips < \"5\" > '4'",
    "/t/emoji": "Sun \U0001f31e",
    "/t/control": "a\x1bb\x02c\x0bd\ufffee",
    "/t/apostrophe": "We're live",
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every URL and text of B3 and B4 in one run."""
    rows = [{"url": url} for url in [*URLS, *REFUSED]]
    rows += [
        {"url": url, "images": json.dumps({"loc": f"/steckrüben & co/{n}.jpg", "title": text})}
        for n, (url, text) in enumerate(TEXTS.items())
    ]
    rows.append({"url": "/t/absolute", "images": json.dumps({"loc": "https://a.example/media/1.jpg", "title": "x"})})
    return build(tmp_path_factory.mktemp("odd"), rows, "deprecated_tags: true\n", ", images: images")


def test_every_url_is_what_it_should_be(odd: Built) -> None:
    """C-30, C-31, C-34, C-35, C-37, C-38, C-39, C-40, C-42, C-46: each URL of the inventory as it has to be listed."""
    assert set(odd.entries) == {HOME + loc for loc in [*URLS.values(), *TEXTS, "/t/absolute"]}


def test_one_spelling(odd: Built) -> None:
    """C-34: `/Bücher` and `/B%C3%BCcher` are one URL, encoded once; what is published is read back unchanged."""
    assert odd.report["duplicates"] == 1
    assert "%25C3" not in odd.body()


def test_percent_by_percent(odd: Built) -> None:
    """C-35: a lone % does not make the triplets beside it look unencoded."""
    assert f"{HOME}/100%25-wool/caf%C3%A9" in odd.entries


def test_slashes_and_colons(odd: Built) -> None:
    """C-37, C-38: a slash in a path and the colon of a scheme stay; %2F stays too, as another URL."""
    assert {f"{HOME}/article/foo", f"{HOME}/article%2Ffoo", f"{HOME}/colon"} <= set(odd.entries)


def test_spaces(odd: Built) -> None:
    """C-39: ends are trimmed, inner blanks %20, a + stays; tabs and line breaks inside are refused and counted."""
    assert odd.report["changed"]["url-trimmed"] == 1
    assert odd.report["rejected"]["url-inner-newline"] == 2


def test_reserved_characters(odd: Built) -> None:
    """C-46: RFC 3986's pchar stay as they are, brackets and the like are encoded."""
    assert f"{HOME}/a:b$c%5B1%5D@!'()*+,;=" in odd.entries


def test_ampersands_in_the_file(odd: Built) -> None:
    """C-31: in the XML each & is an entity; a parser gives the URL back."""
    assert "<loc>https://a.example/fruit-&amp;-veg?a=1&amp;b=2</loc>" in odd.body()


def test_every_field_is_escaped(odd: Built) -> None:
    """C-32, C-45: & < > " ' in an extension's texts come out as they went in, whole."""
    assert odd.images[f"{HOME}/t/ampersand"][0]["title"] == TEXTS["/t/ampersand"]
    assert odd.images[f"{HOME}/t/apostrophe"][0]["title"] == "We're live"


def test_urls_of_images(odd: Built) -> None:
    """C-40: image:loc is encoded as loc is. C-30: one that is absolute stays as it is, and is joined to nothing."""
    assert odd.images[f"{HOME}/t/ampersand"][0]["loc"] == f"{HOME}/steckr%C3%BCben%20&%20co/0.jpg"
    assert odd.images[f"{HOME}/t/absolute"][0]["loc"] == f"{HOME}/media/1.jpg"


def test_base_joined_twice(odd: Built) -> None:
    """C-30: a second `://` in a path is flagged."""
    assert odd.report["changed"]["url-in-path"] == 1


def test_emoji(odd: Built) -> None:
    """C-42: code points, never halves of UTF-16."""
    assert odd.images[f"{HOME}/t/emoji"][0]["title"] == "Sun \U0001f31e"
    assert "&#" not in odd.body()


def test_control_characters(odd: Built) -> None:
    """C-43: in a URL they cost the row, in a text themselves; every other row is published."""
    assert odd.images[f"{HOME}/t/control"][0]["title"] == "abcde"
    assert odd.report["rejected"]["url-control-char"] == 3


def test_foreign_rows(odd: Built) -> None:
    """C-25: rows of another host, scheme or port are refused, each with its reason."""
    assert odd.rejects == REFUSED


def test_the_validator_agrees(odd: Built) -> None:
    """C-31, C-43, C-66: the published file is valid; what is odd about a URL is said, and nothing is wrong."""
    found = validate(odd.folder / "public" / "sitemap.xml", base_url=f"{HOME}/")
    assert found.worst != "error"


def test_base_is_required(tmp_path: Path) -> None:
    """C-27: without a base nothing runs; with it, relative rows are resolved."""
    (tmp_path / "site.yaml").write_text(
        "site: shop\ntarget: public/\nsections: [{name: a, source: {type: csv, path: a.csv}}]\n"
    )
    with pytest.raises(SiteFileError, match="base_url is missing"):
        load_site(tmp_path / "site.yaml")
    assert set(build(tmp_path, [{"url": "/tags/x/"}]).entries) == {f"{HOME}/tags/x/"}


def test_index_locs_are_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-29: whatever the working folder, as under cron, the index lists files_url and a key, and the file is there."""
    monkeypatch.chdir("/")
    built = build(tmp_path, [{"url": "/a"}], "files_url: https://cdn.example/maps\n")
    (listed,) = re.findall("<loc>(.*?)</loc>", (tmp_path / "public/sitemap.xml").read_text())
    assert listed == f"https://cdn.example/maps/{built.files()[0].name}"


def test_files_on_another_host(tmp_path: Path) -> None:
    """C-22, C-23, C-24: pages of one host in files of another: told, with the line that the pages' robots.txt needs."""
    report = build(tmp_path, [{"url": "/a"}], "files_url: https://s3.amazonaws.com/bucket/\n").report
    assert report["robots_txt"] == ["Sitemap: https://s3.amazonaws.com/bucket/sitemap.xml"]
    (finding,) = [each for each in report["findings"] if each["code"] == "foreign-host"]
    assert "https://a.example/robots.txt" in finding["advice"]
    assert "Bing" in finding["advice"]


def test_files_in_a_folder(tmp_path: Path) -> None:
    """C-26: files in a folder list pages above it: told."""
    report = build(tmp_path, [{"url": "/about"}], "files_url: https://a.example/catalog/\n").report
    assert "path-scope" in {each["code"] for each in report["findings"]}


# B6: lastmod -------------------------------------------------------------------------------------------------------

LASTMODS = {
    "naive": ("2018-02-21T13:31:28", "2018-02-21"),
    "aware": ("2018-02-21T13:31:28+03:00", "2018-02-21T13:31:28+03:00"),
    "fraction": ("2018-02-21T13:31:59.752706Z", "2018-02-21T13:31:59Z"),
    "nanoseconds": ("2018-02-21T13:31:59.000000001Z", "2018-02-21T13:31:59Z"),
    "joined": ("20180221", "2018-02-21"),
    "unpadded": ("2018-2-1", "2018-02-01"),
    "ambiguous": ("02.03.18", None),
    "words": ("21 şubat 2018 öğleden sonra", None),
    "old": ("1940-12-22", None),
    "date": ("2018-02-21", "2018-02-21"),
    **{f"missing-{value.strip('<>') or 'blank'}": (value, None) for value in ("NaT", "nan", "None", "<NA>", "")},
}


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Built:
    rows = [{"url": f"/{name}", "day": text} for name, (text, _) in LASTMODS.items()]
    return build(tmp_path_factory.mktemp("dated"), rows, section=", lastmod: day")


@pytest.mark.parametrize("name", LASTMODS)
def test_lastmod(name: str, dated: Built) -> None:
    """C-55, C-57, C-58, C-59, C-61: each time in one of two forms that every reader takes, or no tag at all."""
    assert dated.entries[f"{HOME}/{name}"].get("lastmod") == LASTMODS[name][1]


def test_zone(tmp_path: Path, dated: Built) -> None:
    """C-55: a naive time is its date, and counted, until the site file names its zone."""
    assert dated.report["changed"]["lastmod-timezone"] == 1
    built = build(tmp_path, [{"url": "/a", "day": "2018-02-21T13:31:28"}], section=", lastmod: day, lastmod_timezone: Europe/Istanbul")  # fmt: skip  # noqa: E501
    assert built.entries[f"{HOME}/a"]["lastmod"] == "2018-02-21T13:31:28+03:00"


def test_missing_is_never_text(dated: Built) -> None:
    """C-59: the output holds no NaT, nan, None or <NA>; C-63: what is absent stays absent."""
    assert not re.search(r"<lastmod>\s*(NaT|nan|None|&lt;NA&gt;)?\s*</lastmod>", dated.body())


def test_what_was_dropped_is_counted(dated: Built) -> None:
    """C-58, C-61: no text is passed through; what can't be used is counted by its reason."""
    assert dated.report["changed"]["lastmod-before-1970"] == 1
    assert dated.report["changed"]["lastmod-format"] >= 1


def test_all_rows_say_now(tmp_path: Path) -> None:
    """C-63: a column that holds the time of the reading, for every row, is warned of."""
    rows = [{"url": f"/{n}", "day": "2026-11-30T03:00:00Z"} for n in range(200)]
    findings = build(tmp_path, rows, section=", lastmod: day").report["findings"]
    assert "lastmod-uniform" in {each["code"] for each in findings}


def test_index_lastmod(tmp_path: Path) -> None:
    """C-64: the index dates a shard by when its bytes last changed: not by a run that changed nothing, but by a row
    that is gone."""
    rows = [{"url": f"/{n}", "day": "2026-01-01"} for n in range(10)]
    stamps = []
    for day, kept in ((1, rows), (2, rows), (3, rows[1:])):
        build(tmp_path, kept, section=", lastmod: day", day=day)
        stamps += re.findall("<lastmod>(.*?)</lastmod>", (tmp_path / "public/sitemap.xml").read_text())
    assert stamps == [f"2026-11-0{day}T03:00:00+00:00" for day in (1, 1, 3)]


# B7: limits --------------------------------------------------------------------------------------------------------


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


# B10: what is listed -----------------------------------------------------------------------------------------------


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
