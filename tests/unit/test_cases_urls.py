"""Cases B3 and B4, end to end: hosts, paths and scope; escaping and percent-encoding."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site import load_site
from sitemap_ops.validate import validate
from tests.building import HOME, Built, build

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
