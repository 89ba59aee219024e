"""What is still said, and rightly, of files that are larger or odder than any sitemap."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.reading.origins import Origin, path_of
from sitemap_ops.validate.hosts import MAX_AUTHORITIES, Origins
from tests.hostile import HEAD, TAIL
from tests.unit.validating import index, keys, page, pages, said, shard, urlset

LONG_WHITE = b" \n" * 200_000 + b"\r\n" * 100_000


@pytest.mark.parametrize("place", ["before", "inside"])
def test_lines_after_much_white_space(place: str, tmp_path: Path) -> None:
    """White space of any length is passed over, and what follows it has its true line (P-24)."""
    bad = b"<url><loc>/relative</loc></url>"
    inside = {"before": LONG_WHITE + bad, "inside": b"<url>" + LONG_WHITE + bad.removeprefix(b"<url>")}[place]
    found = said(tmp_path, HEAD + page().encode() + inside + TAIL)
    (line,) = {one.line for one in found.findings if one.code == "loc-not-absolute"}
    assert line == 1 + 200_000 + 100_000


def test_many_hosts(tmp_path: Path) -> None:
    """P-44: of thousands of hosts each is said to be foreign but the site's own, however it is written."""
    hosts = [f"https://h{n}.example/" for n in range(3 * MAX_AUTHORITIES)]
    found = said(
        tmp_path, pages("https://shop.example/1", *hosts, "https://SHOP.example:443/2", "https://bob@shop.example/")
    )
    counts = {code: count for (_, code), count in found.counts.items()}
    assert counts["foreign-host"] == len(hosts)
    assert counts["url-userinfo"] == 1


def test_origins_beyond_the_first_thousand() -> None:
    """What is not looked at closely is told by its letters: host in lower case, port, user."""
    origins = Origins()
    assert origins.of("https", "Bücher.example") == Origin("https", "xn--bcher-kva.example", "443")
    for n in range(MAX_AUTHORITIES):
        origins.of("https", f"h{n}.example")
    assert origins.of("https", "Bücher.example") == Origin("https", "xn--bcher-kva.example", "443")
    assert origins.of("HTTP", "u@Käse.Example:0080") == Origin("http", "käse.example", "80")
    assert origins.faults("https", "u@käse.example") == ("url-userinfo",)
    assert origins.faults("https", "a" * 2_000) == ("host-label-length",)
    assert origins.of_url("nothing") is None


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://shop.example/a/b.xml?c#d", "/a/b.xml"),
        ("https://shop.example", "/"),
        ("//shop.example/a", "/a"),
        ("a/b.xml", "a/b.xml"),
        ("https://[bad/a", "/a"),
        ("", "/"),
    ],
)
def test_path_of(url: str, path: str) -> None:
    """RFC 3986, appendix B: any text has a path."""
    assert path_of(url) == path


def test_too_many_urls(tmp_path: Path) -> None:
    """P-30: beyond twice the limit reading stops; up to there a file is counted, and judged, to its end."""
    found = said(tmp_path / "a", pages(*["https://shop.example/"] * 60_000, "/relative"))
    assert {"too-many-urls", "loc-not-absolute"} <= keys(found)
    assert found.urls == 60_001
    found = said(tmp_path / "b", pages(*["https://shop.example/"] * 250_000, "/relative"))
    assert "too-many-urls" in keys(found)
    assert "loc-not-absolute" not in keys(found)


def test_extensions_that_are_not_known(tmp_path: Path) -> None:
    """P-58: another's extension in each of 50,000 entries is read to its end."""
    extra = "<x:map><x:a/><x:b/><x:c/></x:map>"
    entries = [page(f"https://shop.example/{n}", extra) for n in range(50_000)]
    found = said(tmp_path, urlset(*entries, attributes=' xmlns:x="urn:x"'))
    assert keys(found) == {"unknown-extension"}
    assert found.urls == 50_000


def test_files_of_an_index(tmp_path: Path) -> None:
    """G-07, P-40: what an index lists is found beside it, by the longest tail of its path that is there."""
    names = {
        "sitemap.xml": index(
            *(shard(f"x/y/{name}") for name in ("a.xml", "maps/b.xml", "c%20d.xml", "gone.xml", "../a.xml"))
        ),
        "a.xml": pages("https://shop.example/1"),
        "maps/b.xml": pages("https://shop.example/2"),
        "c d.xml": pages("https://shop.example/3"),
    }
    for name, body in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(body)
    from sitemap_ops.validate import validate

    found = validate(tmp_path / "sitemap.xml")
    assert (found.files, found.urls) == (4, 3)
    assert [one.value for one in found.findings if one.code == "child-missing"] == ["https://shop.example/x/y/gone.xml"]
