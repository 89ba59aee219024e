"""Titles, captions and other texts for people: only characters that XML can hold, one line, no longer than allowed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.entries.extension import Notes
from sitemap_ops.entries.shapes import numpy
from sitemap_ops.entries.text import PADDING, trimmed

_NOT_XML = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x{FFFE}\\x{FFFF}]"
"""What XML 1.0 has no place for, not even as a reference (P-23); surrogates are no characters of an Arrow string."""
_BREAKS = r"[ \t\r\n\x{85}\x{2028}\x{2029}]*[\t\r\n\x{85}\x{2028}\x{2029}][ \t\r\n\x{85}\x{2028}\x{2029}]*"
_NOTHING = ("", r"\N")
"""The second is how MySQL and PostgreSQL export NULL. Other words for nothing, such as `None`, may be titles."""
_LONGEST_CLUSTER = 32
"""Characters: a longer pile of marks on one letter is cut like any text."""


def clean_texts(texts: pa.Array, row: np.ndarray, notes: Notes) -> pa.Array:
    """The texts as one line each, without padding and controls; null where nothing is left.

    row: the position of the row that each belongs to. Notes `text-control-char` for controls that were taken out (C-43)
    and `text-replacement-char` for U+FFFD, which stands for half a character or a wrongly decoded one (C-42).
    """
    controls = _matching(texts, _NOT_XML)
    if controls.any():
        notes.add_whole("text-control-char", row[controls])
        texts = pc.replace_substring_regex(texts, _NOT_XML, "")
    if _matching(texts, _BREAKS).any():
        texts = pc.replace_substring_regex(texts, _BREAKS, " ")
    texts = trimmed(texts)
    notes.add_whole("text-replacement-char", row[_matching(texts, "\ufffd")])
    return pc.if_else(pa.array(says_something(texts)), texts, pa.scalar(None, pa.string()))


def says_something(texts: pa.Array) -> np.ndarray:
    """Which trimmed texts (bool) are there."""
    there: np.ndarray = numpy(pc.is_valid(texts)) & ~numpy(pc.is_in(texts, pa.array(_NOTHING)))
    return there


def cut_characters(texts: pa.Array, most: int) -> tuple[pa.Array, np.ndarray]:
    """The texts with at most so many characters (code points), and which were longer (bool)."""
    too_long = numpy(pc.greater(pc.utf8_length(texts), most).fill_null(False))
    return _cut(texts, too_long, lambda text: most), too_long


def cut_bytes(texts: pa.Array, most: int) -> tuple[pa.Array, np.ndarray]:
    """The same by bytes of UTF-8, at the end of a character."""
    too_long = numpy(pc.greater(pc.binary_length(texts), most).fill_null(False))
    return _cut(texts, too_long, lambda text: len(text.encode()[:most].decode("utf-8", "ignore"))), too_long


def _cut(texts: pa.Array, too_long: np.ndarray, most_of: Callable[[str], int]) -> pa.Array:
    if not too_long.any():
        return texts
    cut = [_cut_at(text, most_of(text)) for text in texts.filter(pa.array(too_long)).to_pylist()]
    return pc.replace_with_mask(texts, pa.array(too_long), pa.array(cut, pa.string()))


def _cut_at(text: str, end: int) -> str:
    """The text's first characters, `end` at most; no letter loses its marks and no emoji its parts."""
    at = end
    while at > 0 and end - at < _LONGEST_CLUSTER and _continues(text, at):
        at -= 1
    return text[: end if _continues(text, at) else at].rstrip(PADDING)


def _continues(text: str, at: int) -> bool:
    """Whether the character at this place belongs to the one before it: a mark, a joiner or what is joined, a skin."""
    here = text[at]
    return (
        text[at - 1 : at] == "\u200d"
        or here == "\u200d"
        or unicodedata.category(here) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )


def _matching(texts: pa.Array, pattern: str) -> np.ndarray:
    return numpy(pc.match_substring_regex(texts, pattern).fill_null(False))
