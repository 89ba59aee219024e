"""RSS and Atom feeds as sitemaps: their links are judged like locs, the rest is another protocol's (P-50)."""

from __future__ import annotations

import numpy as np

from sitemap_ops.validate.column import Column, strings
from sitemap_ops.validate.elements import Elements
from sitemap_ops.validate.findings import Record
from sitemap_ops.validate.locs import Site, judge_locs
from sitemap_ops.validate.seen import Listed


class FeedJudge:
    def __init__(self, record: Record, site: Site, locs: list[Listed]) -> None:
        self.urls = 0
        self._record, self._site, self._locs = record, site, locs
        record.add("feed-not-universal")
        record.add("unsupported-format:feed")

    def batch(self, batch: Elements) -> None:
        links = np.array([row for row, code in enumerate(batch.tag) if _is_link(batch, row, code)], np.int64)
        values = [batch.attributes.get(int(row), {}).get("href") or batch.text[int(row)].as_py() for row in links]
        column = Column(strings(values), batch.line[links], batch.entry[links])
        self.urls += len(column)
        self._locs.append(Listed.of(judge_locs(column, self._record, self._site)))

    def finish(self) -> None:
        if not self.urls:
            self._record.add("empty-sitemap")


def _is_link(batch: Elements, row: int, code: int) -> bool:
    if batch.depth[row] != batch.entry_depth + 1:
        return False
    name = batch.names[code].rpartition("}")[2]
    return name == "link" and batch.attributes.get(row, {}).get("rel", "alternate") == "alternate"
