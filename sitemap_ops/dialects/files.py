"""From one location to the rows of all files that belong to it, one file after another, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from sitemap_ops.dialects.mend import mend
from sitemap_ops.dialects.rows import feed_rows, page_rows, text_rows
from sitemap_ops.engines import PROFILES
from sitemap_ops.errors import SourceError
from sitemap_ops.reading.decode import HEAD, decode
from sitemap_ops.reading.elements import NS_SITEMAP, Root
from sitemap_ops.reading.opening import place_of
from sitemap_ops.reading.places import Opened, Place
from sitemap_ops.reading.reader import ElementReader
from sitemap_ops.reading.record import Record, safe
from sitemap_ops.reading.sax import FEEDS
from sitemap_ops.reading.stop import Stop
from sitemap_ops.reading.text import lines
from sitemap_ops.reading.unpack import measured, unpack, with_head
from sitemap_ops.rules import RULES

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections

MAX_FILES = PROFILES["core"].limits.max_files_per_index
MAX_DEPTH = 2
"""An index, and indexes that it lists: P-35 allows no nesting, but there is some."""
MAX_ITEMS = 50_000
"""Items of a feed: what a sitemap may list, and far more than feeds have."""
MAX_WITHOUT_LOC = 50_000
"""Entries of one file that have no loc: more are no sitemap."""

Progress = Callable[[str, int, int | None], None]


@dataclass
class Sitemaps:
    """All that a location holds; `batches` reads it once.

    repairs: how often what was repaired, by code, filled while reading. files: read so far, indexes too.
    """

    location: str
    connections: Connections
    aws_conn_id: str | None = None
    progress: Progress = lambda what, done, total: None
    repairs: Counter[str] = field(default_factory=Counter)
    files: int = 0
    _known: dict[str, None] = field(default_factory=dict)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Rows of `rows.SCHEMA`, file by file in the order they are listed; each file once.

        What an index on the web lists is read from its own host only; what one on a disk or in a bucket lists, from
        beside it only: nothing else is asked on the word of a file. Raises SourceError where anything can't be read
        whole, NothingThere (a UsageError) where there is nothing to read, UsageError for a location that can't be
        meant, TargetError where a store can't be reached.
        """
        place = place_of(self.location, self.connections, aws_conn_id=self.aws_conn_id)
        started = place.start()
        self._known.update(dict.fromkeys(started))
        for location in started:
            yield from self._file(place, location, 1)

    def _file(self, place: Place, location: str, depth: int) -> Iterator[pa.RecordBatch]:
        where = safe(place.show(location)) or ""
        listed: list[str] = []
        try:
            yield from self._rows(place.open(location), listed)
        except Stop as stop:
            raise SourceError(_told(where, stop)) from None
        self.files += 1
        self.repairs["nested-index"] += bool(listed) and depth > 1
        if listed and depth > MAX_DEPTH:
            raise SourceError(f"{where} is an index {depth} deep: import it by its own address.")
        children = [_find(place, loc, location, where) for loc in listed]
        new = [child for child in dict.fromkeys(children) if child not in self._known]
        self._known.update(dict.fromkeys(new))
        if len(self._known) > MAX_FILES:
            raise SourceError(f"{where} brings the files to more than {MAX_FILES:,}: import its parts one by one.")
        self.progress("import", self.files, len(self._known))
        for child in new:
            yield from self._file(place, child, depth + 1)

    def _rows(self, opened: Opened, children: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows of one file; what it lists as an index is added to `children`."""
        record = Record(opened.name)
        without_loc = 0
        try:
            _, plain = unpack(opened.chunks, record.add)
            head, plain = with_head(measured(plain, lambda size: None), HEAD)
            name = "" if _is_markup(head) else opened.name
            decoded = decode(plain, record, name)
            if decoded.kind == "text":
                columns = lines(decoded.blocks, record, decoded.skipped_lines)
                batches: Iterator[pa.RecordBatch] = (text_rows(column.text, self.repairs) for column in columns)
            else:
                batches = self._xml_rows(mend(decoded.blocks, self.repairs), decoded.skipped_lines, children)
            for batch in batches:
                without_loc += batch["loc"].null_count
                if without_loc > MAX_WITHOUT_LOC:
                    raise Stop("loc-missing", message=f"More than {MAX_WITHOUT_LOC:,} of its entries have no <loc>.")
                yield batch
        finally:
            opened.close()
            self.repairs.update(record.counts)

    def _xml_rows(self, blocks: Iterator[bytes], skipped_lines: int, children: list[str]) -> Iterator[pa.RecordBatch]:
        roots: list[Root] = []

        def check_root(root: Root) -> None:
            if root.name not in ("urlset", "sitemapindex", *FEEDS):
                message = f"Its root is <{safe(root.name)}>, which is no sitemap, index or feed."
                raise Stop("root-element", line=root.line, message=message)
            self.repairs["namespace"] += root.name not in FEEDS and root.namespace != NS_SITEMAP
            self.repairs["feed"] += root.name in FEEDS
            roots.append(root)

        items = 0
        for elements in ElementReader(check_root, skipped_lines).batches(blocks):
            if roots[0].name in FEEDS:
                yield feed_rows(elements, self.repairs)
                items += elements.entries
                if items > MAX_ITEMS:
                    raise Stop("too-many-urls", message=f"It is a feed with more than {MAX_ITEMS:,} items.")
                continue
            rows, listed = page_rows(elements, self.repairs)
            children += listed
            if len(children) > MAX_FILES:
                raise Stop("too-many-sitemaps")
            yield rows


def _find(place: Place, loc: str, index: str, where: str) -> str:
    """Where the file is that an index lists."""
    try:
        child = place.find(loc, index)
    except Stop:
        raise SourceError(
            f"{where} lists {safe(loc)}, which is on another host, and is not followed there:"
            " import that file by its own address."
        ) from None
    if child is None:
        raise SourceError(
            f"{where} lists {safe(loc)}, which is not beside it: put it there, or import the index by its web address."
        )
    return child


def _is_markup(head: bytes) -> bool:
    """Whether a file is XML though it may be named .txt: a `<` comes first, of UTF-8 or UTF-16, marked or not."""
    return head.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith(b"<")


def _told(where: str, stop: Stop) -> str:
    rule = RULES[stop.code]
    line = f", line {stop.line}" if stop.line else ""
    said = stop.message or rule.what
    shown = f" ({safe(stop.value)})" if stop.value and stop.message is None else ""
    return f"{where}{line} can't be imported: {said[0].lower()}{said[1:].rstrip('.')}{shown}. {rule.advice}"
