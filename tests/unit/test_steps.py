"""A run, step by step, from a CSV file to a folder."""

from __future__ import annotations

import csv
import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import GuardError, SourceError, UsageError
from sitemap_ops.render.xml import FOOTER, HEADER
from sitemap_ops.report.build import facts
from sitemap_ops.site import Site, load_site
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from sitemap_ops.steps.releases import rollback

SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
guards: {max_rejected: 1}
"""
TWO_SECTIONS = """\
sections:
  - {name: products, source: {type: csv, path: products.csv}, loc: "/p/{slug}", lastmod: changed, priority: 1}
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}
"""
AS_OF = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
CONNECTIONS = EnvironmentConnections()


def make_site(folder: Path, rest: str = TWO_SECTIONS, **files: str) -> Site:
    """A site file with its inventories; by default two sections that share a URL."""
    files = {
        "products": "slug,changed\nred,2026-10-01\nblue,2026-10-02T10:00:00+03:00\n",
        "pages": "url\n/\n/p/red\nftp://a.example/\n",
    } | files
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    (folder / "site.yaml").write_text(SITE + rest)
    return load_site(folder / "site.yaml")


def run_all(site: Site, *, day: int = 30, **options: Any) -> dict[str, Any]:
    run = prepare(site, run_id=f"run-{day}", as_of=AS_OF.replace(day=day))
    parts = [extract(site, run, section.name, CONNECTIONS) for section in site.sections]
    return publish(site, run, assemble(site, run, parts, CONNECTIONS), CONNECTIONS, **options)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "public").glob("[!.]*")}


def locs(folder: Path) -> set[str]:
    """What the files hold that the index lists."""
    files = files_of(folder)
    listed = re.findall("<loc>https://a.example/(.*?)</loc>", files["sitemap.xml"].decode())
    return {loc for key in listed for loc in re.findall("<loc>(.*?)</loc>", gzip.decompress(files[key]).decode())}


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
    assert assemble(site, run, parts[::-1], CONNECTIONS) | {"digest": ""} == forth | {"digest": ""}


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
    """A retry of a step, with the run that `prepare` gave, does the same work in the same place."""
    site = make_site(tmp_path)
    run = prepare(site, run_id="a", as_of=AS_OF)
    assert prepare(site, run_id="a", as_of=AS_OF)["release"] == run["release"]
    first = extract(site, run, "pages", CONNECTIONS)
    again = extract(site, run, "pages", CONNECTIONS)
    assert (again["uri"], again["entries"]) == (first["uri"], first["entries"])


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


FILE_SETS = """\
formats: [xml, txt]
engine_sets: [baidu]
fresh: {days: 7}
schema_location: true
"""


def test_file_sets(tmp_path: Path) -> None:
    """DESIGN 1, issue 3.4, 3.5: one run makes the text, engine and fresh sets beside the main one, each with its index;
    what an engine's own limits keep out is counted there and stays in the main set."""
    long = "x" * 250
    pages = f"url,day\n/new,2026-11-29\n/old,2026-01-01\n/{long},2026-01-01\n/a&b,\n"
    section = "sections:\n  - {name: pages, source: {type: csv, path: pages.csv}, loc: url, lastmod: day}\n"
    report = run_all(make_site(tmp_path, FILE_SETS + section, pages=pages))
    files = files_of(tmp_path)
    key = "shop-pages-0000000000000000"
    assert set(files) == {
        *("sitemap.xml", "sitemap-txt.xml", "sitemap-fresh.xml"),
        *(f"{key}{suffix}" for suffix in (".xml.gz", ".txt", ".baidu.xml.gz", ".fresh.xml.gz")),
    }
    urls = ["https://a.example/a&b", "https://a.example/new", "https://a.example/old", f"https://a.example/{long}"]
    assert files[f"{key}.txt"].decode().splitlines() == urls
    assert re.findall("<loc>(.*?)</loc>", gzip.decompress(files[f"{key}.fresh.xml.gz"]).decode()) == [urls[1]]
    assert f"https://a.example/{key}.txt" in files["sitemap-txt.xml"].decode()
    assert b"siteindex.xsd" in files["sitemap.xml"]
    assert b"sitemap.xsd" in gzip.decompress(files[f"{key}.xml.gz"])
    assert report["entries"] == 4
    assert report["sets"]["baidu"] == {"entries": 3, "shards": 1, "kept_out": {"baidu-loc-over-256-bytes": 1}}
    assert report["sets"]["main"] == {"entries": 4, "shards": 1, "kept_out": {}}
    again = run_all(make_site(tmp_path, FILE_SETS + section, pages=pages))
    assert again["bytes"]["uploaded"] == 0


TRACKING = """\
sections:
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url, track: [title, price]}
"""


def lastmods(folder: Path) -> dict[str, str | None]:
    text = gzip.decompress(files_of(folder)["shop-pages-0000000000000000.xml.gz"]).decode()
    return dict(re.findall("<loc>https://a.example/(.*?)</loc>(?:<lastmod>(.*?)</lastmod>)?", text))


