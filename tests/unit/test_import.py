"""Sitemaps in whatever dialect they were written, as an inventory: what is read, what is repaired, and its name."""

# ruff: noqa: E501 - one file, one line

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet
import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SitemapOpsError, SourceError, TargetError, UsageError
from sitemap_ops.importing import Imported, import_sitemap
from tests.unit.validating import NS, extended, gz, index, page, pages, shard, urlset

A, B = "https://shop.example/a", "https://shop.example/b?x=1&y=2"
GOOD = pages(A)
IMAGE_NS = "http://www.google.com/schemas/sitemap-image/1.1"

GUIDE = b"""\
< ?xml version="1.0" encoding="UTF-8"?>
< urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  < url>
    < loc>http://www.ornek.com.tr/</loc>
    < lastmod>2005-01-01</lastmod>
    < changefreq>her ay</changefreq>
    < priority>0,8</priority>
  </url>
  < url>
    < loc>http://www.ornek.com.tr/catalog?item=12&desc=vacation_hawaii</loc>
    < changefreq>her hafta</changefreq>
    < priority>0,3</priority>
  </url>
</urlset>
"""
"""The sample of the old guide as its translated copy prints it (S000)."""

RSS = f"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Shop</title><link>https://shop.example/</link><atom:link rel="self" href="https://shop.example/feed"/>
<item><title>A &amp; b</title><link>{A}</link><pubDate>Thu, 07 Mar 2024 12:00:00 GMT</pubDate></item>
<item><title><![CDATA[<b>]]></title><guid>https://shop.example/g</guid></item>
<item><guid isPermaLink="false">https://shop.example/tag:1</guid></item>
</channel></rss>""".encode()

ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://shop.example/"/>
<entry><link rel="edit" href="https://shop.example/edit"/><link rel="alternate" href="{A}"/>
<published>2024-01-01T00:00:00Z</published><updated>2024-03-07T12:00:00Z</updated></entry>
</feed>""".encode()

