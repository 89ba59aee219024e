"""What is said about lastmod, changefreq and priority (P-07 to P-17, Y-02, B-04)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.validate import dates
from sitemap_ops.validate.column import Column, mask
from sitemap_ops.validate.findings import Record

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
MAX_VALUE_BYTES = 100


@dataclass
class Tally:
    """What is counted over a whole file: how often each lastmod and priority occurs."""

    lastmods: Counter[str] = field(default_factory=Counter)
    priorities: Counter[str] = field(default_factory=Counter)

    def judge(self, entries: int, record: Record) -> None:
        """P-10 and P-17, at the end of a file of so many entries."""
        if self.lastmods:
            value, count = self.lastmods.most_common(1)[0]
            if count >= UNIFORM_FROM and count >= UNIFORM_SHARE * entries:
                record.add(
                    "lastmod-uniform",
                    value=value,
                    message=f"{count:,} of {entries:,} entries have one and the same lastmod.",
                )
        if len(self.priorities) == 1:
            ((value, count),) = self.priorities.items()
            if count == entries >= PRIORITY_FROM and value != "0.5":
                record.add("priority-uniform", value=value)


def judge_lastmod(column: Column, record: Record, now: datetime, tally: Tally | None = None) -> None:
    """The lastmods of pages or of sitemaps in an index (P-07 to P-11, P-41)."""
    text = column.text
    good = dates.is_w3c(text)
    zone = ~good & column.matches(dates.ZONE_TROUBLE)
    record.add_rows("lastmod-timezone", column, zone)
    record.add_rows("lastmod-format", column, ~good & ~zone)
    record.add_rows("lastmod-xsd-incompatible", column, good & column.matches(dates.COARSE))
    record.add_rows("lastmod-date-only", column, good & ~column.matches("T"))
    record.add_rows("lastmod-before-1970", column, good & mask(pc.less(pc.utf8_slice_codeunits(text, 0, 4), "1970")))
    record.add_rows("lastmod-future", column, good & dates.after(column, now + dates.TOLERANCE))
    _bytes(column, record)
    if tally is not None:
        for pair in pc.value_counts(text).to_pylist():
            tally.lastmods[pair["values"]] += pair["counts"]


def judge_changefreq(column: Column, record: Record) -> None:
    """P-13, P-15: the message of a translated value names the English one."""
    good = mask(pc.is_in(column.text, pa.array(CHANGEFREQ)))
    if good.all():
        return
    record.add_rows("changefreq-value", column, ~good, _translation)
    _bytes(column, record)


def _translation(value: str) -> str | None:
    word = value.strip().lower()
    english = word if word in CHANGEFREQ else _TRANSLATED.get(word)
    return f"A changefreq is {value!r}, where {english!r} was meant." if english else None


def judge_priority(column: Column, record: Record, tally: Tally | None = None) -> None:
    """P-15 to P-17. What the schema takes, yet is written oddly (`.5`, `+0.5`, `-0.0`, `1`, ` 0.5 `), is a warning."""
    text = column.text
    canonical = column.matches(r"^(?:0\.\d|1\.0)$")
    good = canonical
    if not canonical.all():
        legal = column.matches(r"^[ \t\r\n]*(?:\+?(?:0*\.\d+|0+\.?\d*|0*1(?:\.0*)?)|-(?:0+\.?0*|\.0+))[ \t\r\n]*$")
        record.add_rows("priority-noncanonical", column, legal & ~column.matches(r"^(?:0(?:\.\d+)?|1(?:\.0+)?)$"))
        comma = ~legal & column.matches(r"^[01],\d+$")
        record.add_rows("priority-value", column, comma, "A priority has a decimal comma; write a point.")
        record.add_rows("priority-value", column, ~legal & ~comma)
        good = legal
        _bytes(column, record)
    if tally is not None and len(tally.priorities) < 100:
        for pair in pc.value_counts(text.filter(pa.array(good))).to_pylist():
            tally.priorities[_number(pair["values"])] += pair["counts"]


def _number(value: str) -> str:
    return f"{float(value):g}"


def judge_never(changefreq: Column, lastmod: Column, record: Record, now: datetime) -> None:
    """P-14: a page marked `never` whose lastmod is of the last seven days."""
    never = np.zeros(max(changefreq.entry.max(initial=-1), lastmod.entry.max(initial=-1)) + 1, bool)
    never[changefreq.entry[mask(pc.equal(changefreq.text, "never"))]] = True
    if never.any():
        frozen = lastmod.where(never[lastmod.entry])
        good = dates.is_w3c(frozen.text)
        record.add_rows("changefreq-vs-lastmod", frozen, good & dates.after(frozen, now - timedelta(days=7)))


def _bytes(column: Column, record: Record) -> None:
    """Y-02: UTF-8 bytes of lastmod, changefreq and priority."""
    long = pc.greater(pc.binary_length(column.text), MAX_VALUE_BYTES)
    record.add_rows("yandex-value-over-100-bytes", column, mask(long))
