"""The two forms of W3C Datetime that every reader accepts, checked where they lie: on the bytes of the column.

`YYYY-MM-DD` and `YYYY-MM-DDThh:mm:ss` with `Z` or `±hh:mm` (P-08, P-09). Nine rows in ten of a healthy inventory are
already in one of them and are kept letter for letter, so this is the path that has to be fast: rows of one length make
a matrix of bytes, one line a position, and each check is a comparison of whole lines.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sitemap_ops.columns import text_buffers
from sitemap_ops.entries.civil import DAY, MAX_OFFSET, days

_TEMPLATES = tuple(
    np.frombuffer(text, np.uint8) for text in (b"0000-00-00", b"0000-00-00T00:00:00Z", b"0000-00-00T00:00:00+00:00")
)
_SIGN = 19


def read(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of a string array hold one of the two forms (bool), and the instants (int64, seconds since the epoch).

    A date is 00:00 UTC. The instants of other rows mean nothing. Implements P-08 with its calendar check.
    """
    offsets, data = text_buffers(array)
    lengths = np.diff(offsets)
    good, instants = np.zeros(len(array), bool), np.zeros(len(array), np.int64)
    for template in _TEMPLATES:
        rows = np.flatnonzero(lengths == template.size)
        if rows.size:
            good[rows], instants[rows] = _judge(_lines(data, offsets[rows], template.size), template)
    return good, instants


def _lines(data: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    """The bytes of texts of one width, as a matrix (width, rows)."""
    windows = np.ndarray(shape=data.size - width + 1, dtype=f"V{width}", buffer=data, strides=1)
    lines: np.ndarray = windows[starts].view(np.uint8).reshape(-1, width)
    return np.ascontiguousarray(lines.T)


def _judge(lines: np.ndarray, template: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    west: np.ndarray | None = None
    if len(lines) > _SIGN + 1:
        west = lines[_SIGN] == ord("-")
        lines[_SIGN][west] = ord("+")
    spans = np.where(template == ord("0"), 9, 0).astype(np.uint8)
    lines -= template[:, None]
    good = (lines <= spans[:, None]).all(axis=0)

    numbers = lines.astype(np.int16)

    def number(position: int) -> np.ndarray:
        return np.asarray(numbers[position] * np.int16(10) + numbers[position + 1])

    day, real = days(number(0) * np.int16(100) + number(2), number(5), number(8))
    good &= real
    instants = day * DAY
    if len(lines) > _SIGN:
        hour, minute, second = number(11), number(14), number(17)
        good &= (hour < 24) & (minute < 60) & (second < 60)
        instants += hour.astype(np.int32) * 3_600 + minute.astype(np.int32) * 60 + second
    if west is not None:
        minutes = number(23)
        offset = number(20).astype(np.int32) * 3_600 + minutes.astype(np.int32) * 60
        good &= (minutes < 60) & (offset <= MAX_OFFSET)
        instants -= np.where(west, -offset, offset)
    return good, instants
