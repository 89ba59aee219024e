"""What is said about an index: its entries, their hosts, folders and dates (P-36 to P-43, G-06)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sitemap_ops.reading.column import Column
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.origins import path_of
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.entries import judge_entries, names
from sitemap_ops.validate.locs import Site, judge_urls, trimmed
from sitemap_ops.validate.values import judge_lastmod


@dataclass(frozen=True)
class Child:
    """A file that an index lists; lastmod: as written, "" where there is none."""

    loc: str
    line: int
    lastmod: str = ""


class IndexJudge:
    def __init__(self, record: Record, site: Site, children: list[Child], now: datetime) -> None:
        self.urls = 0
        self._record, self._site, self._children, self._now = record, site, children, now
        self._undated: list[int] = []

    def batch(self, batch: Elements) -> None:
        judge_entries(batch, self._record, index=True)
        locs = trimmed(batch.values("loc"), self._record)
        locs = locs.where(locs.matches("."))
        judge_urls(locs, self._record, "loc")
        lastmods = batch.values("lastmod")
        judge_lastmod(lastmods, self._record, self._now)
        self._site_rules(locs)
        top = names(batch, (batch.depth == 2).nonzero()[0])
        dated = np.bincount(lastmods.entry, minlength=batch.entries) > 0
        self._undated += top.line[~dated].tolist()
        dates = dict(zip(lastmods.entry.tolist(), lastmods.text.to_pylist(), strict=True))
        for loc, line, entry in zip(locs.text.to_pylist(), locs.line.tolist(), locs.entry.tolist(), strict=True):
            self._children.append(Child(loc, line, dates.get(entry, "")))
        self.urls += batch.entries

    def finish(self) -> None:
        if not self.urls:
            self._record.add("index-structure", message="The index lists no sitemap.")
        if self.urls > 1 and self._undated:
            self._record.add("index-lastmod-missing", line=self._undated[0], count=len(self._undated))

    def _site_rules(self, locs: Column) -> None:
        """P-40: one host. G-06: the index's folder or below."""
        texts = locs.text.to_pylist()
        origins = [self._site.origins.of_url(loc) for loc in texts]
        if self._site.origin is None:
            self._site.origin = next((one for one in origins if one), None)
        allowed = {self._site.origin, *self._site.others}
        foreign = np.array([one is not None and one not in allowed for one in origins], bool)
        self._record.add_rows("index-foreign-host", locs, foreign)
        folder = self._site.folder or "/"
        outside = [
            one is not None and not path_of(loc).startswith(folder) for one, loc in zip(origins, texts, strict=True)
        ]
        self._record.add_rows("index-path-scope", locs, np.array(outside, bool) & ~foreign)
