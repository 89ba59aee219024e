"""A run, step by step, from a CSV file to a folder."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path

import pytest

from sitemap_ops.errors import GuardError, SourceError, UsageError
from sitemap_ops.render.xml import FOOTER, HEADER
from sitemap_ops.report.build import facts
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from tests.stepping import AS_OF, CONNECTIONS, TWO_SECTIONS, files_of, locs, make_site, run_all


def test_report(tmp_path: Path) -> None:
    """DESIGN 8: the report says what became of every row, and adds up."""
    site = make_site(tmp_path)
    report = run_all(site)
    assert (report["rows_read"], report["entries"], report["duplicates"]) == (5, 3, 1)
    assert report["rejected"] == {"url-scheme": 1}
    assert report["rows_read"] == report["entries"] + report["duplicates"] + sum(report["rejected"].values())
    assert report["shards"] == {"total": 2, "added": 2, "changed": 0, "removed": 0, "unchanged": 0}
    assert report["sections"]["pages"]["examples"] == {
        "loc-resolved": ["row 1: /", "row 2: /p/red"],
        "url-scheme": ["row 3: ftp://a.example/"],
    }
    assert "priority-noncanonical" not in report["changed"]
    kept = json.loads((tmp_path / ".sitemap-ops/shop/releases" / report["release"] / "report.json").read_text())
    assert kept == {key: value for key, value in report.items() if key != "files"}


def test_duplicates_keep_the_earlier_section(tmp_path: Path) -> None:
    """DESIGN 5: of equal URLs in two sections the one of the section that stands first in the site file stays."""
    run_all(make_site(tmp_path))
    products = gzip.decompress(files_of(tmp_path)["shop-products-0000000000000000.xml.gz"]).decode()
    assert "<loc>https://a.example/p/red</loc><lastmod>2026-10-01</lastmod>" in products
    assert locs(tmp_path) == {"https://a.example/", "https://a.example/p/red", "https://a.example/p/blue"}


def test_rejects_name_section_row_value_and_reason(tmp_path: Path) -> None:
    """DESIGN 8: rejects.csv.gz has section, row, value and reason of each; a password is not carried along (U-04)."""
    site = make_site(tmp_path, pages='url\n/\nhttps://bob:secret@a.example/x\n"ftp://a.example/a,b"\n')
    report = run_all(site)
    path = tmp_path / ".sitemap-ops/shop/releases" / report["release"] / "rejects.csv.gz"
    rows = list(csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()))
    assert rows == [
        {"section": "pages", "row": "2", "value": "https://bob:***@a.example/x", "reason": "url-userinfo"},
        {"section": "pages", "row": "3", "value": "ftp://a.example/a,b", "reason": "url-scheme"},
    ]


def test_order_of_parts_does_not_matter(tmp_path: Path) -> None:
    """C-102: a part carries its section's name; in whatever order parts come, each is taken for what it is."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    parts = [extract(site, run, section.name, CONNECTIONS) for section in site.sections]
    forth = assemble(site, run, parts, CONNECTIONS)
    where = {"digest": "", "uri": ""}
    assert assemble(site, run, parts[::-1], CONNECTIONS) | where == forth | where


def test_missing_part(tmp_path: Path) -> None:
    """C-102: a section whose part is missing is told by name, and never published without."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    with pytest.raises(SourceError, match="'pages' was not read"):
        assemble(site, run, [extract(site, run, "products", CONNECTIONS)], CONNECTIONS)


def test_references_are_small(tmp_path: Path) -> None:
    """C-99, C-100: what a step returns for the next one is a few hundred bytes, and JSON."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    parts = [extract(site, run, section.name, CONNECTIONS) for section in site.sections]
    assembled = assemble(site, run, parts, CONNECTIONS)
    report = publish(site, run, assembled, CONNECTIONS)
    for reference in (run, *parts, assembled):
        assert len(json.dumps(reference)) < 1_000
    assert len(json.dumps(facts(report))) < 1_000


