"""Bytes in a named encoding as strict UTF-8: nothing is guessed, replaced or dropped (C-93).

What pyarrow is given after this needs no second check. A byte that the encoding does not have, and a NUL (which no
text has: it tells UTF-16 read as something else, or a binary file), is an error with its line and byte offset.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

from sitemap_ops.errors import SourceError, UsageError

LINE_FEED = 10


def utf8_blocks(blocks: Iterable[bytes], encoding: str, where: str) -> Iterator[bytes]:
    """The text of some bytes, block by block, as UTF-8; a byte order mark is left where it is.

    Raises SourceError with line (from 1) and byte offset (from 0, after gunzip) for a byte that is not of the
    encoding, UsageError for an encoding that Python has no codec for.
    """
    codec = _text_codec(encoding, where)
    decoded = _checked(blocks, where) if codec.name in ("utf-8", "utf-8-sig") else _transcoded(blocks, codec, where)
    for lines, block in decoded:
        if (nul := block.find(0)) >= 0:
            line = lines + block.count(b"\n", 0, nul)
            raise SourceError(
                f"{where} has a NUL byte on line {line}, so it is no {encoding} text:"
                " is its encoding utf-16, or is it a binary file?"
            )
        yield block


def _text_codec(encoding: str, where: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        codec = None
    if codec is None or codec.incrementaldecoder is None or not codec._is_text_encoding:
        raise UsageError(f"{where}: there is no text encoding {encoding!r}; write one such as utf-8 or cp1254.")
    return codec


def _checked(blocks: Iterable[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    """UTF-8 as it is, each block whole characters, with the number of its first line.

    It is found valid by Arrow, at several times the speed of decoding.
    """
    offset, lines, rest = 0, 1, b""
    for block in blocks:
        block = rest + block
        whole = _whole_characters(block)
        block, rest = block[:whole], block[whole:]
        if not _is_utf8(block):
            _decode_or_tell(block, where, offset, lines)
        yield lines, block
        offset += len(block)
        lines += _line_feeds(block)
    if rest:
        _decode_or_tell(rest, where, offset, lines)


def _is_utf8(block: bytes) -> bool:
    offsets = pa.py_buffer(np.array([0, len(block)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(block)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _whole_characters(block: bytes) -> int:
    """Where the last character of UTF-8 that may be cut off begins, or the end."""
    for back, byte in enumerate(reversed(block[-3:]), 1):
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(block) - back if back < length else len(block)
        if byte < 0x80:
            break
    return len(block)


def _decode_or_tell(block: bytes, where: str, offset: int, lines: int) -> None:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines + block.count(b"\n", 0, error.start)
        raise _bad_byte(error, "utf-8", where, line, offset + error.start) from None


def _transcoded(blocks: Iterable[bytes], codec: codecs.CodecInfo, where: str) -> Iterator[tuple[int, bytes]]:
    """Text of another encoding as UTF-8, each block with the number of its first line."""
    decoder = codec.incrementaldecoder("strict")
    read, lines = 0, 1
    for block in chain(blocks, [b""]):
        try:
            text = decoder.decode(block, final=not block).encode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start - (len(error.object) - len(block))  # the codec puts what it held back before the block
            line = lines + decoder.decode(block[: max(at, 0)]).count("\n")
            raise _bad_byte(error, codec.name, where, line, read + at) from None
        except UnicodeError as error:
            raise SourceError(f"{where} is no {codec.name} text after line {lines}: {error}.") from None
        if text:
            yield lines, text
        read += len(block)
        lines += _line_feeds(text)


def _bad_byte(error: UnicodeDecodeError, encoding: str, where: str, line: int, offset: int) -> SourceError:
    byte = error.object[error.start : error.start + 1].hex()
    return SourceError(
        f"{where} is not {encoding}: byte 0x{byte} on line {line}, at byte offset {offset} ({error.reason});"
        " name the encoding that it was written in, or write it as UTF-8."
    )


def _line_feeds(block: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == LINE_FEED))
