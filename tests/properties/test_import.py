"""Whatever is done to a sitemap's bytes, an import gives rows or one sentence; a well-formed one loses nothing."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.dialects.files import Sitemaps
from sitemap_ops.errors import SourceError
from tests.unit.validating import page, pages, urlset

PIECES = (
    *(b"<", b">", b"&", b"< ", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<!", b'"', b"\n"),
    *(b"<url>", b"</url>", b"<LOC>", b"<a:b>", b"xmlns:a=", b"&#0;", b"&nbsp;", b"\x00", b"\xff"),
    *(b"\xef\xbb\xbf", b"\xef\xbf\xbf"),
)
WHOLE = urlset(page(rest="<lastmod>2024</lastmod>"), page("https://shop.example/<![CDATA[b&c]]>"), "<!-- x -->")
XML_TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff\ufffd"), min_size=1
).map(lambda text: "https://shop.example/" + text)


def rows(body: bytes) -> tuple[list[str | None], Counter[str]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitemap.xml").write_bytes(body)
        sitemaps = Sitemaps(str(Path(folder) / "sitemap.xml"), EnvironmentConnections())
        return [loc for batch in sitemaps.batches() for loc in batch["loc"].to_pylist()], +sitemaps.repairs


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=4)
)
def test_any_damage_is_told(damages: list[tuple[int, int, bytes]]) -> None:
    """Rows, or a SourceError of one line; nothing else is raised."""
    body = WHOLE
    for at, dropped, piece in damages:
        body = body[:at] + piece + body[at + dropped :]
    try:
        rows(body)
    except SourceError as error:
        assert "\n" not in str(error)


@settings(max_examples=200, deadline=None)
@given(st.lists(XML_TEXT, min_size=1, max_size=5))
def test_a_whole_sitemap_needs_no_repair(locs: list[str]) -> None:
    """What is well-formed comes through as it is: trimmed of XML's white space, unescaped where it was twice."""
    found, repairs = rows(pages(*map(escape, locs)))
    assert set(repairs) <= {"double-entity-escape"}
    if not repairs:
        assert found == [loc.strip(" \t\r\n") for loc in locs]
