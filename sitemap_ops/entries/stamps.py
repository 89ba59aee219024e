"""Padded dates and times, read where they lie: on the bytes of the column.

`YYYY-MM-DD`, and `YYYY-MM-DDThh:mm:ss` (or a blank for the `T`) with a tail of fraction and zone: what databases and
programs write, so nearly all rows of an inventory, and the path that has to be fast. Rows of one shape make a matrix of
bytes, one line a position, and each check compares whole lines; tails are judged once for each different one.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import text_buffers
from sitemap_ops.entries.civil import AWARE, DATE, DAY, MAX_OFFSET, NAIVE, NONE, Times, days
from sitemap_ops.entries.text import holds

_DATE = np.frombuffer(b"0000-00-00", np.uint8)
_CLOCK = np.frombuffer(b"00:00:00", np.uint8)
_SEPARATORS = np.frombuffer(b"Tt ", np.uint8)
_TAIL = _DATE.size + 1 + _CLOCK.size
_EXACT_ZONE = re.compile(rb"Z|[+-][0-9]{2}:[0-9]{2}")
_ZONE = re.compile(rb" *(?:(?P<sign>[+-])(?P<hours>[0-9]{2})(?::?(?P<minutes>[0-9]{2}))?|[Zz]|(?i:UTC|GMT|UT)|) *")


def read(array: pa.Array) -> tuple[Times, np.ndarray]:
    """What a string array's rows say, and which are exactly in one of the two forms to publish (bool; P-08, P-09).

    :return: times with width 0 for rows of another shape, or of this one that name no real time.
    """
    offsets, data = text_buffers(array)
    lengths = np.diff(offsets)
    rows = np.flatnonzero((lengths == _DATE.size) | (lengths >= _TAIL))
    starts, alone = offsets[rows], lengths[rows] == _DATE.size
    day, real = _days(data, starts)
    exact = real & alone
    found = Times(np.where(exact, np.uint8(DATE), np.uint8(NONE)), day * DAY, np.zeros(rows.size, np.int64))

    timed = np.flatnonzero(real & ~alone)
    starts = starts[timed] + _DATE.size
    second, possible = _seconds(data, starts + 1)
    separators = data[starts]
    width, offset, exact_zone = _zones(array.take(pa.array(rows[timed])))
    found.width[timed] = np.where(possible & np.isin(separators, _SEPARATORS), width, np.uint8(NONE))
    found.local[timed] += second
    found.offset[timed] = offset
    exact[timed] = possible & exact_zone & (separators == ord("T"))
    return _spread(found, exact, rows, len(array))


def zone_of(text: bytes) -> tuple[int, int]:
    """(AWARE, seconds east of UTC) of a zone as programs write it, (NAIVE, 0) of blanks, (NONE, 0) of anything else."""
    match = _ZONE.fullmatch(text)
    if match is None:
        return NONE, 0
    if match["sign"] is None:
        return (AWARE if text.strip() else NAIVE), 0
    minutes = int(match["minutes"] or 0)
    offset = int(match["hours"]) * 3_600 + minutes * 60
    if minutes >= 60 or offset > MAX_OFFSET:
        return NONE, 0
    return AWARE, -offset if match["sign"] == b"-" else offset


def _spread(found: Times, exact: np.ndarray, rows: np.ndarray, size: int) -> tuple[Times, np.ndarray]:
    if rows.size == size:
        return found, exact
    times, all_exact = Times.none(size), np.zeros(size, bool)
    times.put(rows, found)
    all_exact[rows] = exact
    return times, all_exact


def _days(data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days since the epoch of the dates that begin at `starts`, and which of them are dates."""
    digits, shaped = _digits(data, starts, _DATE)
    day, real = days(_pair(digits, 0) * np.int16(100) + _pair(digits, 2), _pair(digits, 5), _pair(digits, 8))
    return day, shaped & real


def _seconds(data: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Seconds since midnight of the times of day that begin at `starts`, and which of them are times of day."""
    digits, shaped = _digits(data, starts, _CLOCK)
    hour, minute, second = _pair(digits, 0), _pair(digits, 3), _pair(digits, 6)
    good = shaped & (hour < 24) & (minute < 60) & (second < 60)
    return hour.astype(np.int32) * 3_600 + minute * np.int16(60) + second, good


def _digits(data: np.ndarray, starts: np.ndarray, template: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bytes at `starts` less those of the template, as a matrix (positions, rows): digits where it has a 0; and
    which rows have its shape."""
    if not starts.size:
        return np.zeros((template.size, 0), np.int16), np.zeros(0, bool)
    windows = np.ndarray(shape=data.size - template.size + 1, dtype=f"V{template.size}", buffer=data, strides=1)
    lines = np.ascontiguousarray(windows[starts].view(np.uint8).reshape(-1, template.size).T)
    lines -= template[:, None]
    spans = np.where(template == ord("0"), 9, 0).astype(np.uint8)
    return lines.astype(np.int16), np.all(lines <= spans[:, None], axis=0)


def _pair(digits: np.ndarray, position: int) -> np.ndarray:
    return np.asarray(digits[position] * np.int16(10) + digits[position + 1])


def _zones(texts: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of texts that begin with a padded time: width, offset, and whether the tail is exactly `Z` or `±hh:mm`."""
    tails = pc.binary_replace_slice(texts.cast(pa.binary()), 0, _TAIL, b"")
    has_fraction = np.zeros(len(tails), bool)
    if holds(tails, ".") or holds(tails, ","):
        whole = pc.replace_substring_regex(tails, "^[.,][0-9]+", "")
        has_fraction = np.asarray(pc.not_equal(whole, tails))
        tails = whole
    encoded = tails.dictionary_encode()
    zones = encoded.dictionary.to_pylist()
    judged = np.array([(*zone_of(zone), _EXACT_ZONE.fullmatch(zone) is not None) for zone in zones], np.int64)
    width, offset, exact = judged.reshape(-1, 3)[encoded.indices.to_numpy()].T
    return width.astype(np.uint8), offset, (exact == 1) & ~has_fraction
