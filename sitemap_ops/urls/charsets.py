"""Servers that read their URLs in a legacy charset: `ü` is %FC there, and %C3%BC is another page (P-28)."""

from __future__ import annotations

import codecs
import string
from collections.abc import Sequence

from sitemap_ops.errors import UsageError

UTF_8 = "utf-8"
_ASCII = string.ascii_letters + string.digits + string.punctuation
_SAMPLE = "éğЯאあ中가€"


def codec_name(charset: str) -> str:
    """Python's own name of a charset in which URLs can be percent-encoded.

    That is one in which ASCII is ASCII and every other character starts with a byte above 7F, whatever stands before
    it. Raises UsageError for others (UTF-16, ISO-2022-JP, EBCDIC, ...).
    """
    try:
        name = codecs.lookup(charset).name
        usable = _ASCII.encode(name) == _ASCII.encode("ascii") and all(
            encoded[0] > 0x7F for char in _SAMPLE if (encoded := char.encode(name, "ignore"))
        )
    except (LookupError, UnicodeError, ValueError):
        raise UsageError(
            f"{charset!r} is no charset that Python knows: use utf-8, or one such as iso-8859-1 or windows-1254."
        ) from None
    if not usable:
        raise UsageError(
            f"URLs can't be percent-encoded in {charset!r}: use utf-8, or a charset that extends ASCII,"
            " such as iso-8859-1 or windows-1254."
        )
    return name


def encode_rows(rows: Sequence[str], charset: str) -> list[bytes | None]:
    """Each row (no newline in it) in the charset; None where the charset lacks one of its characters."""
    try:
        return list("\n".join(rows).encode(charset).split(b"\n"))
    except UnicodeEncodeError:
        return [_encode(row, charset) for row in rows]


def _encode(row: str, charset: str) -> bytes | None:
    try:
        return row.encode(charset)
    except UnicodeEncodeError:
        return None
