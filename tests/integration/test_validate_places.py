"""The validator where files really lie: behind a web server and in S3, with the headers they are served with."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from sitemap_ops.errors import UsageError
from sitemap_ops.storage import Headers
from sitemap_ops.storage.folder import FolderStore
from sitemap_ops.validate import Validation, validate
from tests.services.s3 import S3Service
from tests.services.web import Answer, WebService, web_service
from tests.unit.validating import NOW, gz, index, keys, pages, shard

pytestmark = pytest.mark.integration

XML = {"Content-Type": "application/xml; charset=utf-8", "Cache-Control": "public, max-age=300"}
GZIP = {"Content-Type": "application/gzip", "Cache-Control": "public, max-age=300"}
ENCODED = {**XML, "Content-Encoding": "gzip"}
TEXT = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "max-age=300"}


@pytest.fixture
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


def served(web: WebService, name: str, answer: Answer, engines: tuple[str, ...] = ()) -> Validation:
    """What is said about one file of a server whose robots.txt names it, listing a page of the server itself."""
    web.answers = {"/robots.txt": Answer(f"Sitemap: {web.url}{name}".encode()), f"/{name}": answer}
    return validate(web.url + name, engines=engines, now=NOW)


def body(web: WebService) -> bytes:
    return pages(f"{web.url}a")


def without_address(found: Validation) -> set[str]:
    """The server is at a loopback address, which is a fault of its URLs and not the test's subject."""
    return keys(found) - {"host-ip", "host-private"}


@pytest.mark.parametrize(
    ("name", "headers", "packed", "expected"),
    [
        ("s.xml", XML, False, set()),
        ("s.xml", {**XML, "Content-Type": "text/xml; charset=utf-8"}, False, set()),
        ("s.xml.gz", GZIP, True, set()),
        ("s.xml", ENCODED, True, set()),
        ("s.xml", {**XML, "Content-Type": "text/xml"}, False, {"s3-content-type"}),
        ("s.xml", {**XML, "Content-Type": "text/html"}, False, {"s3-content-type"}),
        ("s.xml", {**XML, "Content-Type": "binary/octet-stream"}, False, {"s3-content-type-default"}),
        ("s.xml.gz", {**GZIP, "Content-Encoding": "gzip"}, True, {"s3-gz-encoding"}),
        ("s.xml.gz", ENCODED, True, {"s3-gz-encoding"}),
        ("s.xml", XML, True, {"s3-gzip-without-encoding"}),
        ("s.xml.gz", XML, True, {"s3-gzip-without-encoding"}),
        ("s.xml", ENCODED, False, {"s3-content-encoding"}),
        ("s.xml", {**XML, "Content-Encoding": "gz"}, True, {"s3-content-encoding"}),
        ("s.xml", {"Content-Type": "application/xml"}, False, {"s3-cache-control"}),
        ("s.xml", {**XML, "Cache-Control": "max-age=31536000, immutable"}, False, {"s3-cache-control"}),
        ("s-0a1b2c3d4e5f6071.xml", {**XML, "Cache-Control": "max-age=31536000, immutable"}, False, set()),
        ("s.xml", {**XML, "X-Robots-Tag": "noindex"}, False, {"noindex-header"}),
    ],
)
def test_headers(web: WebService, name: str, headers: dict[str, str], packed: bool, expected: set[str]) -> None:
    """S3-01 to S3-09, Y-15, C-1, C-3, C-7: each pair of headers and bytes, by what is said of it."""
    plain = body(web)
    assert without_address(served(web, name, Answer(gz(plain) if packed else plain, 200, headers))) == expected


def test_text_file(web: WebService) -> None:
    """S3-03: a text sitemap is text/plain in UTF-8."""
    plain = f"{web.url}a\n".encode()
    assert without_address(served(web, "s.txt", Answer(plain, 200, TEXT))) == set()
    octets = Answer(plain, 200, {**TEXT, "Content-Type": "application/octet-stream"})
    assert without_address(served(web, "s.txt", octets)) == {"s3-content-type"}


def test_noindex_is_information(web: WebService) -> None:
    """Y-15: X-Robots-Tag: noindex stops no engine from reading a sitemap."""
    found = served(web, "s.xml", Answer(body(web), 200, {**XML, "X-Robots-Tag": "noindex, nofollow"}))
    assert [one.level for one in found.findings if one.code == "noindex-header"] == ["info"]


