"""lastmod: what a source says about a page's last change, in one of the two forms that every reader accepts, or none.

A wrong date is worse than none (P-10), so there is no default and no guess: a value that can't mean exactly one date or
time loses its tag and is counted. Text that is right already is kept letter for letter, its offset too.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import frame
from sitemap_ops.entries import civil, forms, stamps
from sitemap_ops.entries.civil import DAY, Times
from sitemap_ops.entries.notes import DROPPED
from sitemap_ops.entries.text import MISSING, array_of, text_of, trimmed
from sitemap_ops.errors import UsageError

TOLERANCE = DAY
"""Seconds that a lastmod may lie after the run (P-11): clocks differ, and a date is 00:00 UTC."""

_CODES = (
    "lastmod-format",
    "lastmod-zero",
    "lastmod-coarse",
    "lastmod-before-1970",
    "lastmod-future",
    "lastmod-timezone",
    "lastmod-normalised",
)
_FORMAT, _ZERO, _COARSE, _BEFORE_1970, _FUTURE, _TIMEZONE, _NORMALISED = range(len(_CODES))
_SILENT = -1
_DROPS = np.array([*(code in DROPPED for code in _CODES), False])
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True)
class _Reading:
    """What a column says before it is judged: `note` (int8) is a place in `_CODES`, or -1; `exact` rows hold a text
    that can be published letter for letter."""

    texts: pa.Array
    times: Times
    note: np.ndarray
    exact: np.ndarray


def parse_lastmod(
    values: pd.Series, *, timezone: str | None, coarse_dates: Literal["drop", "keep"], as_of: datetime
) -> pd.DataFrame:
    """The lastmod of each row (P-07 to P-11, C-55 to C-63).

    :param values: text, or Arrow, pandas or Python dates and times of any kind. Text in `YYYY-MM-DD` or
        `YYYY-MM-DDThh:mm:ss` with `Z` or `±hh:mm` is kept letter for letter, other text is read by `stamps` and
        `forms.FORMS` only; a whole number is read as text is. Typed times with a zone are written in UTC, with `Z`.
        Fractions of a second are cut off.
    :param timezone: the IANA zone of times that name none (see `civil.settle` for the hours when clocks change);
        without it such a time is published as its date.
    :param coarse_dates: whether `YYYY` and `YYYY-MM`, which the published schema rejects, are dropped or kept.
    :param as_of: the run's instant, with its offset; what lies more than `TOLERANCE` after it is dropped.
    :return: the same index; lastmod (string, null for none), instant (int64, seconds since the epoch; a date is 00:00
        UTC; null for none), note (string, a code of `NOTES`, null where there is nothing to say).
    :raises UsageError: for a zone that is not in the IANA database.
    """
    if as_of.tzinfo is None:
        raise ValueError("as_of has no UTC offset")
    zone = None if timezone is None else _zone(timezone)
    array = array_of(values)
    times = _typed(array)
    reading = _read_text(text_of(array)) if times is None else _typed_reading(times)
    times, note = _settled(reading.times, zone, reading.note)
    instant = times.local - times.offset
    there = times.width != civil.NONE
    if coarse_dates == "drop":
        note[there & (times.width < civil.DATE)] = _COARSE
    note[there & (instant < 0)] = _BEFORE_1970
    note[there & (instant > int(as_of.timestamp()) + TOLERANCE)] = _FUTURE
    kept = there & ~_DROPS[note]
    columns = {
        "lastmod": _written(reading, times, kept),
        "instant": pa.array(instant, mask=~kept),
        "note": pa.array(_CODES).take(pa.array(note, mask=note == _SILENT)),
    }
    return frame(pa.table(columns)).set_axis(values.index)


def instants_of(array: pa.Array, timezone: str | None) -> pa.Array:
    """The instants (int64, seconds since the epoch; null for none) that values name, by the same forms but unguarded.

    Times that name no zone are in `timezone`, or in UTC.
    """
    times = _typed(array)
    if times is None:
        texts = trimmed(text_of(array).fill_null("")).dictionary_encode()
        times = forms.read(texts.dictionary)[0].take(texts.indices.to_numpy())
    naive = times.width == civil.NAIVE
    if timezone is not None and naive.any():
        times.put(naive, civil.settle(times.local[naive], _zone(timezone)))
    return pa.array(times.local - times.offset, mask=times.width == civil.NONE)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        near = difflib.get_close_matches(name, available_timezones(), 1)
        hint = f"did you mean {near[0]!r}?" if near else "use a name such as 'Europe/Istanbul'."
        raise UsageError(f"{name!r} is no time zone of the IANA database: {hint}") from None


def _typed(array: pa.Array) -> Times | None:
    """The times of an Arrow column of dates or timestamps; None for any other type."""
    type_ = array.type
    if pa.types.is_timestamp(type_):
        local = array.cast(pa.int64()).fill_null(0).to_numpy() // _UNITS[type_.unit]
        width = civil.NAIVE if type_.tz is None else civil.AWARE
    elif pa.types.is_date(type_):
        local = array.cast(pa.date32(), safe=False).cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64) * DAY
        width = civil.DATE
    else:
        return None
    widths = np.where(array.is_valid().to_numpy(zero_copy_only=False), width, civil.NONE).astype(np.uint8)
    return Times(widths, local, np.zeros(len(array), np.int64))


def _typed_reading(times: Times) -> _Reading:
    size = times.width.size
    return _Reading(pa.nulls(size, pa.string()), times, np.full(size, _SILENT, np.int8), np.zeros(size, bool))


def _read_text(texts: pa.Array) -> _Reading:
    """Padded dates and times by their bytes, the rest once for each different text."""
    times, exact = stamps.read(texts)
    there = times.width != civil.NONE
    note = np.where(there & ~exact, _NORMALISED, _SILENT).astype(np.int8)
    rest = np.flatnonzero(~there & (pc.binary_length(texts).fill_null(0).to_numpy() > 0))
    if rest.size:
        encoded = texts.take(pa.array(rest)).dictionary_encode()
        other = _read_other(encoded.dictionary)
        rows = encoded.indices.to_numpy()
        times.put(rest, other.times.take(rows))
        note[rest], exact[rest] = other.note[rows], other.exact[rows]
    return _Reading(texts, times, note, exact)


def _read_other(texts: pa.Array) -> _Reading:
    bare = trimmed(texts)
    times, zero, zoned = forms.read(bare)
    there = times.width != civil.NONE
    missing = pc.is_in(pc.utf8_lower(bare), pa.array(sorted(MISSING))).to_numpy(zero_copy_only=False)
    coarse = there & (times.width < civil.DATE) & (pc.binary_length(texts).to_numpy() == times.width)
    note = np.select([missing | coarse, zero, ~there, zoned], [_SILENT, _ZERO, _FORMAT, _TIMEZONE], _NORMALISED).astype(
        np.int8
    )
    return _Reading(texts, times, note, coarse)


def _settled(times: Times, zone: ZoneInfo | None, note: np.ndarray) -> tuple[Times, np.ndarray]:
    """The times with those that name no zone put into the configured one, or else cut to their date."""
    naive = times.width == civil.NAIVE
    if not naive.any():
        return times, note
    if zone is not None:
        times.put(naive, civil.settle(times.local[naive], zone))
    else:
        times.width[naive] = civil.DATE
        times.local[naive] -= times.local[naive] % DAY
        note[naive] = _TIMEZONE
    return times, note


def _written(reading: _Reading, times: Times, kept: np.ndarray) -> pa.Array:
    """The texts to publish (string, null for none)."""
    as_it_is = kept & reading.exact
    texts = reading.texts if as_it_is.all() else pc.if_else(pa.array(as_it_is), reading.texts, None)
    rewritten = kept & ~reading.exact
    if not rewritten.any():
        return texts
    return pc.replace_with_mask(texts, rewritten, civil.render(times.take(rewritten)))
