"""W3C dates over columns: form, calendar, zone, and their place in time (P-07 to P-11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from sitemap_ops.reading.column import Column, distinct, matches, starts, take

_DAY = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_ZONE = r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
CLEAN = (
    rf"^(?:19[7-9]\d|2\d{{3}})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d{_ZONE})?$"
)
"""Of this form, which both readers and schemas take, are nearly all; the rest is looked at closer."""
W3C = rf"^\d{{4}}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])(?:T{_TIME}{_ZONE})?)?)?$"
COARSE = rf"^\d{{4}}(?:-\d\d)?$|T\d\d:\d\d{_ZONE}$"
ZONE_TROUBLE = rf"^{_DAY}(?:T{_TIME}(?:[+-]\d{{2}}:?\d{{0,2}})?|{_ZONE})$"
_NO_SUCH_DAY = r"^\d{4}-(?:02-3|(?:02|04|06|09|11)-31)"
_LEAP_DAY = r"^\d{4}-02-29"
TOLERANCE = timedelta(hours=24)


def is_w3c(text: pa.Array) -> np.ndarray:
    """Whether each value is one of the six forms of W3C Datetime, and a day that exists (P-08)."""
    good: np.ndarray = matches(text, W3C) & ~matches(text, _NO_SUCH_DAY)
    leap = good & matches(text, _LEAP_DAY)
    if leap.any():
        years = starts(take(text, leap.nonzero()[0]), 4).astype(np.int64)
        good[leap] = (years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))
    return good


def after(column: Column, instant: datetime) -> np.ndarray:
    """Which W3C dates lie after an instant: without a time they are 00:00 UTC; what is no W3C date is not after.

    A day's distance decides nearly all by comparing text; only those about the same day are parsed.
    """
    instant = instant.astimezone(UTC)
    day = starts(column.text, 10)
    near_start, near_end = ((instant + timedelta(days=days)).strftime("%Y-%m-%d").encode() for days in (-1, 1))
    later = day > near_end
    near = ((day >= near_start) & ~later).nonzero()[0]
    near = near[matches(take(column.text, near), W3C)]
    which, values = distinct(take(column.text, near))
    parsed = [parse(value) for value in values]
    later[near] = np.array([moment is not None and moment > instant for moment in parsed], bool)[which]
    return later


def parse(value: str) -> datetime | None:
    """The instant of a W3C date; None where it is none. Fractions beyond microseconds are cut."""
    import re

    text = re.sub(r"(\.\d{6})\d+", r"\1", value)
    if re.fullmatch(r"\d{4}", text):
        text += "-01-01"
    elif re.fullmatch(r"\d{4}-\d\d", text):
        text += "-01"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