def test_redirect_is_not_followed(web: WebService) -> None:
    """Y-08, C-84: a redirect is an error that names its target, and nobody goes there."""
    found = served(web, "s.xml", Answer(b"", 301, {"Location": f"{web.url}t.xml"}))
    assert keys(found) == {"http-status"}
    assert found.worst == "error"
    assert f"{web.url}t.xml" in found.findings[0].message
    assert web.asked == ["/robots.txt", "/s.xml"]


@pytest.mark.parametrize("status", [403, 404, 500, 204])
def test_other_statuses(web: WebService, status: int) -> None:
    """S3-26: only 200 will do."""
    assert keys(served(web, "s.xml", Answer(b"", status))) == {"http-status"}


def test_html_for_a_missing_file(web: WebService) -> None:
    """S3-26: an error page with status 200 is told to be one."""
    page = Answer(b"<!doctype html><html>Not found</html>", 200, {"Content-Type": "text/html"})
    assert "html-instead-of-xml" in keys(served(web, "s.xml", page))


def test_answer_cut_short(web: WebService) -> None:
    """Y-19: a body shorter than its Content-Length never counts as whole."""
    plain = body(web)
    cut = Answer(plain, 200, {**XML, "Content-Length": str(len(plain) + 10)})
    assert "unreachable" in keys(served(web, "s.xml", cut))


def test_nobody_there() -> None:
    """Y-19: a server that does not answer is a finding, without the password of the address."""
    found = validate("http://bob:s3cret@127.0.0.1:9/s.xml", now=NOW)
    assert keys(found) == {"unreachable"}
    assert "s3cret" not in str(found.to_json())
    assert "s3cret" not in str(validate("http://bob:s3cret@127.0.0.1:9/s.xml", now=NOW))


def test_no_address() -> None:
    """An address without a host is the caller's mistake."""
    with pytest.raises(UsageError, match="no address"):
        validate("http:///s.xml")


def test_robots_forbid_it(web: WebService) -> None:
    """Y-14, Y-23: robots.txt shuts the sitemap out; for the engine asked about, not for another."""
    rules = f"User-agent: YandexBot\nDisallow: /*.xml\nUser-agent: *\nDisallow:\nSitemap: {web.url}s.xml"
    web.answers = {"/robots.txt": Answer(rules.encode()), "/s.xml": Answer(body(web), 200, XML)}
    assert "robots-blocks-sitemap" in keys(validate(f"{web.url}s.xml", engines=["yandex"], now=NOW))
    assert "robots-blocks-sitemap" not in keys(validate(f"{web.url}s.xml", engines=["google"], now=NOW))


def test_no_robots(web: WebService) -> None:
    """P-48: without a robots.txt nothing names the sitemap."""
    web.answers = {"/s.xml": Answer(body(web), 200, XML)}
    assert without_address(validate(f"{web.url}s.xml", now=NOW)) == {"robots-sitemap-missing"}


def test_last_built_long_ago(web: WebService) -> None:
    """B-05: Bing asks for a build each day."""
    for hours, expected in ((25, {"stale-build"}), (23, set())):
        written = {"Last-Modified": format_datetime(NOW - timedelta(hours=hours), usegmt=True)}
        found = served(web, "s.xml", Answer(body(web), 200, {**XML, **written}), ("bing",))
        assert without_address(found) == expected


def test_index_is_followed(web: WebService) -> None:
    """Item 6: an index and what it lists, in parallel; a missing child is the server's own status."""
    names = [f"s{number}.xml.gz" for number in range(12)]
    entries = [shard(name, root=web.url) for name in [*names, "gone.xml"]]
    web.answers = {f"/{name}": Answer(gz(pages(f"{web.url}of-{name}")), 200, GZIP) for name in names}
    web.answers["/robots.txt"] = Answer(f"Sitemap: {web.url}sitemap.xml".encode())
    web.answers["/sitemap.xml"] = Answer(index(*entries), 200, XML)
    seen: list[tuple[str, int, int | None]] = []
    found = validate(f"{web.url}sitemap.xml", now=NOW, progress=lambda *told: seen.append(told))
    assert without_address(found) == {"http-status"}
    assert [one.location for one in found.findings if one.code == "http-status"] == [f"{web.url}gone.xml"]
    assert found.urls == 12
    assert seen[-1] == ("validate", 14, 14)
    assert validate(f"{web.url}sitemap.xml", now=NOW, follow=False).urls == 0


