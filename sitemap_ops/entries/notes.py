"""What can be said about an entry's optional values: stable codes, the rule book's where it has one.

A note never rejects a row: at worst it costs the row one tag (`DROPPED`). The report counts rows by these codes.
"""

from __future__ import annotations

NOTES: dict[str, str] = {
    "lastmod-format": "not a date or time that can mean only one thing (P-07, P-08)",
    "lastmod-zero": "a zero date, such as 0000-00-00, which databases write for none",
    "lastmod-coarse": "a year or a month, which the published schema rejects (P-08)",
    "lastmod-before-1970": "before 1970-01-01, which Google calls invalid (C-61)",
    "lastmod-future": "later than the run by more than a day, which can't be true (P-11)",
    "lastmod-timezone": "a time without a zone, or a zone without a time: published as the date alone (P-09)",
    "lastmod-normalised": "rewritten in one of the two forms that every reader accepts (P-08)",
    "changefreq-value": "none of the seven values (P-13)",
    "changefreq-translated": "a translation, such as 'her ay', put back into English (P-15)",
    "changefreq-normalised": "one of the seven in other letters or with blanks: rewritten (P-13)",
    "priority-value": "not a number from 0.0 to 1.0 (P-16)",
    "priority-comma": "a decimal comma, which can only mean the point (P-15)",
    "priority-noncanonical": "rewritten with one decimal (P-16)",
}
"""Code -> its meaning in one line."""

DROPPED: frozenset[str] = frozenset(
    {
        "lastmod-format",
        "lastmod-zero",
        "lastmod-coarse",
        "lastmod-before-1970",
        "lastmod-future",
        "changefreq-value",
        "priority-value",
    }
)
"""The codes that say: this row has no such tag. With all others the tag is there."""