RDF = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<item rdf:about="{A}"><link>{A}</link><dc:date>2024-03-07</dc:date></item></rdf:RDF>""".encode()


def plain(loc: str = A, rest: str = "") -> str:
    return f'<urlset xmlns="{NS}">{page(loc, rest)}</urlset>'


def escaped(url: str) -> str:
    return url.replace("&", "&amp;")


@dataclass(frozen=True)
class Dialect:
    """A file, the locs that it means, and what had to be repaired; `row` is what else its first row has to hold.

    skipped: entries and items without a URL.
    """

    body: bytes | str
    locs: list[str | None]
    repaired: dict[str, int]
    name: str = "sitemap.xml"
    row: Mapping[str, str] = field(default_factory=dict)
    skipped: int = 0


DIALECTS: dict[str, Dialect] = {
    "as it should be": Dialect(pages(A, escaped(B)), [A, B], {}),
    "all tags": Dialect(urlset(page(rest="<lastmod>2024-06-01</lastmod><changefreq>weekly</changefreq><priority>0.8</priority>")), [A], {}, row={"lastmod": "2024-06-01", "changefreq": "weekly", "priority": "0.8"}),
    "values are kept": Dialect(plain(" HTTPS://Shop.example/ü b ", "<lastmod>yesterday</lastmod><changefreq>sometimes</changefreq><priority>high</priority>"), ["HTTPS://Shop.example/ü b"], {}, row={"lastmod": "yesterday", "changefreq": "sometimes", "priority": "high"}),
    "the guide's sample (S000, P-24, P-15)": Dialect(GUIDE, ["http://www.ornek.com.tr/", "http://www.ornek.com.tr/catalog?item=12&desc=vacation_hawaii"], {"xml-declaration": 1, "tag-space": 13 - 3, "bare-ampersand": 1, "changefreq-translated": 2, "priority-comma": 2}, row={"lastmod": "2005-01-01", "changefreq": "monthly", "priority": "0.8"}),
    "space after the slash": Dialect(plain().replace("</url>", "</ url>"), [A], {"tag-space": 1}),
    "namespace with https (C-48)": Dialect(plain().replace("http:", "https:"), [A], {"namespace": 1}),
    "old Google namespace (P-02)": Dialect(plain().replace(NS, "http://www.google.com/schemas/sitemap/0.84"), [A], {"namespace": 1}),
    "no namespace (P-02)": Dialect(f"<urlset>{page()}</urlset>", [A], {"namespace": 1}),
    "prefixed": Dialect(f'<s:urlset xmlns:s="{NS}"><s:url><s:loc>{A}</s:loc></s:url></s:urlset>', [A], {}),
    "another namespace inside": Dialect(f'<urlset xmlns="{NS}"><url xmlns="urn:x"><loc>{A}</loc></url></urlset>', [A], {}),
    "undeclared prefixes (C-49)": Dialect(f'<urlset xmlns="{NS}" xsi:schemaLocation="x y">{page(rest=f"<image:image><image:loc>{B[:-8]}</image:loc></image:image><foo:bar/>")}</urlset>', [A], {"undeclared-prefix": 2}, row={"images": f'["{B[:-8]}"]'}),
    "a late undeclared prefix": Dialect(urlset(*[page("https://shop.example/x:y/" + "z" * 900)] * 200, page(rest="<foo:bar></foo:bar>"), page("https://shop.example/foo:bar")), ["https://shop.example/x:y/" + "z" * 900] * 200 + [A, "https://shop.example/foo:bar"], {"undeclared-prefix": 1}),
    "byte order mark (P-20)": Dialect(b"\xef\xbb\xbf" + GOOD, [A], {"bom": 1}),
    "a byte order mark in the middle": Dialect(GOOD.replace(b"<urlset", b"\xef\xbb\xbf<urlset"), [A], {"leading-text": 1}),
    "leading white space (P-24)": Dialect(b"\n\n  " + GOOD, [A], {"leading-whitespace": 1}),
    "text before the root": Dialect(f"<?xml version='1.0'?>Notice: undefined index{plain()}", [A], {"leading-text": 1}),
    "a declaration that is not closed": Dialect(f'<?xml version="1.0" encoding="UTF-8">{plain()}', [A], {"xml-declaration": 1}),
    "XML 1.1": Dialect(f'<?xml version="1.1"?>{plain()}', [A], {}),
    "upper-case tags": Dialect(plain(rest="<lastmod>2024</lastmod>").replace("urlset", "URLSET").replace("loc>", "Loc>").replace("lastmod>", "lastMod>").replace("<url>", "<URL>"), [A], {"tag-case": 7}, row={"lastmod": "2024"}),
    "capitals in URLs are left": Dialect(plain("https://shop.example/LOC/URL >"), ["https://shop.example/LOC/URL >"], {}),
    "curly quotes": Dialect(f"<urlset xmlns=”{NS}”>{page()}</urlset>", [A], {"root-tag": 1}),
    "no quotes": Dialect(f"<urlset xmlns={NS}>{page()}</urlset>", [A], {"root-tag": 1}),
    "bare ampersands (P-21)": Dialect(plain(B), [B], {"bare-ampersand": 1}),
    "bare ampersands that look like entities": Dialect(plain("https://shop.example/?a=1&copy=2&lt=3&nosuch;"), ["https://shop.example/?a=1&copy=2&lt=3&nosuch;"], {"bare-ampersand": 3}),
    "HTML entities": Dialect(plain("https://shop.example/&uuml;"), ["https://shop.example/ü"], {"html-entity": 1}),
    "numeric references": Dialect(plain("https://shop.example/?a&#38;b&#x26;c"), ["https://shop.example/?a&b&c"], {}),
    "escaped twice (P-22)": Dialect(plain("https://shop.example/?a=1&amp;amp;b=2"), ["https://shop.example/?a=1&b=2"], {"double-entity-escape": 1}),
    "escaped three times": Dialect(plain("https://shop.example/?a=1&amp;amp;amp;b=&amp;quot;"), ['https://shop.example/?a=1&b="'], {"double-entity-escape": 1}),
    "CDATA": Dialect(plain(f"<![CDATA[{B}]]>"), [B], {}),
    "comments": Dialect(f'<!-- a -- b & <c> --><urlset xmlns="{NS}"><!--{page()}-->{page()}</urlset><!-- 3 ms -->', [A], {}),
    "control characters (P-23)": Dialect(plain("https://shop.example/\x01&#2;"), ["https://shop.example/\ufffd\ufffd"], {"control-character": 2}),
    "bytes that are not UTF-8 (P-20)": Dialect(plain("https://shop.example/?").encode().replace(b"?", b"\xfc"), ["https://shop.example/\ufffd"], {"not-utf-8": 1}),
    "a declared encoding (P-20)": Dialect(f'<?xml version="1.0" encoding="iso-8859-9"?>{plain("https://shop.example/şı")}'.encode("iso-8859-9"), ["https://shop.example/şı"], {"encoding": 1}),
    "UTF-16": Dialect(f'<?xml version="1.0" encoding="UTF-16"?>{plain("https://shop.example/ş")}'.encode("utf-16"), ["https://shop.example/ş"], {"encoding": 1}),
    "gzip named .xml": Dialect(gz(GOOD), [A], {}),
    "plain named .gz": Dialect(GOOD, [A], {}, "sitemap.xml.gz"),
    "several gzip members (P-33)": Dialect(gz(GOOD[:90]) + gz(GOOD[90:]), [A], {"gzip-multi-member": 1}),
    "bytes after the gzip data": Dialect(gz(GOOD) + b"\0" * 9, [A], {"gzip-trailing-garbage": 1}),
    "two locs in an entry (P-03)": Dialect(plain(rest="<loc>https://shop.example/z</loc><lastmod>2024</lastmod><lastmod>2023</lastmod>"), [A], {"loc-duplicate-tag": 1, "duplicate-tag": 1}, row={"lastmod": "2024"}),
    "an entry without a loc": Dialect(f'<urlset xmlns="{NS}"><url><lastmod>2024</lastmod></url>{page()}</urlset>', [A], {}, row={"lastmod": ""}, skipped=1),
    "other order, unknown tags (P-18, P-19)": Dialect(f'<urlset xmlns="{NS}"><url><mobile/><priority>1</priority><loc>{A}</loc></url><x/></urlset>', [A], {"priority-noncanonical": 1}, row={"priority": "1.0"}),
    "images of an unknown namespace": Dialect(f'<urlset xmlns="{NS}" xmlns:image="{IMAGE_NS.replace("http", "https")}"><url><image:image><image:loc>/i.png</image:loc></image:image><loc>{A}</loc></url></urlset>', [A], {}, row={"images": '["/i.png"]'}),
    "image texts (C-85)": Dialect(extended("<image:image><image:loc>/1?a&amp;amp;b</image:loc></image:image><image:image><image:loc>/2</image:loc><image:title> Ü &amp;amp; x </image:title><image:x>y</image:x></image:image>"), [A], {"double-entity-escape": 1}, row={"images": '["/1?a&b", {"loc": "/2", "title": "Ü &amp; x"}]'}),
    "videos": Dialect(extended('<video:video><video:title>T</video:title><video:tag>a</video:tag><video:tag>b</video:tag><video:restriction relationship="deny">DE</video:restriction><video:live/><video:id type="url">x</video:id></video:video><video:video><video:title>U</video:title></video:video>'), [A], {}, row={"videos": '[{"title": "T", "tag": ["a", "b"], "restriction": "DE", "restriction_relationship": "deny"}, {"title": "U"}]'}),
    "news (G-43)": Dialect(extended("".join(f"<news:news><news:publication><news:name>{name}</news:name><news:language>en</news:language></news:publication><news:publication_date>2024-06-01</news:publication_date><news:title>T</news:title></news:news>" for name in "NO")), [A], {"duplicate-tag": 1}, row={"news_name": "N", "news_language": "en", "news_title": "T", "news_published": "2024-06-01"}),
    "titles of videos are no titles of images": Dialect(extended("<image:image><image:loc>/1</image:loc></image:image><video:video><video:title>T</video:title></video:video>"), [A], {}, row={"images": '["/1"]', "videos": '[{"title": "T"}]'}),
    "alternates": Dialect(urlset(page(rest='<xhtml:link rel="alternate" hreflang="tr" href="/tr?a&amp;amp;b"/><xhtml:link rel="alternate" hreflang="en" href="/en"/><xhtml:link rel="alternate" hreflang="en" href="/x"/>'), attributes=' xmlns:xhtml="http://www.w3.org/1999/xhtml"'), [A], {"double-entity-escape": 1, "hreflang-duplicate": 1}, row={"alternates": '{"tr": "/tr?a&b", "en": "/en"}'}),
    "RSS 2.0 (P-50)": Dialect(RSS, [A, "https://shop.example/g"], {"feed": 1, "guid-as-link": 1}, row={"lastmod": "Thu, 07 Mar 2024 12:00:00 GMT"}, skipped=1),
    "Atom (P-50)": Dialect(ATOM, [A], {"feed": 1}, row={"lastmod": "2024-03-07T12:00:00Z"}),
    "RSS 1.0": Dialect(RDF, [A], {"feed": 1}, row={"lastmod": "2024-03-07"}),
    "text (P-49)": Dialect(f"{A}\r\n\r\n# a comment\n{B}\n", [A, B], {"txt-line-not-url": 1}, "urls.txt"),
    "text with another name": Dialect(A, [A], {}, "urls"),
    "text with entities": Dialect(escaped(B), [B], {"double-entity-escape": 1, "txt-entity": 1}, "urls.txt.gz"),
    "XML named .txt": Dialect(b"\xef\xbb\xbf \n" + GOOD, [A], {"bom": 1, "leading-whitespace": 1}, "sitemap.txt"),
}  # fmt: skip


def imported(folder: Path, files: Mapping[str, bytes | str]) -> tuple[list[dict[str, str]], Imported]:
    """What becomes of files put into a folder, when the first of them is imported."""
    for name, body in files.items():
        (folder / name).write_bytes(body.encode() if isinstance(body, str) else body)
    to = folder / "inventory.csv"
    result = import_sitemap(str(folder / next(iter(files))), to, EnvironmentConnections())
    with to.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), result


def locs(rows: list[dict[str, str]]) -> list[str]:
    return [row["loc"] for row in rows]


@pytest.mark.parametrize("name", DIALECTS)
def test_dialect(name: str, tmp_path: Path) -> None:
    """Issue 3, 7: the URLs that a file means, its values as they came, and each repair counted by its code."""
    dialect = DIALECTS[name]
    rows, result = imported(tmp_path, {dialect.name: dialect.body})
    assert locs(rows) == dialect.locs
    assert result.repaired == dialect.repaired
    assert (result.urls, result.files, result.skipped) == (len(rows), 1, dialect.skipped)
    assert {key: rows[0][key] for key in dialect.row} == dialect.row


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_cuts_between_reads_change_nothing(size: int, tmp_path: Path) -> None:
    """A file is read in blocks: wherever they end, tags, references, CDATA and comments stay whole."""
    from collections import Counter

    from sitemap_ops.dialects.mend import mend

    body = f'<?xml version="1.0"?><!-- < & --><URLSET xmlns="{NS}">< url><loc><![CDATA[{B}]]>&uuml;&x ü</loc><q:r/></url></URLSET>'.encode()
    repairs, whole = Counter[str](), Counter[str]()
    cut = b"".join(mend((body[at : at + size] for at in range(0, len(body), size)), repairs))
    once = b"".join(mend(iter([body]), whole))
    assert cut.partition(b"<url>")[2].replace(b"q.r", b"q:r") == once.partition(b"<url>")[2]
    assert repairs == whole


def test_parquet(tmp_path: Path) -> None:
    """The same inventory as Parquet, all columns text."""
    (tmp_path / "sitemap.xml").write_bytes(urlset(page(rest="<lastmod>2024-06-01</lastmod>")))
    to = tmp_path / "inventory.parquet"
    import_sitemap(str(tmp_path / "sitemap.xml"), to, EnvironmentConnections())
    table = pyarrow.parquet.read_table(to)
    assert table.schema.names == [
        *("loc", "lastmod", "changefreq", "priority", "images", "videos"),
        *("news_name", "news_language", "news_title", "news_published", "alternates"),
    ]
    assert table.to_pylist()[0] | {"images": None} == {"loc": A, "lastmod": "2024-06-01"} | dict.fromkeys(
        table.schema.names[2:]
    )


def test_csv_quotes(tmp_path: Path) -> None:
    """Delimiters, quotes and line feeds in values survive the CSV."""
    odd = 'https://shop.example/,"\n;'
    rows, _ = imported(tmp_path, {"sitemap.xml": plain(odd)})
    assert locs(rows) == [odd]


def test_index(tmp_path: Path) -> None:
    """An index is followed in its order, each file read once, whatever kind a file is of."""
    files = {
        "sitemap.xml": index(shard("b.xml.gz"), shard("a.txt"), shard("b.xml.gz")),
        "a.txt": "https://shop.example/2\n",
        "b.xml.gz": gz(pages("https://shop.example/1")),
    }
    rows, result = imported(tmp_path, files)
    assert locs(rows) == ["https://shop.example/1", "https://shop.example/2"]
    assert (result.files, result.repaired) == (3, {})


def test_index_dialect(tmp_path: Path) -> None:
    """An index is repaired like a sitemap is."""
    body = "< SitemapIndex>< sitemap><loc> https://shop.example/a.xml?x=1&y </loc></sitemap></SITEMAPINDEX>"
    rows, result = imported(tmp_path, {"sitemap.xml": body, "a.xml": GOOD})
    assert locs(rows) == [A]
    assert result.repaired == {"bare-ampersand": 1, "namespace": 1, "tag-case": 2, "tag-space": 2}


def test_nested_index(tmp_path: Path) -> None:
    """P-35: an index in an index is read and counted; one more is an error that names it."""
    files = {
        "sitemap.xml": index(shard("one.xml")),
        "one.xml": index(shard("two.xml")),
        "two.xml": GOOD,
    }
    rows, result = imported(tmp_path, files)
    assert (locs(rows), result.repaired) == ([A], {"nested-index": 1})
    with pytest.raises(SourceError, match=r"two\.xml is an index 3 deep: import it by its own address"):
        imported(tmp_path, {**files, "two.xml": index(shard("three.xml")), "three.xml": GOOD})


def test_a_loop_ends(tmp_path: Path) -> None:
    """An index that lists itself, and its parent, is read once."""
    rows, _ = imported(tmp_path, {"sitemap.xml": index(shard("sitemap.xml"), shard("one.xml")), "one.xml": index(shard("sitemap.xml"), shard("a.xml")), "a.xml": GOOD})  # fmt: skip
    assert locs(rows) == [A]


def test_folder(tmp_path: Path) -> None:
    """A folder is all sitemaps in it, each once though an index there lists it too."""
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "sitemap.xml").write_bytes(index(shard("a.xml")))
    (folder / "a.xml").write_bytes(GOOD)
    (folder / "robots.txt").write_text("User-agent: *\n")
    result = import_sitemap(str(folder), tmp_path / "all.csv", EnvironmentConnections())
    assert (result.urls, result.files) == (1, 2)


def test_large(tmp_path: Path) -> None:
    """More entries than a batch holds keep their order and their neighbours."""
    entries = [page(f"https://shop.example/{n}?a&amp;b", f"<lastmod>{n}</lastmod>") for n in range(120_000)]
    rows, result = imported(tmp_path, {"sitemap.xml.gz": gzip.compress(urlset(*entries), 1)})
    assert result.urls == 120_000
    assert all(row["loc"] == f"https://shop.example/{n}?a&b" and row["lastmod"] == str(n) for n, row in enumerate(rows))


ERRORS: dict[str, tuple[bytes | str, str]] = {
    "html": ("<!doctype html><html><body>404</body></html>", "this is an HTML page"),
    "empty": ("", "the file is empty"),
    "no url": (f'<urlset xmlns="{NS}"></urlset>', "There is no URL in"),
    "no lines": ("https:\n#\n", "There is no URL in"),
    "another format": ('{"urls": []}', "it is no sitemap"),
    "another root": ("<svg/>", "its root is <svg>"),
    "cut off": (GOOD[:-20], "line .* the file ends"),
    "cut gzip": (gz(GOOD)[:-12], "cut short"),
    "two documents": (GOOD + GOOD, "something follows the root"),
    "tags that cross": (plain().replace("</loc></url>", "</url></loc>"), "a closing tag that does not match"),
    "zip": (b"PK\x03\x04", "a zip archive"),
    "index of nothing": (index(shard("sitemap.xml")), "There is no URL in"),
    "child that is not there": (index(shard("gone.xml")), r"lists https://shop\.example/gone\.xml, which is not beside it"),
    "child outside": (index(shard("../../etc/passwd")), "which is not beside it"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_what_cannot_be_read(name: str, tmp_path: Path) -> None:
    """A file that nothing, or not all, can be read from is one clear error, and leaves no inventory, old ones as they were."""
    body, told = ERRORS[name]
    (tmp_path / "inventory.csv").write_text("old")
    with pytest.raises(SourceError, match=told) as raised:
        imported(tmp_path, {"sitemap.xml": body})
    assert "sitemap.xml" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert (tmp_path / "inventory.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inventory.csv", "sitemap.xml"]


@pytest.mark.parametrize(
    ("location", "to", "error", "told"),
    [
        ("sitemap.xml", "out.json", UsageError, "let its name end in .csv or .parquet"),
        ("sitemap.xml", "no/such/folder.csv", TargetError, "can't be written: No such file or directory"),
        ("gone.xml", "out.csv", UsageError, "There is no file or folder"),
        ("empty", "out.csv", UsageError, "There is no sitemap in"),
        ("http://", "out.csv", UsageError, "is no address of a web server"),
    ],
)
def test_wrong_call(location: str, to: str, error: type[SitemapOpsError], told: str, tmp_path: Path) -> None:
    """A user's mistake is one sentence; what is not there is a wrong call, as for validate (DESIGN 8)."""
    (tmp_path / "sitemap.xml").write_bytes(GOOD)
    (tmp_path / "empty").mkdir()
    where = location if "//" in location else str(tmp_path / location)
    with pytest.raises(error, match=told):
        import_sitemap(where, tmp_path / to, EnvironmentConnections())


