"""What is said about lastmod, changefreq and priority (P-07 to P-17, Y-02, B-04)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from sitemap_ops.reading.column import Column, distinct
from sitemap_ops.reading.record import Record
from sitemap_ops.validate import dates

CHANGEFREQ = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
_TRANSLATED = {
    "her zaman": "always", "her saat": "hourly", "saatlik": "hourly", "her gün": "daily", "günlük": "daily",
    "her hafta": "weekly", "haftalık": "weekly", "her ay": "monthly", "aylık": "monthly", "her yıl": "yearly",
    "yıllık": "yearly", "hiçbir zaman": "never", "asla": "never",
}  # fmt: skip
UNIFORM_SHARE = 0.95
UNIFORM_FROM = 100
"""Entries from which on one lastmod for (nearly) all looks like the time of the build (P-10, own threshold)."""
PRIORITY_FROM = 10
DEFAULT_PRIORITY = 0.5
MAX_VALUE_BYTES = 100


@dataclass
class Tally:
    """What is counted over a whole file: values that most entries of a batch share, so that memory stays small."""

    lastmods: Counter[str] = field(default_factory=Counter)
    priorities: Counter[float] = field(default_factory=Counter)

    def judge(self, entries: int, record: Record) -> None:
        """P-10 and P-17, at the end of a file of so many entries."""
        for value, count in self.lastmods.most_common(1):
            if count >= UNIFORM_FROM and count >= UNIFORM_SHARE * entries:
                said = f"{count:,} of {entries:,} entries have one and the same lastmod."
                record.add("lastmod-uniform", value=value, message=said)
        for number, count in self.priorities.most_common(1):
            if count == entries >= PRIORITY_FROM and number != DEFAULT_PRIORITY:
                record.add("priority-uniform", value=str(number))


def most(text: pa.Array) -> tuple[str, int] | None:
    """The value that more than half of a column have, and how many do; None where there is none."""
    which, different = distinct(text)
    if not different:
        return None
    counts = np.bincount(which)
    top = int(counts.argmax())
    return (different[top], int(counts[top])) if 2 * counts[top] > len(text) else None


def judge_lastmod(column: Column, record: Record, now: datetime, tally: Tally | None = None) -> None:
    """The lastmods of pages or of sitemaps in an index (P-07 to P-11, P-41)."""
    unclean = column.where(~column.matches(dates.CLEAN))
    good = dates.is_w3c(unclean.text)
    zone = ~good & unclean.matches(dates.ZONE_TROUBLE)
    record.add_rows("lastmod-timezone", unclean, zone)
    record.add_rows("lastmod-format", unclean, ~good & ~zone)
    record.add_rows("lastmod-xsd-incompatible", unclean, good & unclean.matches(dates.COARSE))
    record.add_rows("lastmod-before-1970", unclean, good & unclean.matches("^(?:0|1[0-8]|19[0-6])"))
    record.add_rows("lastmod-date-only", column, column.matches(r"^\d{4}(?:-\d\d(?:-\d\d)?)?$"))
    later = column.where(dates.after(column, now + dates.TOLERANCE))
    record.add_rows("lastmod-future", later, dates.is_w3c(later.text))
    _bytes(column, record)
    if tally is not None and (same := most(column.text)):
        tally.lastmods[same[0]] += same[1]


def judge_changefreq(column: Column, record: Record) -> None:
    """P-13, P-15: the message of a translated value names the English one."""
    good = column.matches(f"^(?:{'|'.join(CHANGEFREQ)})$")
    if good.all():
        return
    record.add_rows("changefreq-value", column, ~good, _translation)
    _bytes(column, record)


def _translation(value: str) -> str | None:
    word = value.strip().lower()
    english = word if word in CHANGEFREQ else _TRANSLATED.get(word)
    return f"A changefreq is {value!r}, where {english!r} was meant." if english else None


def judge_priority(column: Column, record: Record, tally: Tally | None = None) -> None:
    """P-15 to P-17. What the schema takes, yet is written oddly (`.5`, `+0.5`, `-0.0`, ` 0.5 `), is a warning."""
    odd = column.where(~column.matches(r"^(?:0\.\d|1\.0)$"))
    legal = odd.matches(r"^[ \t\r\n]*(?:\+?(?:0*\.\d+|0+\.?\d*|0*1(?:\.0*)?)|-(?:0+\.?0*|\.0+))[ \t\r\n]*$")
    comma = ~legal & odd.matches(r"^[01],\d+$")
    record.add_rows("priority-noncanonical", odd, legal & ~odd.matches(r"^(?:0(?:\.\d+)?|1(?:\.0+)?)$"))
    record.add_rows("priority-value", odd, comma, "A priority has a decimal comma; write a point.")
    record.add_rows("priority-value", odd, ~legal & ~comma)
    _bytes(odd, record)
    if tally is not None and (same := most(column.text)) and re.fullmatch(r"\s*\d*\.?\d+\s*", same[0], re.ASCII):
        tally.priorities[float(same[0])] += same[1]


def judge_never(changefreq: Column, lastmod: Column, record: Record, now: datetime) -> None:
    """P-14: a page marked `never` whose lastmod is of the last seven days."""
    never = np.zeros(max(changefreq.entry.max(initial=-1), lastmod.entry.max(initial=-1)) + 1, bool)
    never[changefreq.entry[changefreq.matches("^never$")]] = True
    if never.any():
        frozen = lastmod.where(never[lastmod.entry])
        good = dates.is_w3c(frozen.text)
        record.add_rows("changefreq-vs-lastmod", frozen, good & dates.after(frozen, now - timedelta(days=7)))


def _bytes(column: Column, record: Record) -> None:
    """Y-02: UTF-8 bytes of lastmod, changefreq and priority."""
    record.add_rows("yandex-value-over-100-bytes", column, column.lengths() > MAX_VALUE_BYTES)
