"""From plain bytes to UTF-8 and the kind of file, by what the bytes are (P-20, P-24, S3-26)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from sitemap_ops.reading.record import Record
from sitemap_ops.reading.stop import Stop
from sitemap_ops.reading.unpack import with_head

Kind = Literal["xml", "text"]
HEAD = 4_096
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_READABLE = re.compile(
    r"(?i)(us-)?ascii|iso-8859-\d+|latin-?\d|windows-125\d|cp125\d|koi8-[ru]|gbk|gb2312|gb18030|big5|euc-(jp|kr)|shift_jis"
)
_HTML = re.compile(
    rb"(?is)(?:<\?xml[^>]*+>|(?><!--.*?-->)|\s)*+<(?:!doctype\s+html|html|head|body|script|meta|title)\b"
)
_WHITE = b" \t\r\n"


@dataclass(frozen=True)
class Decoded:
    """kind: of file. blocks: its bytes as UTF-8, from the first character on. skipped_lines: those before it."""

    kind: Kind
    blocks: Iterator[bytes]
    skipped_lines: int


def decode(chunks: Iterator[bytes], record: Record, name: str) -> Decoded:
    """What kind of file it is, and its bytes as UTF-8, without byte order mark or leading white space.

    record: takes `bom`, `encoding`, `leading-whitespace`. name: the file's name or URL path; `.txt` and `.txt.gz` are
    text whatever they hold, all else is told by its first character. Raises Stop: `empty-file`, `encoding` where it
    can't be read on, `html-instead-of-xml` (S3-26).
    """
    head, chunks = with_head(chunks, 4)
    mark, charset = next(((mark, charset) for mark, charset in _BOMS if head.startswith(mark)), (b"", _by_zeros(head)))
    chunks = _without(chunks, len(mark))
    if charset == "utf-8" and mark:
        record.add("bom", line=1)
    elif charset:
        record.add("encoding", message=f"The file is {charset.upper()}, not UTF-8.", line=1)
        chunks = _transcoded(chunks, charset)
    white, head, chunks = _from_first_character(chunks)
    if not head:
        raise Stop("empty-file")
    if _HTML.match(head):
        raise Stop("html-instead-of-xml", value=head[:80].decode("utf-8", "replace"))
    text = re.search(r"\.txt(\.gz)?$", name.lower()) is not None
    if text or not head.startswith(b"<"):
        return Decoded(_text_or_stop(head, text), chunks, white.count(b"\n"))
    if white:
        record.add("leading-whitespace", line=1)
    return Decoded("xml", _as_declared(head, chunks, record, known=bool(charset)), white.count(b"\n"))


def _from_first_character(chunks: Iterator[bytes]) -> tuple[bytes, bytes, Iterator[bytes]]:
    """The white space at the start (a block of it at most), what follows at once, and an iterator from there on."""
    white = b""
    for chunk in chunks:
        rest = chunk.lstrip(_WHITE)
        white = white or chunk[: len(chunk) - len(rest)]
        if rest:
            return white, *with_head(chain([rest], chunks), HEAD)
    return white, b"", iter(())


def _text_or_stop(stripped: bytes, named_text: bool) -> Kind:
    if named_text or re.match(rb"(?i)https?:", stripped):
        return "text"
    raise Stop(
        "unsupported-format",
        value=stripped[:80].decode("utf-8", "replace"),
        message="The file starts with neither '<' nor a URL: it is no sitemap.",
    )


def _as_declared(head: bytes, chunks: Iterator[bytes], record: Record, *, known: bool) -> Iterator[bytes]:
    match = _DECLARED.match(head)
    declared = match[1].decode("ascii").lower() if match else "utf-8"
    if known or declared in ("utf-8", "utf8"):
        return chunks
    record.add("encoding", value=declared, line=1, message=f"The file declares {declared}; a sitemap is UTF-8.")
    if declared.startswith(("utf-16", "utf-32", "ucs")):
        return chunks
    if not _READABLE.fullmatch(declared):
        raise Stop(
            "encoding", value=declared, line=1, message=f"The declared encoding {declared} is unknown; reading stopped."
        )
    return _transcoded(chunks, declared)


def _by_zeros(head: bytes) -> str | None:
    """UTF-16 without a mark, told by the zeros around its first character."""
    if head[:2] == b"<\x00" and head[3:4] == b"\x00":
        return "utf-16-le"
    return "utf-16-be" if head[:2] == b"\x00<" else None


def _transcoded(chunks: Iterator[bytes], charset: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(charset)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


def _without(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        dropped = min(size, len(chunk))
        size -= dropped
        if dropped < len(chunk):
            yield chunk[dropped:]
