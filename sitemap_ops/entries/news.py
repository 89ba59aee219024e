"""The news extension (G-40 to G-47, C-77): `<news:news>` for articles of the last two days."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, frame
from sitemap_ops.entries.extension import Extension, Notes, by_row, element, joined
from sitemap_ops.entries.lastmod import parse_lastmod
from sitemap_ops.entries.notes import DROPPED
from sitemap_ops.entries.prose import clean_texts
from sitemap_ops.entries.shapes import is_blank, numpy
from sitemap_ops.entries.text import PADDING, array_of, by_value, text_of, trimmed
from sitemap_ops.tags import news_column, news_language

MAX_AGE = timedelta(hours=48)
"""From the publication to the run's instant (G-41)."""

_PARENTHESES = re.compile(rf"[{PADDING}]*\([^()]*\)[{PADDING}]*$")


def parse_news(rows: pd.DataFrame, spec: Mapping[str, str], *, timezone: str | None, as_of: datetime) -> Extension:
    """The news block of each row that is news: its instant of publication is at most MAX_AGE before `as_of`.

    Older rows have none, like rows without title and time; neither is a fault. One that lacks only one of the four, or
    whose time lies after the run by more than a day, has none and is counted.

    :param spec: `title`, `published`: names of columns; `name`, `language`: the publication's own, or `{column}`.
    :param timezone: the zone of times that name none, as for `parse_lastmod`: without it such a time counts as its
        date, which is 00:00 UTC.
    :param as_of: the run's instant, with its offset.
    :return: column news.
    :raises KeyError: for a column that isn't there.
    """
    notes = Notes("news", len(rows))
    published = parse_lastmod(rows[spec["published"]], timezone=timezone, coarse_dates="drop", as_of=as_of)
    titles = text_of(array_of(rows[spec["title"]]))
    titled, dated = ~is_blank(trimmed(titles)), published["lastmod"].notna().to_numpy()
    wrong = published["note"].isin(DROPPED).to_numpy(bool)
    recent = published["instant"].ge(math.ceil((as_of - MAX_AGE).timestamp())).fillna(False).to_numpy(bool)
    notes.add("date", np.flatnonzero(wrong))
    notes.add("missing-tag", np.flatnonzero(~wrong & (titled != dated)))
    notes.add("too-old", np.flatnonzero(titled & dated & ~recent))
    row = np.flatnonzero(titled & recent)
    notes.add("date-only", row[published["note"].iloc[row].eq("lastmod-timezone").fillna(False).to_numpy(bool)])
    dates = arrow(published["lastmod"].iloc[row])
    blocks = _blocks(rows.iloc[row], spec, titles.take(pa.array(row)), dates, row, notes)
    there = numpy(blocks.is_valid())
    made = by_row(blocks.filter(pa.array(there)), row[there], len(rows))
    return Extension(frame(pa.table({"news": made})).set_axis(rows.index), notes.found())


def _blocks(
    articles: pd.DataFrame, spec: Mapping[str, str], titles: pa.Array, dates: pa.Array, row: np.ndarray, notes: Notes
) -> pa.Array:
    """The blocks of articles in the rows `row`, null for one that lacks something."""
    names = by_value(clean_texts(_said(articles, spec["name"]), row, notes), _without_parentheses)
    languages = by_value(trimmed(_said(articles, spec["language"])), _language)
    for made in (names, languages):
        for code in made[1].unique().drop_null().to_pylist():
            notes.add_whole(code, row[numpy(pc.equal(made[1], code).fill_null(False))])
    titles = clean_texts(titles, row, notes)
    required = (names[0], languages[0], titles)
    missing = ~np.logical_and.reduce([numpy(array.is_valid()) for array in required])
    notes.add("missing-tag", row[missing & ~numpy(pc.equal(languages[1], "news-language").fill_null(False))])
    block = joined(
        "<news:news><news:publication>",
        element("news:name", names[0]),
        element("news:language", languages[0]),
        "</news:publication>",
        element("news:publication_date", dates),
        element("news:title", titles),
        "</news:news>",
    )
    return pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), block)


def _said(articles: pd.DataFrame, text: str) -> pa.Array:
    """A constant for every article, or the values of a column that is named in braces."""
    name = news_column(text)
    if name is None:
        return pa.repeat(pa.scalar(text), len(articles))
    return text_of(array_of(articles[name]))


def _without_parentheses(name: str) -> tuple[str | None, str | None]:
    """The name without what stands in parentheses at its end (G-45), null where nothing else is there."""
    bare = name
    while bare != (bare := _PARENTHESES.sub("", bare)):
        pass
    return bare or None, "news-name-parentheses" if "(" in name or ")" in name else None


def _language(text: str) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    language = news_language(text)
    return language, "news-language" if language is None else None if language == text else "news-language-normalised"