def test_source_of_a_section(tmp_path: Path) -> None:
    """`type: sitemap`: the section's columns as they came, rows numbered, nothing of it translated yet."""
    from sitemap_ops import inventory
    from sitemap_ops.site import load_site

    (tmp_path / "old.xml").write_bytes(GUIDE)
    (tmp_path / "site.yaml").write_text(
        "site: shop\nbase_url: http://www.ornek.com.tr/\ntarget: public/\nsections:\n"
        "  - {name: old, source: {type: sitemap, location: old.xml}, loc: loc, changefreq: changefreq, priority: priority}\n"
    )
    section = load_site(tmp_path / "site.yaml").section("old")
    chunks = list(inventory.read(section.source, section.columns(), EnvironmentConnections()))
    assert len(chunks) == 1
    assert list(chunks[0].rows.index) == [1, 2]
    assert chunks[0].rows.to_dict("list") == {
        "loc": ["http://www.ornek.com.tr/", "http://www.ornek.com.tr/catalog?item=12&desc=vacation_hawaii"],
        "changefreq": ["her ay", "her hafta"],
        "priority": ["0,8", "0,3"],
    }
    with pytest.raises(SourceError, match=r"no column 'url' in .*its columns are 'loc', 'lastmod'"):
        list(inventory.read(section.source, ["url"], EnvironmentConnections()))


