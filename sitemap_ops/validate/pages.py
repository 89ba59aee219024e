"""What is said about a <urlset>: batch by batch, and at its end."""

from __future__ import annotations

from datetime import datetime

from sitemap_ops.reading.elements import Elements, Root
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.alternates import judge_alternates
from sitemap_ops.validate.entries import judge_entries
from sitemap_ops.validate.images import judge_images
from sitemap_ops.validate.links import Linked
from sitemap_ops.validate.locs import Site, judge_locs
from sitemap_ops.validate.news import MAX_NEWS, judge_news
from sitemap_ops.validate.seen import Listed
from sitemap_ops.validate.values import Tally, judge_changefreq, judge_lastmod, judge_never, judge_priority
from sitemap_ops.validate.videos import judge_videos


class PageJudge:
    """locs, links: take what is needed to judge the whole set."""

    def __init__(
        self, root: Root, record: Record, site: Site, locs: list[Listed], links: list[Linked], now: datetime
    ) -> None:
        self.urls = 0
        self._root, self._record, self._site, self._now = root, record, site, now
        self._locs, self._links = locs, links
        self._tally = Tally()
        self._news = 0

    def batch(self, batch: Elements) -> None:
        record = self._record
        judge_entries(batch, record, index=False)
        locs = batch.values("loc")
        locs = judge_locs(locs.where(locs.lengths() > 0), record, self._site)
        lastmod, changefreq, priority = (batch.values(tag) for tag in ("lastmod", "changefreq", "priority"))
        judge_lastmod(lastmod, record, self._now, self._tally)
        judge_changefreq(changefreq, record)
        judge_priority(priority, record, self._tally)
        judge_never(changefreq, lastmod, record, self._now)
        judge_images(batch, record, self._site)
        judge_videos(batch, record, locs, self._site.origins)
        self._news += judge_news(batch, record, self._now)
        linked = judge_alternates(batch, record, locs, self._site.origins)
        if linked is not None:
            self._links.append(linked)
        self._locs.append(Listed.of(locs))
        self.urls += batch.entries

    def finish(self) -> None:
        if not self.urls:
            self._record.add("empty-sitemap:news" if self._root.declares("news:") else "empty-sitemap")
        if self._news > MAX_NEWS:
            self._record.add("too-many-news", value=f"{self._news:,} articles")
        self._tally.judge(self.urls, self._record)
