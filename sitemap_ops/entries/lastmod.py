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
from sitemap_ops.entries import civil, forms, w3c
from sitemap_ops.entries.civil import DAY, Times
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
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True)
class _Rules:
    zone: ZoneInfo | None
    keep_coarse: bool
    latest: int


@dataclass(frozen=True)
class _Judged:
    """Columns of one length: what is published (string, null for none), its instant, its note (of `_CODES`, or -1)."""

    text: pa.Array
    instant: np.ndarray
    note: np.ndarray


def parse_lastmod(
    values: pd.Series, *, timezone: str | None, coarse_dates: Literal["drop", "keep"], as_of: datetime
) -> pd.DataFrame:
    """The lastmod of each row (P-07 to P-11, C-55 to C-63).

    :param values: text, or Arrow, pandas or Python dates and times of any kind. Text in `YYYY-MM-DD` or
        `YYYY-MM-DDThh:mm:ss` with `Z` or `±hh:mm` is kept letter for letter, other text is read by `forms.FORMS` only;
        a whole number is read as text is. Typed times with a zone are written in UTC, with `Z`. Fractions of a second
        are cut off.
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
    rules = _Rules(
        None if timezone is None else _zone(timezone), coarse_dates == "keep", int(as_of.timestamp()) + TOLERANCE
    )
    array = array_of(values)
    times = _typed(array)
    judged = _judge_text(text_of(array), rules) if times is None else _judge(times, rules)
    columns = {
        "lastmod": judged.text,
        "instant": pa.array(judged.instant, mask=judged.text.is_null().to_numpy(zero_copy_only=False)),
        "note": pa.array(_CODES).take(pa.array(judged.note, mask=judged.note == _SILENT)),
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
        times = _settled(times, naive, _zone(timezone))
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


def _judge_text(array: pa.Array, rules: _Rules) -> _Judged:
    """Text: what is right already by its bytes, the rest once for each different value."""
    exact, instant = w3c.read(array)
    note = _guard(exact, instant, rules)
    kept = exact & (note == _SILENT)
    judged = _Judged(array if kept.all() else pc.if_else(pa.array(kept), array, None), instant, note)
    rest = np.flatnonzero(~exact & (pc.binary_length(array).fill_null(0).to_numpy() > 0))
    if not rest.size:
        return judged
    encoded = array.take(pa.array(rest)).dictionary_encode()
    others = _judge_other_text(encoded.dictionary, rules)
    rows = encoded.indices.to_numpy()
    instant[rest], note[rest] = others.instant[rows], others.note[rows]
    replaced = np.zeros(len(array), bool)
    replaced[rest] = True
    return _Judged(pc.replace_with_mask(judged.text, replaced, others.text.take(encoded.indices)), instant, note)


def _judge_other_text(texts: pa.Array, rules: _Rules) -> _Judged:
    bare = trimmed(texts)
    times, zero, zoned = forms.read(bare)
    judged = _judge(times, rules)
    note = judged.note
    note[(times.width == civil.NONE)] = _FORMAT
    note[zero] = _ZERO
    note[zoned & (note == _SILENT)] = _TIMEZONE
    missing = pc.is_in(pc.utf8_lower(bare), pa.array(sorted(MISSING))).to_numpy(zero_copy_only=False)
    note[missing] = _SILENT
    rewritten = pc.not_equal(judged.text, texts).fill_null(False).to_numpy(zero_copy_only=False)
    note[rewritten & (note == _SILENT)] = _NORMALISED
    return judged


def _judge(times: Times, rules: _Rules) -> _Judged:
    """What is published of times read, and what is not."""
    naive = times.width == civil.NAIVE
    if naive.any():
        times = _settled(times, naive, rules.zone)
    there = times.width != civil.NONE
    instant = times.local - times.offset
    note = _guard(there, instant, rules)
    note[naive & (note == _SILENT) & (times.width == civil.DATE)] = _TIMEZONE
    if not rules.keep_coarse:
        note[(times.width == civil.YEAR) | (times.width == civil.MONTH)] = _COARSE
    kept = there & ((note == _SILENT) | (note == _TIMEZONE))
    text = civil.render(Times(np.where(kept, times.width, civil.NONE), np.where(kept, times.local, 0), times.offset))
    return _Judged(text, instant, note)


def _settled(times: Times, naive: np.ndarray, zone: ZoneInfo | None) -> Times:
    settled = Times(times.width.copy(), times.local.copy(), times.offset.copy())
    if zone is not None:
        settled.put(naive, civil.settle(times.local[naive], zone))
    else:
        settled.width[naive] = civil.DATE
        settled.local[naive] -= settled.local[naive] % DAY
    return settled


def _guard(there: np.ndarray, instant: np.ndarray, rules: _Rules) -> np.ndarray:
    note = np.full(there.size, _SILENT, np.int8)
    note[there & (instant < 0)] = _BEFORE_1970
    note[there & (instant > rules.latest)] = _FUTURE
    return note
