"""Rows that are no pages to be listed, by what the inventory itself says of them (C-95). No page is ever fetched."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, column
from sitemap_ops.entries.lastmod import instants_of
from sitemap_ops.entries.text import array_of, text_of, trimmed

FILTERS: dict[str, str] = {
    "http-status": "the status column says other than 200 (C-95)",
    "noindex": "the robots column says noindex or none (C-95)",
    "unpublished": "the published column says no, or a time after the run (C-95)",
    "non-canonical": "the canonical column names another URL (G-03, C-95)",
}
"""Reason code -> its meaning in one line."""

_OK = r"^200(?:\.0+)?(?:\s|$)"
_NOINDEX = r"\bnoindex\b|(?:^|[,;:\s])none(?:$|[,;\s])"
_PREVIEW_NONE = r"max-image-preview\s*:\s*none"
_YES = ("true", "t", "yes", "y", "on", "1", "1.0", "published")


def filtered(
    rows: pd.DataFrame,
    *,
    as_of: datetime,
    status: str | None = None,
    robots: str | None = None,
    published: str | None = None,
    timezone: str | None = None,
) -> pd.Series:
    """Why a row is not to be listed: the first reason of `FILTERS` that holds, null for a row that is.

    A blank or null says nothing, and the row stays. `non-canonical` needs canonical URLs: see `non_canonical`.

    :param status: name of the column of HTTP status codes (numbers, or text such as `200 OK`): all but 200 are out.
    :param robots: name of the column of robots directives: `noindex` and `none` are out, `bot: noindex` too.
    :param published: name of the column of booleans, of words (true, yes, on, 1, published), or of dates and times,
        read as `parse_lastmod` does with `timezone` (naive times in UTC without it): all that is not a yes, or lies
        after `as_of`, is out.
    :return: the same index; string.
    """
    reasons = pa.nulls(len(rows), pa.string())
    for name, reason, is_out in (
        (status, "http-status", _bad_status),
        (robots, "noindex", _no_index),
        (published, "unpublished", lambda array: _unpublished(array, as_of, timezone)),
    ):
        if name is not None:
            reason_or_null = pc.if_else(
                is_out(array_of(rows[name])).fill_null(False), reason, pa.scalar(None, pa.string())
            )
            reasons = pc.coalesce(reasons, reason_or_null)
    return pd.Series(column(reasons).array, index=rows.index)


def non_canonical(locs: pd.Series, stated: pd.Series, canonicals: pd.Series) -> pd.Series:
    """`non-canonical` where a row states a canonical URL that is not its own, else null.

    :param locs: the rows' URLs after the URL policy. :param stated: the canonical column as it came; blank or null says
        nothing. :param canonicals: the same after the URL policy, null where it was refused: a page elsewhere.
    :return: the same index; string.
    """
    says = pc.not_equal(trimmed(text_of(array_of(stated))), "").fill_null(False)
    same = pc.equal(arrow(locs), arrow(canonicals)).fill_null(False)
    reasons = pc.if_else(pc.and_not(says, same), "non-canonical", pa.scalar(None, pa.string()))
    return pd.Series(column(reasons).array, index=locs.index)


def _said(array: pa.Array) -> pa.Array:
    """The trimmed lower-case texts, null where there is nothing."""
    texts = pc.utf8_lower(trimmed(text_of(array)))
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _bad_status(array: pa.Array) -> pa.Array:
    return pc.invert(pc.match_substring_regex(_said(array), _OK))


def _no_index(array: pa.Array) -> pa.Array:
    return pc.match_substring_regex(pc.replace_substring_regex(_said(array), _PREVIEW_NONE, ""), _NOINDEX)


def _unpublished(array: pa.Array, as_of: datetime, timezone: str | None) -> pa.Array:
    said = _said(array)
    since = pc.less_equal(instants_of(array, timezone), int(as_of.timestamp()))
    is_out = pc.invert(pc.coalesce(since, pc.is_in(said, pa.array(_YES))))
    return pc.if_else(pc.is_valid(said), is_out, False)