def test_same_run_same_work(tmp_path: Path) -> None:
    """A retry of a step, with the run that `prepare` gave, does the same work; what the attempt before it has made, and
    may still be making, is not touched."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    assert prepare(site, run_id="a", as_of=AS_OF)["release"] == run["release"]
    first = extract(site, run, "pages", CONNECTIONS)
    again = extract(site, run, "pages", CONNECTIONS)
    assert (again["uri"] != first["uri"], again["entries"]) == (True, first["entries"])
    others = [extract(site, run, section.name, CONNECTIONS) for section in site.sections if section.name != "pages"]
    assert assemble(site, run, [first, *others], CONNECTIONS)["entries"]


def test_nothing_changed(tmp_path: Path) -> None:
    """A second run a day later, with the rows in another order, uploads nothing and changes no byte."""
    site = make_site(tmp_path)
    run_all(site)
    before = files_of(tmp_path)
    (tmp_path / "pages.csv").write_text("url\nftp://a.example/\n/p/red\n/\n")
    report = run_all(site, day=1)
    assert report["bytes"]["uploaded"] == 0
    assert report["shards"]["unchanged"] == 2
    assert files_of(tmp_path) == before


def test_index_lastmod_moves_with_the_content(tmp_path: Path) -> None:
    """P-41, C-64: the index says of each shard when its content entered the live site."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n")
    run_all(site, day=2)
    index = files_of(tmp_path)["sitemap.xml"].decode()
    assert re.findall(r"shop-(\w+)-.*?<lastmod>(.*?)</lastmod>", index) == [
        ("products", "2026-11-01T03:00:00+00:00"),
        ("pages", "2026-11-02T03:00:00+00:00"),
    ]


def test_late_run_does_not_turn_back_the_clock(tmp_path: Path) -> None:
    """P-41: a run whose instant is before the live release, as one that was cleared, has the live release's: no crawler
    is told that what is new is old."""
    site = make_site(tmp_path)
    live = run_all(site, day=2)["release"]
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n")
    report = run_all(site, day=1)
    assert report["release"][:16] == live[:16]
    index = files_of(tmp_path)["sitemap.xml"].decode()
    assert re.findall(r"<lastmod>(.*?)</lastmod>", index) == ["2026-11-02T03:00:00+00:00"] * 2


def test_plan_writes_nothing_public(tmp_path: Path) -> None:
    """`plan_only` says shard by shard what would change; the target stays as it is, and no release is made."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    before = files_of(tmp_path)
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n")
    report = run_all(site, day=2, plan_only=True)
    urls = b"".join(b"<url><loc>https://a.example/%s</loc></url>\n" % path for path in (b"", b"new"))
    size = len(HEADER) + len(urls) + len(FOOTER)
    assert report["planned"] == [
        {"action": "changed", "key": "shop-pages-0000000000000000.xml.gz", "entries": 2, "xml_bytes": size}
    ]
    assert files_of(tmp_path) == before
    assert len(list((tmp_path / ".sitemap-ops/shop/releases").iterdir())) == 1


def test_guard_stops_and_force_passes(tmp_path: Path) -> None:
    """PUB-09: a source that lost its rows stops the publish; `force` publishes all the same, and the report says so."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    before = files_of(tmp_path)
    (tmp_path / "pages.csv").write_text("url\n")
    with pytest.raises(GuardError, match="had 3 URLs and has 2 now"):
        run_all(site, day=2)
    assert files_of(tmp_path) == before
    report = run_all(site, day=3, force=True)
    assert report["forced"]
    assert locs(tmp_path) == {"https://a.example/p/red", "https://a.example/p/blue"}


def test_what_a_guard_stopped_can_be_looked_at(tmp_path: Path) -> None:
    """A stopped publish keeps its report and rejects apart from the releases, and its sentence says where."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    (tmp_path / "pages.csv").write_text("url\nftp://a.example/x\n")
    with pytest.raises(GuardError, match=r"report and the rejects are in file://\S+/stopped/") as stopped:
        run_all(site, day=2)
    assert stopped.value.report
    folder = tmp_path / ".sitemap-ops/shop/stopped" / stopped.value.report["release"]
    assert json.loads((folder / "report.json").read_text())["outcome"] == "stopped"
    assert b"ftp://a.example/x" in gzip.decompress((folder / "rejects.csv.gz").read_bytes())
    assert len(list((tmp_path / ".sitemap-ops/shop/releases").iterdir())) == 1


def test_rejects_of_the_reader_alone(tmp_path: Path) -> None:
    """A chunk whose only rejects are the CSV reader's own gives a clean line each (pyarrow once left NUL bytes)."""
    report = run_all(make_site(tmp_path, pages="url\n/\n/a,b\n"))
    path = tmp_path / ".sitemap-ops/shop/releases" / report["release"] / "rejects.csv.gz"
    assert gzip.decompress(path.read_bytes()) == (b'section,row,value,reason\n"pages",2,"/a,b","csv-field-count"\n')