def test_index_claims_a_later_change(web: WebService) -> None:
    """P-41, C-64: an index whose lastmod is later than the server's own Last-Modified."""
    for days, expected in ((2, {"index-lastmod-mismatch"}), (0, set())):
        written = {"Last-Modified": format_datetime(NOW - timedelta(days=days), usegmt=True)}
        entry = shard("s.xml", f"<lastmod>{NOW.isoformat()}</lastmod>", web.url)
        web.answers = {
            "/robots.txt": Answer(f"Sitemap: {web.url}sitemap.xml".encode()),
            "/sitemap.xml": Answer(index(entry), 200, XML),
            "/s.xml": Answer(body(web), 200, {**XML, **written}),
        }
        assert without_address(validate(f"{web.url}sitemap.xml", now=NOW)) == expected


def test_index_can_not_send_us_elsewhere(web: WebService) -> None:
    """P-40: what an index lists on another host is an error, and not asked for unless that host was named."""
    with web_service("127.0.0.2") as other:
        other.answers = {"/inner.xml": Answer(pages(f"{other.url}a"), 200, XML)}
        web.answers = {"/sitemap.xml": Answer(index(shard("inner.xml", root=other.url)), 200, XML)}
        found = validate(f"{web.url}sitemap.xml", now=NOW)
        assert {"index-foreign-host", "child-not-followed"} <= keys(found)
        assert other.asked == []
        named = validate(f"{web.url}sitemap.xml", hosts=[other.url], now=NOW)
        assert not {"index-foreign-host", "child-not-followed", "foreign-host"} & keys(named)
        assert named.urls == 1


def test_preview_of_another_address(web: WebService) -> None:
    """C-22: with base_url, files are judged and found as if they were there already."""
    web.answers = {
        "/pre/sitemap.xml": Answer(index(shard("s1.xml")), 200, XML),
        "/pre/s1.xml": Answer(pages("https://shop.example/a"), 200, XML),
    }
    found = validate(f"{web.url}pre/sitemap.xml", base_url="https://shop.example/", now=NOW)
    assert keys(found) == {"robots-sitemap-missing"}
    assert found.urls == 1


def test_endless_answer_stops_at_the_limit(web: WebService) -> None:
    """S3-08: 100 MiB from 100 KB of gzip are read to the limit and no further."""
    packed = gzip.compress(b" " * 104_857_600)
    assert "too-large" in keys(served(web, "s.xml.gz", Answer(packed, 200, GZIP)))


def test_store(s3_service: S3Service) -> None:
    """A prefix of a bucket, by its store: keys, bytes, headers; what is missing is told where the index lists it."""
    store = s3_service.store(s3_service.create_bucket(), "public")
    headers = Headers("application/xml; charset=utf-8", "public, max-age=300")
    store.put("sitemap.xml", index(shard("s/a.xml.gz"), shard("s/gone.xml.gz")), headers)
    store.put("s/a.xml.gz", gz(pages("https://shop.example/s/a")), Headers("application/gzip", "max-age=300"))
    found = validate("sitemap.xml", store=store, base_url="https://shop.example/", now=NOW)
    assert keys(found) == {"child-missing"}
    assert found.findings[0].location == f"{store.uri}sitemap.xml"
    assert keys(validate("", store=store, now=NOW)) == {"child-missing"}
    store.put("s/a.xml.gz", gz(pages("https://shop.example/a")), Headers("binary/octet-stream", "no-cache", "gzip"))
    assert {"s3-content-type-default", "s3-gz-encoding"} <= keys(validate("s/a.xml.gz", store=store, now=NOW))


def test_bucket_by_address(s3_service: S3Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """`s3://` names a key, or a prefix with or without its slash."""
    for name, value in s3_service.environment().items():
        monkeypatch.setenv(name, value)
    bucket = s3_service.create_bucket()
    headers = Headers("application/xml; charset=utf-8", "public, max-age=300")
    s3_service.store(bucket, "a").put("b/sitemap.xml", pages("https://shop.example/a"), headers)
    for location in (f"s3://{bucket}/a/b/sitemap.xml", f"s3://{bucket}/a/b/", f"s3://{bucket}/a", f"s3://{bucket}"):
        found = validate(location, now=NOW)
        assert (found.files, found.urls, keys(found)) == (1, 1, set()), location
    with pytest.raises(UsageError, match="no sitemap"):
        validate(f"s3://{bucket}/nothing/", now=NOW)


def test_folder_store(tmp_path: Path) -> None:
    """The publisher calls it on whatever store it published to."""
    store = FolderStore(tmp_path)
    store.put("sitemap.xml", pages("https://shop.example/a"), Headers("application/xml; charset=utf-8", "max-age=300"))
    assert keys(validate("sitemap.xml", store=store, base_url="https://shop.example/", now=NOW)) == set()
