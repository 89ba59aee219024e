"""Bytes in a named encoding as strict UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.text import utf8_blocks

BLOCK_SIZES = [1, 2, 3, 5, 7, 64, 4096]


def cut(content: bytes, size: int) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


@pytest.mark.parametrize("size", BLOCK_SIZES)
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-7", "gb18030", "iso2022_jp_2004"]
)
def test_characters_cut_by_a_block_border_are_whole_again(encoding: str, size: int) -> None:
    """The text is the same wherever blocks end."""
    text = "/öğ\n/日本\n/か゚\n" + ("/😀\n" if encoding != "iso2022_jp_2004" else "") * 3
    if encoding == "iso2022_jp_2004":
        text = "/日本\n/か゚\n"
    decoded = b"".join(utf8_blocks(cut(text.encode(encoding), size), encoding, "pages.csv"))
    assert decoded.decode("utf-8").removeprefix("\ufeff") == text


@pytest.mark.parametrize("size", BLOCK_SIZES)
@pytest.mark.parametrize(
    ("encoding", "before", "bad"),
    [
        ("utf-8-sig", "loc\nä,b\n", b"caf\xe9,1\n"),
        ("utf-8", "loc\n", b"a,\xed\xa0\x80\n"),
        ("utf-8", "loc\n", b"a,\xc0\xaf\n"),
        ("utf-8", "loc\n", b"a,\xf4\x90\x80\x80\n"),
        ("utf-8", "loc\n", b"\x80\x80\x80\x80\n"),
        ("utf-8", "", b"\xff"),
        ("utf-8", "\ufeffloc\nä,b\n", b"a,b\xc3"),
        ("utf-8", "loc\n" * 50, b"a\xf0\x9f\x98"),
        ("cp1254", "loc\nä,b\n\n", b"a,\x81\n"),
        ("ascii", "loc\n", b"a,\xff\n"),
        ("cp932", "loc\nあ,b\n", b"a,\x81\n"),
        ("gb18030", "loc\nä,b\n", b"\x81"),
        ("utf-16-le", "loc\nä,b\n", b"\x00\xd8\x20\x00"),
        ("utf-16-be", "loc\nä,b\n", b"\x00a\x00"),
    ],
)
def test_a_bad_byte_is_located(encoding: str, before: str, bad: bytes, size: int) -> None:
    """C-93: strict; the error names file, line and byte offset as one decode of the whole file would."""
    content = before.encode("utf-8" if encoding == "utf-8-sig" else encoding) + bad
    with pytest.raises(UnicodeDecodeError) as truth:
        content.decode("utf-8" if encoding == "utf-8-sig" else encoding)
    start = truth.value.start
    line = before.count("\n") + 1
    with pytest.raises(SourceError) as raised:
        list(utf8_blocks(cut(content, size), encoding, "pages.csv"))
    assert f"byte 0x{content[start]:02x} on line {line}, at byte offset {start} " in str(raised.value)
    assert str(raised.value).startswith("pages.csv is not ")


def test_text_that_is_no_unicode() -> None:
    """UTF-7 can spell a lone surrogate, which no URL and no XML can hold."""
    with pytest.raises(SourceError, match="after line 2"):
        list(utf8_blocks([b"loc\n", b"+2AA-\n"], "utf-7", "pages.csv"))