@pytest.mark.parametrize("chunk_rows", [1, 2, 3])
def test_repairs_of_a_source(chunk_rows: int, tmp_path: Path) -> None:
    """`type: sitemap`: chunks tell what was repaired to read them, each repair once, that behind the last row too."""
    from sitemap_ops import inventory
    from sitemap_ops.site import SitemapSource

    (tmp_path / "old.xml.gz").write_bytes(gz(GUIDE) + b"garbage")
    source = SitemapSource(type="sitemap", location=str(tmp_path / "old.xml.gz"))
    chunks = list(inventory.read(source, ["loc"], EnvironmentConnections(), chunk_rows=chunk_rows))
    assert sum(len(chunk.rows) for chunk in chunks) == 2
    assert all(list(chunk.rows.columns) == ["loc"] for chunk in chunks)
    told = sum((Counter(chunk.repaired) for chunk in chunks), Counter())
    _, result = imported(tmp_path, {"again.xml.gz": gz(GUIDE) + b"garbage"})
    in_words = {"changefreq-translated", "priority-comma"}
    assert told == {code: count for code, count in result.repaired.items() if code not in in_words}
    assert told["gzip-trailing-garbage"] == 1


def test_source_that_is_not_there(tmp_path: Path) -> None:
    """A section's sitemap that is gone is a source that can't be read (exit 1), as a CSV file is: the call is right."""
    from sitemap_ops import inventory
    from sitemap_ops.site import SitemapSource

    for name in ("gone.xml", ""):
        source = SitemapSource(type="sitemap", location=str(tmp_path / name))
        with pytest.raises(SourceError, match="There is no"):
            list(inventory.read(source, ["loc"], EnvironmentConnections()))


def test_json_columns(tmp_path: Path) -> None:
    """images and alternates are JSON that holds any character."""
    body = urlset(page(rest=f'<image:image><image:loc>/"ü",</image:loc></image:image><image:image xmlns:image="{IMAGE_NS}"><image:loc>/2</image:loc></image:image>'), attributes=f' xmlns:image="{IMAGE_NS}"')  # fmt: skip
    rows, _ = imported(tmp_path, {"sitemap.xml": body})
    assert json.loads(rows[0]["images"]) == ['/"ü",', "/2"]
