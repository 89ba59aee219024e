"""The codes a row can come back with: why it was refused, or what was done to it and what is odd about it.

They are the rule book's codes (`rules.md`, section 12) where it has one. Both tuples are append-only: a bit of the
`changes` column and a count in an old report keep their meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

REASONS = (
    "loc-missing",
    "url-surrogate",
    "url-inner-newline",
    "url-control-char",
    "url-replacement-char",
    "url-scheme",
    "url-no-host",
    "url-backslash",
    "loc-not-absolute",
    "url-userinfo",
    "url-port",
    "host-idna",
    "host-label-length",
    "host-ip-odd",
    "host-private",
    "foreign-host",
    "foreign-scheme",
    "foreign-port",
    "url-charset",
    "loc-too-long",
    "excluded",
    "robots-disallowed",
)
"""Why a row has no `loc`, in the order of precedence: where several apply, the first is given.

Faults of the characters come first (they make anything read from the value doubtful), then of the structure, then of
the host, then what only the whole encoded URL shows, then what the site file asks for.
"""

CHANGES = (
    "url-trimmed",
    "loc-resolved",
    "loc-looks-like-host",
    "url-fragment-removed",
    "not-normalised",
    "loc-not-encoded",
    "url-char-encoded",
    "stray-percent",
    "dot-segments",
    "trailing-slash",
    "tracking-param-removed",
    "host-percent",
    "host-dotted-i",
    "host-underscore",
    "host-trailing-dot",
    "host-ip",
    "percent-control",
    "percent-not-utf8",
    "double-encoded",
    "empty-query",
    "session-id",
    "url-in-path",
    "double-entity-escape",
)
"""What bit i of `changes` says. See NOTES for those that rewrite nothing."""

NOTES = frozenset(
    {
        "loc-looks-like-host",
        "host-dotted-i",
        "host-underscore",
        "host-trailing-dot",
        "host-ip",
        "percent-control",
        "percent-not-utf8",
        "double-encoded",
        "empty-query",
        "session-id",
        "url-in-path",
        "double-entity-escape",
    }
)
"""The changes that only report: the loc is as it would be without them."""

BIT = {code: 1 << i for i, code in enumerate(CHANGES)}
REASON = {code: i + 1 for i, code in enumerate(REASONS)}
"""The number of a reason inside this package; 0 is none."""


def change_codes(bits: int) -> list[str]:
    """The codes of one row's `changes`, in the order of CHANGES."""
    return [code for code, bit in BIT.items() if bits & bit]


def count_changes(changes: pd.Series) -> dict[str, int]:
    """How many rows have each code (those with none are left out), from a `changes` column."""
    import numpy as np

    values, counts = np.unique(changes.to_numpy("uint32", na_value=0), return_counts=True)
    totals = {code: int(counts[(values & bit) != 0].sum()) for code, bit in BIT.items()}
    return {code: count for code, count in totals.items() if count}
