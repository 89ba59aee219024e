"""Calendar arithmetic on whole columns, and the two written forms of a date and a time.

Proleptic Gregorian calendar, years 0000 to 9999; a "local" second counts from 1970-01-01T00:00 on the clock of its own
offset, so that instant = local - offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from sitemap_ops.columns import from_text_buffers

DAY = 86_400
MAX_OFFSET = 14 * 3_600
"""XML Schema's limit of a zone offset, in seconds."""

NONE, YEAR, MONTH, DATE, NAIVE, AWARE = 0, 4, 7, 10, 19, 20
"""How much a value says, as the width of its text; an AWARE one with an offset other than 0 is 25 characters wide."""

_MONTH_STARTS = np.arange("0000-01", "10000-02", dtype="M8[M]").astype("M8[D]").astype(np.int32)
_FIRST, _LAST = date(1969, 12, 30).toordinal(), date(2100, 1, 1).toordinal()
_EPOCH = date(1970, 1, 1).toordinal()

_PAIRS = np.frombuffer(b"".join(b"%02d" % number for number in range(100)), "u2")
_LAYOUT = np.dtype(
    {
        "names": [
            *("century", "year", "month", "day", "hour", "minute", "second"),
            *("zone", "hours_east", "minutes_east"),
        ],
        "offsets": [0, 2, 5, 8, 11, 14, 17, 19, 20, 23],
        "formats": ["u2"] * 7 + ["u1"] + ["u2"] * 2,
        "itemsize": 25,
    }
)
_TEMPLATE = np.frombuffer(b"0000-00-00T00:00:00+00:00", np.uint8)


@dataclass(frozen=True)
class Times:
    """Columns of one length: `width` (uint8, see above), `local` and `offset` (int64 seconds; east is positive)."""

    width: np.ndarray
    local: np.ndarray
    offset: np.ndarray

    @classmethod
    def none(cls, size: int) -> Times:
        return cls(np.zeros(size, np.uint8), np.zeros(size, np.int64), np.zeros(size, np.int64))

    def take(self, rows: np.ndarray) -> Times:
        return Times(self.width[rows], self.local[rows], self.offset[rows])

    def put(self, rows: np.ndarray, other: Times) -> None:
        self.width[rows], self.local[rows], self.offset[rows] = other.width, other.local, other.offset


def days(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Days since 1970-01-01 (int64), and whether each is a real date (else the day means nothing)."""
    real = (month >= 1) & (month <= 12) & (year >= 0) & (year <= 9999)
    index = np.where(real, year.astype(np.int32) * 12 + month - 1, 0)
    start = _MONTH_STARTS[index]
    real &= (day >= 1) & (day <= _MONTH_STARTS[index + 1] - start)
    return start.astype(np.int64) + day - 1, real


def settle(local: np.ndarray, zone: ZoneInfo) -> Times:
    """Readings of a zone's wall clock as times with that zone's offset.

    Where the clock was put back, a reading that came twice is the first of the two. Where it was put forward, a reading
    that never came is the instant it would have been by the clock before: a skipped 02:30 becomes 03:30. Offsets of odd
    seconds (none after 1972) can't be written: those times are in UTC. Good for 1970 to 2099.
    """
    midnights = _midnights(zone)
    day = np.clip(local // DAY + (_EPOCH - _FIRST), 0, midnights.size - 2)
    times = Times(np.full(local.size, AWARE, np.uint8), local.copy(), midnights[day])
    changing = np.flatnonzero(midnights[day + 1] != times.offset)
    if changing.size:
        readings, row_reading = np.unique(local[changing], return_inverse=True)
        settled = np.array([_wall(int(second), zone) for second in readings], np.int64)
        times.local[changing], times.offset[changing] = settled[row_reading].T
    odd = times.offset % 60 != 0
    times.local[odd] -= times.offset[odd]
    times.offset[odd] = 0
    return times


@lru_cache(maxsize=32)
def _midnights(zone: ZoneInfo) -> np.ndarray:
    """The zone's offset (int64 seconds) at each local midnight from _FIRST to _LAST: a day between two equal ones has
    no change of clocks."""
    moments = (datetime.fromordinal(day).replace(tzinfo=zone) for day in range(_FIRST, _LAST + 1))
    offsets = (moment.utcoffset() for moment in moments)
    return np.fromiter((offset.days * DAY + offset.seconds for offset in offsets if offset is not None), np.int64)


def _wall(local: int, zone: ZoneInfo) -> tuple[int, int]:
    """(local, offset) in seconds of a reading of a zone's wall clock."""
    reading = datetime.fromtimestamp(local, UTC).replace(tzinfo=zone)
    moment = reading.astimezone(UTC).astimezone(zone)
    offset = moment.utcoffset()
    assert offset is not None
    return int(moment.replace(tzinfo=UTC).timestamp()), int(offset.total_seconds())


def render(times: Times) -> pa.Array:
    """The text of times (a string array): as many characters as the width says; an offset of 0 is written `Z`.

    NAIVE times have to be settled before; locals lie in the years 0000 to 9999.
    """
    day = times.local // DAY
    second = (times.local - day * DAY).astype(np.int32)
    month = day.astype("M8[D]").astype("M8[M]")
    months = month.astype(np.int64).astype(np.int32) + 1970 * 12
    year = months // 12
    east = np.abs(times.offset).astype(np.int32)
    characters = np.tile(_TEMPLATE, (times.local.size, 1))
    cells = characters.view(_LAYOUT)[:, 0]
    for name, number in (
        ("century", year // 100),
        ("year", year % 100),
        ("month", months - year * 12 + 1),
        ("day", day - month.astype("M8[D]").astype(np.int64) + 1),
        ("hour", second // 3_600),
        ("minute", second // 60 % 60),
        ("second", second % 60),
        ("hours_east", east // 3_600),
        ("minutes_east", east // 60 % 60),
    ):
        cells[name] = _PAIRS[number]
    cells["zone"] = np.array([ord("-"), ord("Z"), ord("+")], np.uint8)[np.sign(times.offset) + 1]
    width = np.where((times.width == AWARE) & (times.offset != 0), _TEMPLATE.size, times.width).astype(np.int64)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(width)])
    return from_text_buffers(ends, characters[np.arange(_TEMPLATE.size) < width[:, None]])
