"""Rules for <xhtml:link rel="alternate" hreflang> within an entry (G-50 to G-55, Y-20); `whole` has the set's."""

from __future__ import annotations

import numpy as np

from sitemap_ops.languages import hreflang_fault
from sitemap_ops.reading.column import Column, strings
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.entries import names
from sitemap_ops.validate.hosts import Origins
from sitemap_ops.validate.links import Linked
from sitemap_ops.validate.locs import judge_urls


def judge_alternates(batch: Elements, record: Record, pages: Column, origins: Origins) -> Linked | None:
    """Judge a batch's alternates; returns the links from pages (their locs) to others, None where there are none."""
    rows = batch.rows("xhtml:link")
    if not len(rows):
        return None
    tags = names(batch, rows)
    named = [batch.attributes.get(int(row), {}) for row in rows]
    mobile = np.array(["media" in one and "hreflang" not in one for one in named], bool)
    whole = np.array(
        [one.get("rel") == "alternate" and bool(one.get("hreflang")) and "href" in one for one in named], bool
    )
    record.add_rows("hreflang-attr", tags, ~whole & ~mobile)
    links = [one for one, good in zip(named, whole, strict=True) if good]
    href = Column(strings([one["href"] for one in links]), tags.line[whole], tags.entry[whole])
    code = Column(strings([one["hreflang"] for one in links]), href.line, href.entry)
    record.add("yandex-hreflang-ignored", line=int(tags.line[0]), count=len(rows))
    judge_urls(href, record, "xhtml:link href", "hreflang-href")
    _codes(code, record)
    return _self_references(href, record, pages, origins)


def _codes(code: Column, record: Record) -> None:
    seen: set[tuple[int, str]] = set()
    again = np.zeros(len(code), bool)
    values = code.text.to_pylist()
    for at, pair in enumerate(zip(code.entry.tolist(), map(str.lower, values), strict=True)):
        again[at] = pair in seen
        seen.add(pair)
    record.add_rows("hreflang-duplicate", code, again)
    faults = {value: hreflang_fault(value) for value in set(values)}
    faulty = np.array([faults[value] is not None for value in values], bool)
    record.add_rows("hreflang-code", code, faulty, lambda value: f"hreflang: {faults[value]}.")


def _self_references(href: Column, record: Record, pages: Column, origins: Origins) -> Linked:
    page_of = dict(zip(pages.entry.tolist(), pages.text.to_pylist(), strict=True))
    line_of = dict(zip(href.entry.tolist(), href.line.tolist(), strict=True))
    targets = href.text.to_pylist()
    sources = [page_of.get(entry, "") for entry in href.entry.tolist()]
    named_themselves = {
        entry for entry, one, other in zip(href.entry.tolist(), sources, targets, strict=True) if one == other
    }
    for entry in sorted(line_of.keys() - named_themselves):
        record.add("hreflang-no-self", value=page_of.get(entry), line=line_of[entry])
    return Linked.of(sources, targets, href.line, origins)
