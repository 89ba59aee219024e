"""What is said about a <urlset>: batch by batch, and at its end."""

from __future__ import annotations

from datetime import datetime

import pyarrow.compute as pc

from sitemap_ops.validate.column import mask
from sitemap_ops.validate.elements import Elements
from sitemap_ops.validate.entries import judge_entries
from sitemap_ops.validate.findings import Record
from sitemap_ops.validate.locs import Site, judge_locs
from sitemap_ops.validate.seen import Listed
from sitemap_ops.validate.values import Tally, judge_changefreq, judge_lastmod, judge_never, judge_priority


class PageJudge:
    def __init__(self, record: Record, site: Site, locs: list[Listed], now: datetime) -> None:
        self.urls = 0
        self._record, self._site, self._locs, self._now = record, site, locs, now
        self._tally = Tally()

    def batch(self, batch: Elements) -> None:
        record = self._record
        judge_entries(batch, record, index=False)
        locs = batch.column(batch.rows("loc"))
        locs = judge_locs(locs.where(mask(pc.greater(pc.binary_length(locs.text), 0))), record, self._site)
        lastmod, changefreq, priority = (batch.column(batch.rows(tag)) for tag in ("lastmod", "changefreq", "priority"))
        judge_lastmod(lastmod, record, self._now, self._tally)
        judge_changefreq(changefreq, record)
        judge_priority(priority, record, self._tally)
        judge_never(changefreq, lastmod, record, self._now)
        self._locs.append(Listed.of(locs))
        self.urls += batch.entries

    def finish(self) -> None:
        if not self.urls:
            self._record.add("empty-sitemap")
        self._tally.judge(self.urls, self._record)
