"""The validator's two readers of XML see the same in every file."""

# ruff: noqa: E501 - one list of cases, one line

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.reading import blocks, reader
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.reader import ElementReader
from sitemap_ops.reading.stop import Stop
from tests.unit.validating import EXTENSIONS, NS

TEXTS = st.sampled_from(
    ["https://shop.example/a", "", " ", "ü😀", "a&amp;b&lt;c", "&apos;&quot;&gt;", "&#65;", "&bad;", "&", "]]>", "a>b", "\r\n", "x\ry", "\t", "\x01", "\ufffe", "<!-- c -->",
     "<![CDATA[</url>]]>", "<?pi x?>", "<b/>", "<b>x</b>", "<a></b>", "<b", "<!-- </url>"]
)  # fmt: skip
TAGS = st.sampled_from(
    ["loc", "lastmod", "image:image", "image:loc", "xhtml:link", "own:x", "x.y-z", "ünknown", "url", "1bad", "a:b:c"]
)
ATTRIBUTES = st.sampled_from(
    ["", "", "", ' rel="a" href="b&amp;c"', " rel='a\"'", ' a="1" a="2"', ' x = "1"', ' xmlns="urn:own"', ' xmlns:own="urn:own"', ' xhtml:a="1"', ' a="<"', ' a="&quot;"', ' a="x>y"', " a", ' a="\n"',
     ' xml:lang="en"', ' own:z="1"']
)  # fmt: skip
GAPS = st.sampled_from(["", "\n", "  ", "\r\n", "\t", "stray"])


@st.composite
def elements(draw: st.DrawFn) -> str:
    tag, attributes, gap = draw(TAGS), draw(ATTRIBUTES), draw(GAPS)
    form = draw(st.integers(0, 9))
    if form == 0:
        return f"<{tag}{attributes}/>{gap}"
    if form == 1:
        return f"<{tag}{attributes}>{draw(elements())}{gap}</{tag} >"
    return f"<{tag}{attributes}>{draw(TEXTS)}</{tag}>{gap}"


PLAIN = st.sampled_from(
    [
        "<url>\n<loc>https://shop.example/{}</loc>\n</url>\n",
        "<url><loc>a&amp;b</loc><image:image><image:loc>ü</image:loc></image:image></url>",
    ]
)
ENTRIES = st.lists(
    st.one_of(PLAIN, st.lists(elements(), max_size=4).map(lambda parts: f"<url>{''.join(parts)}</url>\n")), max_size=8
)


def rows(batch: Elements) -> Iterator[tuple[object, ...]]:
    for row, (code, depth, line, text, stray) in enumerate(
        zip(
            batch.tag.tolist(),
            batch.depth.tolist(),
            batch.line.tolist(),
            batch.text.to_pylist(),
            batch.stray.tolist(),
            strict=True,
        )
    ):
        yield batch.names[code], depth, line, text, stray, batch.attributes.get(row, {})


def read(document: bytes, piece: int) -> tuple[list[tuple[object, ...]], object]:
    """All rows of a document given in pieces, and how it ended: a finding's code and line, or whether text was stray."""
    made = ElementReader(lambda root: None)
    found: list[tuple[object, ...]] = []
    try:
        for batch in made.batches(document[at : at + piece] for at in range(0, len(document), piece)):
            found += rows(batch)
    except Stop as stop:
        found += rows(made.rest())
        return found, (stop.code, stop.line)
    return found, made.root_stray


@settings(max_examples=300, deadline=None)
@given(ENTRIES, st.integers(20, 400))
def test_both_readers_agree(entries: list[str], piece: int) -> None:
    """What `blocks` reads is what `sax` alone would: rows, lines, texts, attributes, and the fault at the end."""
    body = "".join(entries)
    document = f'<?xml version="1.0"?>\n<urlset xmlns="{NS}"{EXTENSIONS}>\n{body}</urlset>\n'.encode()
    with mock.patch.object(blocks, "read", return_value=None):
        alone = read(document, piece)
    with mock.patch.object(reader, "BLOCK_BYTES", 100):
        assert read(document, piece) == alone


def test_the_fast_reader_takes_the_common_form() -> None:
    """The test above would prove nothing if `blocks` declined everything."""
    entry = "<url>\n<loc>https://shop.example/?a=1&amp;b=2</loc>\n<lastmod>2024-01-01</lastmod>\n</url>\n"
    document = f'<?xml version="1.0"?>\n<urlset xmlns="{NS}">\n{entry * 50}</urlset>\n'.encode()
    with mock.patch.object(reader, "BLOCK_BYTES", 500), mock.patch.object(blocks, "read", wraps=blocks.read) as used:
        found, stray = read(document, 200)
    assert len(found) == 150
    assert stray is False
    assert used.call_count > 5
    assert found[-1] == ("lastmod", 3, 2 + 49 * 4 + 3, "2024-01-01", False, {})
