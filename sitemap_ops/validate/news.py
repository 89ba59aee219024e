"""Rules for <news:news> (G-40 to G-47)."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record
from sitemap_ops.validate import dates
from sitemap_ops.validate.groups import Groups

MAX_NEWS = 1_000
MAX_AGE = timedelta(hours=48)
MUCH_TOO_OLD = timedelta(days=7)
DEPRECATED = ("access", "genres", "keywords", "stock_tickers")
KNOWN = {"publication", "publication_date", "title", *DEPRECATED}


def judge_news(batch: Elements, record: Record, now: datetime) -> int:
    """Judge a batch's articles; returns how many there are, which the file's end adds up (G-42)."""
    news = Groups(batch, "news:news")
    if not len(news):
        return 0
    record.add("unknown-tag:extension", value="<news:news>", line=int(news.tags.line[0]), count=len(news))
    for tag, depth in (("publication_date", 4), ("title", 4), ("name", 5), ("language", 5)):
        missing = news.counts(tag, depth) == 0
        record.add_rows("news-missing-tag", news.tags, missing, f"A news entry has no {tag}.")
    again = np.zeros(len(news), bool)
    again[1:] = news.tags.entry[1:] == news.tags.entry[:-1]
    record.add_rows("news-duplicate", news.tags, again)
    language, _ = news.child("language", 5)
    record.add_rows("news-language", language, ~language.matches("^(?:[a-z]{2,3}|zh-cn|zh-tw)$"))
    name, _ = news.child("name", 5)
    record.add_rows("news-name-parentheses", name, name.matches(r"[()]"))
    _dates(news, record, now)
    for tag in DEPRECATED:
        column, _ = news.child(tag)
        record.add_rows(
            "deprecated-tag", column, np.ones(len(column), bool), f"Google no longer documents <news:{tag}>."
        )
    news.report_unknown(KNOWN, record, "news-unknown-tag")
    return len(news)


def _dates(news: Groups, record: Record, now: datetime) -> None:
    published, _ = news.child("publication_date")
    good = dates.is_w3c(published.text)
    record.add_rows("news-date", published, ~good)
    fresh = dates.after(published, now - MAX_AGE)
    week = dates.after(published, now - MUCH_TOO_OLD)
    record.add_rows("news-too-old", published, good & ~fresh & week)
    record.add_rows("news-too-old:week", published, good & ~week)
