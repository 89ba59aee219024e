"""Dates and times in other forms than `stamps` reads: with it, the whole list of what is read, and nothing else is.

A form is on the list only where it can mean one thing. A year of four digits comes first, so `07.03.2024`, `03/07/2024`
and `24-03-07` are not on it, nor are times with AM or PM, named zones (`EST`), hour 24, second 60, or the hour's comma.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.entries.civil import AWARE, DATE, DAY, MONTH, NAIVE, NONE, YEAR, Times, days
from sitemap_ops.entries.stamps import zone_of

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?(?P<zone>[^.,]*)"
_REST = rf"(?:(?:[Tt]| +){_CLOCK}|(?P<date_zone>Z|[+-]\d\d:\d\d))?"

FORMS: tuple[str, ...] = (
    # 2024-03-07, 2024-3-7, 2024-03-07 12:00, 2024-03-07t12:00:00.123456+0300, 2024-03-07 12:00:00 UTC, 2024-03-07Z
    rf"(?P<year>\d{{4}})-(?P<month>\d\d?)-(?P<day>\d\d?){_REST}",
    # 2024/03/07 12:00:00
    rf"(?P<year>\d{{4}})/(?P<month>\d\d?)/(?P<day>\d\d?){_REST}",
    # 2024, 2024-03
    r"(?P<year>\d{4})(?:-(?P<month>\d\d))?",
    # ISO 8601's basic format: 20240307, 20240307T120000Z, 20240307120000
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
    r"(?:[Tt ]?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?:[.,]\d+)?(?P<zone>[^.,]*))?",
    # seconds (10 digits) or milliseconds (13) since the epoch: other readings of these lie before the Web or after 9999
    r"(?P<epoch>\d{10})(?:\d{3})?(?:\.\d+)?",
    # RFC 5322 and HTTP: Thu, 07 Mar 2024 12:00:00 GMT
    rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(?P<day>\d\d?) (?P<name>{'|'.join(_MONTHS)}) (?P<year>\d{{4}}) "
    rf"{_CLOCK}",
)
"""Regular expressions (RE2), tried in this order on the trimmed text; fractions of a second are read over."""


def read(texts: pa.Array) -> tuple[Times, np.ndarray, np.ndarray]:
    """What trimmed texts say: the times (width 0 where no form fits, or fits but names no real time),
    which are zero dates (bool), and which are dates that named a zone (bool; the zone is not in `times`)."""
    times = Times.none(len(texts))
    zero, zoned = np.zeros(len(texts), bool), np.zeros(len(texts), bool)
    left = np.arange(len(texts))
    for form in FORMS:
        groups = pc.extract_regex(texts.take(left), f"^(?:{form})$")
        hit = _numpy(groups.is_valid())
        if hit.any():
            found = _Groups(groups.filter(hit))
            rows = left[hit]
            times.put(rows, found.times())
            zero[rows], zoned[rows] = found.zero(), found.filled("date_zone")
            left = left[~hit]
        if not left.size:
            break
    return times, zero, zoned


class _Groups:
    """The named groups of one form, as columns: of zeros where the form, or the text, has no such part."""

    def __init__(self, groups: pa.StructArray) -> None:
        self.size = len(groups)
        self.columns = {field.name: groups.field(field.name) for field in groups.type}

    def filled(self, name: str) -> np.ndarray:
        if name not in self.columns:
            return np.zeros(self.size, bool)
        return _numpy(pc.not_equal(self.columns[name], ""))

    def number(self, name: str) -> np.ndarray:
        if name not in self.columns:
            return np.zeros(self.size, np.int64)
        texts = self.columns[name]
        return _numpy(pc.if_else(pc.equal(texts, ""), "0", texts).cast(pa.int64()))

    def zones(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Width (as `zone_of` has it) and seconds east of UTC."""
        if name not in self.columns:
            return np.full(self.size, NAIVE), np.zeros(self.size, np.int64)
        encoded = self.columns[name].dictionary_encode()
        zones = np.array([zone_of(zone.encode()) for zone in encoded.dictionary.to_pylist()], np.int64)
        width, offset = zones.reshape(-1, 2)[encoded.indices.to_numpy()].T
        return width, offset

    def month(self) -> np.ndarray:
        if "name" not in self.columns:
            return self.number("month")
        return _numpy(pc.index_in(self.columns["name"], pa.array(_MONTHS))) + 1

    def zero(self) -> np.ndarray:
        if "day" not in self.columns:
            return np.zeros(self.size, bool)
        return np.asarray((self.number("year") == 0) & (self.month() == 0) & (self.number("day") == 0))

    def times(self) -> Times:
        if "epoch" in self.columns:
            return Times(np.full(self.size, AWARE, np.uint8), self.number("epoch"), np.zeros(self.size, np.int64))
        has_month, has_day = self.filled("month") | self.filled("name"), self.filled("day")
        day, real = days(
            self.number("year"), np.where(has_month, self.month(), 1), np.where(has_day, self.number("day"), 1)
        )
        hour, minute, second = (self.number(name) for name in ("hour", "minute", "second"))
        time_width, offset = self.zones("zone")
        real &= (hour < 24) & (minute < 60) & (second < 60) & (self.zones("date_zone")[0] != NONE)
        width = np.select([self.filled("hour"), has_day, has_month], [time_width, DATE, MONTH], YEAR)
        local = day * DAY + hour * 3_600 + minute * 60 + second
        return Times(np.where(real, width, NONE).astype(np.uint8), local, offset)


def _numpy(array: pa.Array) -> np.ndarray:
    return np.asarray(array.to_numpy(zero_copy_only=False))
