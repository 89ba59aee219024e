"""Rendered files back into entries, for whole columns at once: the reverse of `xml.render_entries`.

For files of this program alone: it looks for the bytes that the rendering always writes, and refuses others. What reads
any sitemap is `validate` and `importing`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import from_text_buffers, text_buffers
from sitemap_ops.render.escape import ENTITIES

_START = np.frombuffer(b"<url><loc>", np.uint8)
_END = np.frombuffer(b"</url>\n", np.uint8)


def rendered_entries(content: bytes) -> tuple[pa.Array, pa.Array]:
    """Each entry's loc, unescaped, and its bytes as rendered (two strings columns), of a shard's XML.

    Raises ValueError where it is not what this program renders.
    """
    start, end = content.find(b"<url>"), content.rfind(b"</urlset>")
    if not 0 <= start <= end:
        raise ValueError("it has no entries between a header and a footer")
    data = np.frombuffer(content, np.uint8, end - start, start)
    offsets = _offsets(data)
    return _locs(data, offsets), from_text_buffers(offsets, data)


def text_entries(content: bytes) -> tuple[pa.Array, pa.Array]:
    """The same of a text sitemap, in which an entry is its loc."""
    data = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if not len(ends) or ends[-1] != len(data) - 1:
        raise ValueError("its last line has no end")
    lines = from_text_buffers(np.concatenate([[0], ends + 1]), data)
    return pc.utf8_rtrim(lines, "\n"), lines


def _offsets(data: np.ndarray) -> np.ndarray:
    """Where each entry begins, and where the last one ends: values are escaped, so that `</url>` is only ever a tag."""
    ends = np.flatnonzero(data == ord("\n")) + 1
    ends = ends[ends >= len(_END)]
    ends = ends[(data[ends[:, None] - np.arange(len(_END), 0, -1)] == _END).all(axis=1)]
    offsets = np.concatenate([[0], ends])
    starts = offsets[:-1]
    if (
        offsets[-1] != len(data)
        or (np.diff(offsets) < len(_START) + len(_END)).any()
        or not (data[starts[:, None] + np.arange(len(_START))] == _START).all()
    ):
        raise ValueError("its entries are not written as this program writes them")
    return offsets


def _locs(data: np.ndarray, offsets: np.ndarray) -> pa.Array:
    """What stands between `<url><loc>` and the next tag."""
    begin = offsets[:-1] + len(_START)
    tags = np.flatnonzero(data == ord("<"))
    lengths = tags[np.searchsorted(tags, begin)] - begin
    to = np.concatenate([[0], np.cumsum(lengths)])
    taken = data[np.arange(to[-1]) + np.repeat(begin - to[:-1], lengths)]
    return _unescaped(from_text_buffers(to, taken))


def _unescaped(strings: pa.Array) -> pa.Array:
    """The ampersand comes last: before, it would make entities of what was text."""
    _, data = text_buffers(strings)
    if (data == ord("&")).any():
        for character, entity in reversed(ENTITIES):
            strings = pc.replace_substring(strings, entity, character)
    return strings