def test_examples_of_optional_values(tmp_path: Path) -> None:
    """A report says of every code in which rows it was met, of dropped lastmods too."""
    report = run_all(make_site(tmp_path, products="slug,changed\nred,07.03.2024\nblue,\n"))
    assert report["changed"]["lastmod-format"] == 1
    assert report["sections"]["products"]["examples"]["lastmod-format"] == ["row 1: 07.03.2024"]


def test_renamed_index(tmp_path: Path) -> None:
    """An index of an earlier release that is no longer kept up to date is told."""
    run_all(make_site(tmp_path), day=1)
    report = run_all(make_site(tmp_path, "index: other.xml\n" + TWO_SECTIONS), day=2)
    assert [(finding["code"], finding["place"]) for finding in report["findings"]] == [("index-left", "sitemap.xml")]


def test_unmade_template(tmp_path: Path) -> None:
    """A row whose template can't be filled is rejected with the values that it was to be made of."""
    report = run_all(make_site(tmp_path, products="slug,changed\n../../etc,2026-10-01\nblue,\n"))
    assert report["sections"]["products"]["examples"]["loc-missing"] == ["row 1: slug='../../etc'"]


def test_filter_columns(tmp_path: Path) -> None:
    """C-95: rows that the inventory itself says not to list are rejected, each with its reason."""
    section = (
        "sections:\n  - {name: pages, source: {type: csv, path: pages.csv}, loc: url, status: code, robots: meta,"
        " canonical: canon, published: live}\n"
    )
    rows = [
        "url,code,meta,canon,live",
        "/a,200,,,true",
        "/b,301,,,true",
        '/c,200,"noindex, follow",,true',
        "/d,200,,/a,true",
        "/e,200,,https://a.example/e,true",
        "/f,200,,,false",
    ]
    report = run_all(make_site(tmp_path, section, pages="\n".join(rows) + "\n"))
    assert report["rejected"] == {"http-status": 1, "noindex": 1, "non-canonical": 1, "unpublished": 1}
    assert report["changed"] == {"loc-resolved": 2}
    assert report["sections"]["pages"]["examples"]["loc-resolved"] == ["row 1: /a", "row 5: /e"]
    assert locs(tmp_path) == {"https://a.example/a", "https://a.example/e"}


@pytest.mark.parametrize("robots", ["inline", "file"])
def test_robots_txt(tmp_path: Path, robots: str) -> None:
    """DESIGN 5: what a robots.txt, written in the site file or beside it, disallows is rejected."""
    text = "User-agent: *\nDisallow: /p/\nAllow: /p/red\n"
    (tmp_path / "robots.txt").write_text(text)
    named = "robots: robots.txt\n" if robots == "file" else f"robots: {json.dumps(text)}\n"
    report = run_all(make_site(tmp_path, named + TWO_SECTIONS))
    assert report["rejected"] == {"robots-disallowed": 1, "url-scheme": 1}
    assert locs(tmp_path) == {"https://a.example/", "https://a.example/p/red"}


def test_unreadable_source(tmp_path: Path) -> None:
    """C-19: a source that can't be read stops the run with a sentence; nothing is published."""
    site = make_site(tmp_path)
    (tmp_path / "pages.csv").unlink()
    with pytest.raises((SourceError, UsageError), match=r"pages\.csv"):
        run_all(site)
    assert not (tmp_path / "public").exists() or not files_of(tmp_path)


def test_cleanup(tmp_path: Path) -> None:
    """After a run its staging files are gone."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    extract(site, run, "pages", CONNECTIONS)
    cleanup(site, run, CONNECTIONS)
    assert not [path for path in (tmp_path / "work").rglob("*") if path.is_file()]
