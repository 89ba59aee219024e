"""What a run makes beside plain entries: file sets, tracked lastmod, alternates, news."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from sitemap_ops.errors import GuardError
from sitemap_ops.site import load_site
from sitemap_ops.steps.releases import rollback
from tests.stepping import AS_OF, CONNECTIONS, files_of, make_site, run_all

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
    """C-77, C-78, C-82: articles of the last 48 hours are news, 1,000 a file at most and none lost; older ones stay in
    the main set without the block; Yandex's own set has neither; and no news file is ever empty."""
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


EMPTY = """\
sections:
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}
  - {name: news, source: {type: csv, path: news.csv}, loc: url}
"""


def test_empty_section(tmp_path: Path) -> None:
    """C-80: a section with no rows left has no file and no index entry; a wholly empty run fails unless allow_empty."""
    run_all(make_site(tmp_path, EMPTY, pages="url\n/a\n", news="url\nftp://a.example/\n"))
    assert set(files_of(tmp_path)) == {"sitemap.xml", "shop-pages-0000000000000000.xml.gz"}
    assert b"shop-news" not in files_of(tmp_path)["sitemap.xml"]
    nothing = make_site(tmp_path, EMPTY, pages="url\n", news="url\n")
    with pytest.raises(GuardError, match="whole site has 0 URLs"):
        run_all(nothing, day=29)
    assert set(files_of(tmp_path)) == {"sitemap.xml", "shop-pages-0000000000000000.xml.gz"}
