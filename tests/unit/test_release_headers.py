"""The one table of headers, and the check that a body is what its headers say, before any PUT."""

from __future__ import annotations

import gzip
from hashlib import sha256

import pytest

from sitemap_ops.errors import OutputError
from sitemap_ops.release.headers import LONG, SHORT, check_body, headers_for, same_headers
from sitemap_ops.storage import Headers

XML = b"<?xml version='1.0'?><urlset/>"
ZIPPED = gzip.compress(XML, mtime=0)


@pytest.mark.parametrize(
    ("key", "content_type"),
    [
        ("shop-pages-1.xml.gz", "application/gzip"),
        ("sitemap.xml", "application/xml; charset=utf-8"),
        ("sitemap.txt", "text/plain; charset=utf-8"),
        ("sitemap.txt.gz", "application/gzip"),
        ("releases/1/manifest.json", "application/json"),
    ],
)
def test_the_table(key: str, content_type: str) -> None:
    """C-1, C-2, C-4: type by the key alone, never an encoding; S3-02 to S3-04."""
    assert headers_for(key) == Headers(content_type, SHORT, None)


@pytest.mark.parametrize("key", ["sitemap", "sitemap.html", "a.gz", "xml", "a.xml.gz.tmp", "a.XML"])
def test_an_unknown_kind_is_not_guessed(key: str) -> None:
    """C-1, S3-01: no default type."""
    with pytest.raises(OutputError, match="are not published"):
        headers_for(key)


def test_only_names_that_change_with_the_content_are_cached_for_long() -> None:
    """C-21, S3-09."""
    assert (
        headers_for("s-0123456789abcdef.xml.gz", immutable=True).cache_control
        == LONG
        == "public, max-age=31536000, immutable"
    )
    assert headers_for("sitemap.xml").cache_control == SHORT == "public, max-age=300"


def test_headers_are_fresh_and_frozen() -> None:
    """C-11: nothing of one object's headers can leak into another's."""
    first = headers_for("a.xml")
    with pytest.raises(AttributeError):
        first.content_type = "text/html"  # type: ignore[misc]
    assert headers_for("b.xml") == headers_for("a.xml")


@pytest.mark.parametrize(
    ("key", "body", "content"),
    [
        ("a.xml.gz", ZIPPED, XML),
        ("a.xml", XML, XML),
        ("a.txt", b"https://www.example.com/\n", b"https://www.example.com/\n"),
        ("a.txt.gz", gzip.compress(b"https://www.example.com/\n", mtime=0), b"https://www.example.com/\n"),
        ("a.json", b"{}", b"{}"),
    ],
)
def test_a_body_that_agrees_gives_its_digest(key: str, body: bytes, content: bytes) -> None:
    assert check_body(key, body, headers_for(key)) == sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("key", "body", "headers", "says"),
    [
        pytest.param(
            "sitemap.xml", XML, Headers("application/gzip"), "headers say application/gzip", id="C-2 plain as gzip"
        ),
        pytest.param("a.xml.gz", XML, None, "its bytes are not gzip", id="C-2 plain under a gzip name"),
        pytest.param("sitemap.xml", ZIPPED, None, "its bytes are gzip", id="C-3 gzip as XML"),
        pytest.param("a.xml.gz", ZIPPED, Headers("application/xml"), "headers say application/xml", id="C-3 XML type"),
        pytest.param(
            "a.xml.gz",
            ZIPPED,
            Headers("application/gzip", None, "gzip"),
            "Content-Encoding gzip",
            id="C-4 encoding on .gz",
        ),
        pytest.param(
            "a.xml.gz", ZIPPED, Headers("application/xml", None, "gzip"), "Content-Encoding gzip", id="S3-06 mixed"
        ),
        pytest.param("a.xml.gz", gzip.compress(ZIPPED), None, "compressed twice", id="C-6 two layers"),
        pytest.param("a.txt.gz", gzip.compress(ZIPPED), None, "compressed twice", id="C-6 two layers of text"),
        pytest.param(
            "a.xml",
            XML,
            Headers("application/xml; charset=utf-8", None, "gzip"),
            "Content-Encoding",
            id="C-7 encoding on plain",
        ),
        pytest.param(
            "a.xml", XML, Headers("application/xml; charset=utf-8", None, "gz"), "Content-Encoding gz", id="S3-07 gz"
        ),
        pytest.param(
            "a.xml.gz", gzip.compress(b"<urlset/>"), None, "starts with b'<urls'", id="C-6 no XML declaration"
        ),
        pytest.param("a.xml.gz", gzip.compress(b""), None, "starts with b''", id="empty content"),
        pytest.param("a.xml", b"", None, "starts with b''", id="empty"),
        pytest.param("a.xml", b"\xef\xbb\xbf" + XML, None, "starts with", id="BOM"),
        pytest.param("a.xml.gz", ZIPPED[:-1], None, "cut short", id="truncated"),
        pytest.param("a.xml.gz", ZIPPED + ZIPPED, None, "bytes follow", id="S3-13 two members"),
        pytest.param("a.xml.gz", ZIPPED + b"\n", None, "bytes follow", id="trailing byte"),
        pytest.param("a.xml.gz", ZIPPED[:-8] + bytes(8), None, "can't be published", id="wrong checksum"),
    ],
)
def test_a_body_that_disagrees_is_refused(key: str, body: bytes, headers: Headers | None, says: str) -> None:
    """C-2, C-3, C-4, C-6, C-7: the publish fails before the PUT, saying what disagrees."""
    with pytest.raises(OutputError, match="can't be published") as caught:
        check_body(key, body, headers or headers_for(key))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("stored", "same"),
    [
        (None, True),
        (headers_for("a.xml"), True),
        (Headers("Application/XML;charset=UTF-8", "public,max-age=300"), True),
        (Headers("application/xml; charset=utf-8", SHORT, ""), True),
        (Headers("application/xml; charset=utf-8", SHORT, "aws-chunked"), True),
        (Headers("application/xml; charset=utf-8", SHORT, "gzip"), False),
        (Headers("application/xml; charset=utf-8", SHORT, "aws-chunked,gzip"), False),
        (Headers("application/xml; charset=utf-8", LONG), False),
        (Headers("application/xml; charset=utf-8"), False),
        (Headers("application/xml", SHORT), False),
        (Headers("binary/octet-stream", SHORT), False),
    ],
)
def test_what_counts_as_the_same_headers(stored: Headers | None, same: bool) -> None:
    """C-3: an object with other headers is put again; one that a store only spelled otherwise is not."""
    assert same_headers(stored, headers_for("b.xml")) is same