def test_tracked_lastmod(tmp_path: Path) -> None:
    """Issue 3.2: no lastmod until a change is seen, then the as_of of that run; a stopped run's sight is not kept."""
    head, a, b = "url,title,price\n", "/a,A,1\n", "/b,B,1\n"
    run_all(make_site(tmp_path, TRACKING, pages=head + a + b), day=1)
    assert lastmods(tmp_path) == {"a": "", "b": ""}
    with pytest.raises(GuardError):
        run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,2\n"), day=2)
    run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,2\n" + b), day=3)
    assert lastmods(tmp_path) == {"a": "2026-11-03T03:00:00Z", "b": ""}
    report = run_all(make_site(tmp_path, TRACKING, pages=head + b + "/a,A,2\n"), day=4)
    assert lastmods(tmp_path) == {"a": "2026-11-03T03:00:00Z", "b": ""}
    assert report["bytes"]["uploaded"] == 0
    assert len(list((tmp_path / ".sitemap-ops/shop/tracked").iterdir())) == 2


def test_rollback_takes_tracking_along(tmp_path: Path) -> None:
    """Issue 3.2: after a rollback, changes are seen against the release that was brought back."""
    head = "url,title,price\n"
    first = run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,1\n"), day=1)["release"]
    run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,2\n"), day=2)
    assert lastmods(tmp_path) == {"a": "2026-11-02T03:00:00Z"}
    site = load_site(tmp_path / "site.yaml")
    rollback(site, first, CONNECTIONS, as_of=AS_OF.replace(day=3))
    assert lastmods(tmp_path) == {"a": ""}
    run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,1\n"), day=4)
    assert lastmods(tmp_path) == {"a": ""}
    run_all(make_site(tmp_path, TRACKING, pages=head + "/a,A,2\n"), day=5)
    assert lastmods(tmp_path) == {"a": "2026-11-05T03:00:00Z"}


ALTERNATES = """\
urls: {hosts: ["https://b.example"]}
sections:
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url, alternates: {en: en, tr: tr, de: de}}
"""


def test_alternates(tmp_path: Path) -> None:
    """C-73, C-74: each entry of a cluster lists all of it, itself included; a page that was rejected drops out of every
    list and is counted; one on another declared host stays."""
    pages = "url,en,tr,de\n/en,/en,/tr,https://b.example/de\n/tr,,,\n/two,/two,/gone,\n"
    report = run_all(make_site(tmp_path, ALTERNATES, pages=pages))
    text = gzip.decompress(files_of(tmp_path)["shop-pages-0000000000000000.xml.gz"]).decode()
    links = re.findall("<url><loc>(.*?)</loc>(.*?)</url>", text)
    listed = {loc: re.findall('hreflang="(.*?)" href="(.*?)"', rest) for loc, rest in links}
    cluster = [("de", "https://b.example/de"), ("en", "https://a.example/en"), ("tr", "https://a.example/tr")]
    assert listed == {"https://a.example/en": cluster, "https://a.example/tr": cluster, "https://a.example/two": []}
    assert 'xmlns:xhtml="http://www.w3.org/1999/xhtml"' in text
    assert report["links"]["entries"] == 2
    assert report["changed"]["hreflang-alone"] == 1


NEWS = """\
engine_sets: [yandex]
sections:
  - name: articles
    source: {type: csv, path: articles.csv}
    loc: url
    images: image
    news: {name: The Paper, language: en, title: title, published: at}
"""


def counts_by_set(folder: Path, tag: str) -> dict[str, list[int]]:
    """How often a tag stands in each file, by the suffix that tells the file's set."""
    found: dict[str, list[int]] = {}
    for key, body in sorted(files_of(folder).items()):
        if key.endswith(".gz"):
            found.setdefault(key.partition(".")[2], []).append(gzip.decompress(body).decode().count(tag))
    return found


def test_news_and_an_engines_own_set(tmp_path: Path) -> None:
    """C-77, C-78, C-82: articles of the last 48 hours are news, 1,000 a file at most and none lost; older ones stay in the
    main set without the block; Yandex's own set has neither; and no news file is ever empty."""
    young = "".join(f"/n{number},2026-11-29T12:00:00Z,T,\n" for number in range(1_200))
    articles = f"url,at,title,image\n{young}/old,2026-11-27T12:00:00Z,T,/i.jpg\n"
    run_all(make_site(tmp_path, NEWS, articles=articles))
    news = counts_by_set(tmp_path, "<news:news>")
    assert sum(news["news.xml.gz"]) == 1_200
    assert len(news["news.xml.gz"]) > 1
    assert max(news["news.xml.gz"]) <= 1_000
    assert news["xml.gz"] == news["yandex.xml.gz"] == [0]
    assert counts_by_set(tmp_path, "<loc>")["xml.gz"] == [1_201]
    later = run_all(make_site(tmp_path, NEWS, articles="url,at,title,image\n/old,2026-11-01,T,\n"), force=True)
    assert "news" not in {url.rsplit("/", 1)[1].removesuffix(".xml").partition("-")[2] for url in later["indexes"]}
    assert later["sets"]["news"]["shards"] == 0
