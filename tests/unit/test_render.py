"""Rendered bytes: C-31, C-32, C-48, C-50, C-54, C-12."""

from __future__ import annotations

import gzip
import itertools
import time

import pyarrow as pa
from lxml import etree

from sitemap_ops.columns import frame
from sitemap_ops.ordering import ENTRY_SCHEMA
from sitemap_ops.render.escape import escape, escape_column
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.index import render_index
from sitemap_ops.render.xml import FOOTER, HEADER, render_entries

NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def document(*rows: dict[str, str | None]) -> bytes:
    _, data = render_entries(frame(pa.Table.from_pylist([dict(row) for row in rows], schema=ENTRY_SCHEMA)))
    return HEADER + data.tobytes() + FOOTER


def test_entries() -> None:
    """C-50, P-18: loc, lastmod, changefreq, priority in the schema's order; what is missing has no tag."""
    text = document(
        {"loc": "https://a.example/", "lastmod": "2024-03-07", "changefreq": "daily", "priority": "0.8"},
        {"loc": "https://a.example/b", "priority": "1.0"},
    ).decode()
    assert text == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        "<url><loc>https://a.example/</loc><lastmod>2024-03-07</lastmod><changefreq>daily</changefreq>"
        "<priority>0.8</priority></url>\n"
        "<url><loc>https://a.example/b</loc><priority>1.0</priority></url>\n"
        "</urlset>\n"
    )


def test_escapes() -> None:
    """C-31, P-21: the five characters are entities, and a parser gives the value back."""
    loc = "https://a.example/?a=1&b='2'&amp;"
    data = document({"loc": loc}, {"loc": "https://a.example/plain"})
    assert b"?a=1&amp;b=&apos;2&apos;&amp;amp;</loc>" in data
    assert [node.text for node in etree.fromstring(data).iter(f"{NS}loc")] == [loc, "https://a.example/plain"]
    assert escape("&'\"<>") == "&amp;&apos;&quot;&lt;&gt;"
    assert escape_column(pa.array(["&'\"<>", None, ""])).to_pylist() == ["&amp;&apos;&quot;&lt;&gt;", None, ""]


def test_namespace() -> None:
    """C-48, C-49, C-54: only the namespace in use is declared, once, byte for byte; no prefix is made up."""
    data = document({"loc": "https://a.example/"})
    assert data.count(b"xmlns") == 1
    assert b"ns0:" not in data
    assert b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' in data


def test_offsets() -> None:
    """The offsets say where each entry's element begins and ends, also past the entities."""
    rows = [{"loc": f"https://a.example/?{n}&{n}"} for n in range(5)]
    offsets, data = render_entries(frame(pa.Table.from_pylist(rows, schema=ENTRY_SCHEMA)))
    elements = [data[a:b].tobytes() for a, b in itertools.pairwise(offsets)]
    assert all(each.startswith(b"<url>") and each.endswith(b"</url>\n") for each in elements)
    assert len(elements) == 5


def test_gzip_is_deterministic() -> None:
    """C-12, S3-12, S3-13: the same content gives the same bytes a second later: no clock, no name, one member."""
    first = compress(b"<urlset>" + b"x" * 100_000)
    time.sleep(1.1)
    assert compress(b"<urlset>" + b"x" * 100_000) == first
    assert first[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    assert gzip.decompress(first) == b"<urlset>" + b"x" * 100_000


def test_index() -> None:
    """P-36, P-43: each sitemap with its escaped loc and its lastmod, and nothing else."""
    root = etree.fromstring(render_index([("https://a.example/s.xml.gz?a&b", "2024-03-07T00:00:00+00:00")]))
    assert root.tag == f"{NS}sitemapindex"
    assert [(child.tag, child.text) for child in root[0]] == [
        (f"{NS}loc", "https://a.example/s.xml.gz?a&b"),
        (f"{NS}lastmod", "2024-03-07T00:00:00+00:00"),
    ]
