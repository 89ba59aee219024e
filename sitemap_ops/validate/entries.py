"""The shape of entries: which tags, how often, in which order (P-03, P-18, P-19, P-36)."""

from __future__ import annotations

import numpy as np

from sitemap_ops.reading.column import Column, strings, take
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record

PAGE_TAGS = ("loc", "lastmod", "changefreq", "priority")
INDEX_TAGS = ("loc", "lastmod")
EXTENSION_TAGS = ("image:image", "video:video", "news:news", "xhtml:link")


def judge_entries(batch: Elements, record: Record, *, index: bool) -> None:
    """The shape of a batch of <url> or, in an index, <sitemap> entries."""
    tags = INDEX_TAGS if index else PAGE_TAGS
    top = (batch.depth == 2).nonzero()[0]
    codes = np.array([batch.code(tag) for tag in tags], np.int32)
    children = (batch.depth == 3).nonzero()[0]
    core = np.isin(batch.tag[children], codes[codes >= 0])
    entry_code = batch.code("sitemap" if index else "url")
    proper = batch.tag[top] == entry_code
    _report_tags(batch, top[~proper], record, "index-structure" if index else "unknown-tag")
    _report_tags(batch, children[~core], record, "index-structure" if index else "unknown-tag")
    _counts(batch, tags, proper, record)
    _order(batch, children, codes, record)
    grandchildren = (batch.depth == 4).nonzero()[0]
    if len(grandchildren):
        inside_core = core[batch.owner(grandchildren, children)]
        _report_tags(batch, grandchildren[inside_core], record, "unknown-tag")
    record.add_rows("stray-text", names(batch, batch.stray.nonzero()[0]), batch.stray[batch.stray])


def names(batch: Elements, rows: np.ndarray) -> Column:
    """The tags' own names as a column, to show them."""
    shown = strings([f"<{name}>" for name in batch.names])
    return Column(take(shown, batch.tag[rows]), batch.line[rows], batch.entry[rows])


def _counts(batch: Elements, tags: tuple[str, ...], proper: np.ndarray, record: Record) -> None:
    top = names(batch, (batch.depth == 2).nonzero()[0])
    for tag in tags:
        column = batch.values(tag)
        often = np.bincount(column.entry, minlength=batch.entries)[: batch.entries]
        if tag == "loc":
            empty = ~column.matches(r"\S")
            record.add_rows("loc-missing", top, proper & (often == 0))
            record.add_rows("loc-missing", column, empty, "An entry's <loc> is empty.")
            record.add_rows("loc-duplicate-tag", top, often > 1)
        else:
            record.add_rows("duplicate-tag", top, often > 1, f"An entry has more than one <{tag}>.")


def _order(batch: Elements, children: np.ndarray, codes: np.ndarray, record: Record) -> None:
    """Ranks may not fall within an entry; all that is not core comes last."""
    rank = np.full(len(batch.names) + 1, len(codes), np.int16)
    rank[codes[codes >= 0]] = (codes >= 0).nonzero()[0]
    ranks = rank[batch.tag[children]]
    entry = batch.entry[children]
    falls = (ranks[1:] < ranks[:-1]) & (entry[1:] == entry[:-1])
    if falls.any():
        _, first = np.unique(entry[1:][falls], return_index=True)
        rows = children[1:][falls][first]
        record.add_rows("child-order", names(batch, rows), np.ones(len(rows), bool))


def _report_tags(batch: Elements, rows: np.ndarray, record: Record, code: str) -> None:
    """What is of the protocol's namespace is an error, of an extension in its place fine, of others a warning."""
    if not len(rows):
        return
    column = names(batch, rows)
    tag = batch.tag[rows]
    other = np.array([name.startswith("{") for name in batch.names], bool)[tag]
    allowed = [] if code == "index-structure" else [batch.code(name) for name in EXTENSION_TAGS]
    record.add_rows("unknown-extension", column, other)
    record.add_rows(
        code, column, ~other & ~np.isin(tag, allowed), lambda tag: f"The protocol has no {tag} at this place."
    )
