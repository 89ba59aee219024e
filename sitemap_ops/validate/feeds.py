"""RSS and Atom feeds as sitemaps: their links are judged like locs, the rest is another protocol's (P-50)."""

from __future__ import annotations

import numpy as np

from sitemap_ops.reading.column import Column, strings, take
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.locs import Site, judge_locs
from sitemap_ops.validate.seen import Listed


class FeedJudge:
    def __init__(self, record: Record, site: Site, locs: list[Listed]) -> None:
        self.urls = 0
        self._record, self._site, self._locs = record, site, locs
        record.add("feed-not-universal")
        record.add("unsupported-format:feed")

    def batch(self, batch: Elements) -> None:
        codes = [code for code, name in enumerate(batch.names) if name.rpartition("}")[2] == "link"]
        rows = (np.isin(batch.tag, codes) & (batch.depth == batch.entry_depth + 1)).nonzero()[0]
        named = [batch.attributes.get(row, {}) for row in rows.tolist()]
        pages = np.array([one.get("rel", "alternate") == "alternate" for one in named], bool)
        texts = take(batch.text, rows).to_pylist()
        values = [one.get("href") or text for one, text in zip(named, texts, strict=True)]
        column = Column(strings(values), batch.line[rows], batch.entry[rows]).where(pages)
        self.urls += len(column)
        self._locs.append(Listed.of(judge_locs(column, self._record, self._site)))

    def finish(self) -> None:
        if not self.urls:
            self._record.add("empty-sitemap")
