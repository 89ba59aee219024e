"""The published schemas as a second opinion (X-01 to X-07), read from a folder of the user's; never from the network.

They are too strict in some places and too lax in others, so that what they alone say is told apart: `xsd-differs` where
our own rules know better, `xsd-invalid` for the rest. Entries are validated some hundreds at a time: memory stays
bounded, errors have lines, and libxml2's cost for an error, which grows with its siblings, stays small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from sitemap_ops.errors import UsageError
from sitemap_ops.reading.column import strings
from sitemap_ops.reading.record import Record
from sitemap_ops.validate import dates

BATCH = 500
MAX_FAULTS = 1_000
"""Faults after which a file is held against the schema no further."""
MAX_LINE = 65_535
"""libxml2's line numbers end here."""
_VALUE = re.compile(r"': '(.*?)' is not|value '(.*?)'")
_EXTENSION = re.compile(r"Element '\{http://www\.google\.com/schemas/sitemap-(?:image|video)/1\.1\}")


class _Local(etree.Resolver):
    """Answers every request with a file of the folder, and with nothing where there is none (X-04)."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def resolve(self, system_url: str, public_id: str, context: Any) -> Any:  # type: ignore[override]
        path = self._folder / (system_url or "").rpartition("/")[2]
        resolver: Any = self  # lxml's stubs lack the methods that answer
        return resolver.resolve_filename(str(path), context) if path.is_file() else resolver.resolve_empty(context)


class Schemas:
    """The schemas of a folder: `all.xsd` (or else `sitemap.xsd`) for sitemaps, `siteindex.xsd` for indexes.

    Raises UsageError where they are not there or can't be compiled.
    """

    def __init__(self, folder: Path) -> None:
        every = folder / "all.xsd"
        pages = every if every.is_file() else folder / "sitemap.xsd"
        self._schemas = {"urlset": _compile(pages), "sitemapindex": _compile(folder / "siteindex.xsd")}

    def watch(self, blocks: Iterator[bytes], record: Record) -> Iterator[bytes]:
        """The same blocks; the record gets what the schema says about what they hold."""
        parser = etree.XMLPullParser(("start", "end"), resolve_entities=False, no_network=True)
        watched = _Watched(self._schemas, record)
        try:
            for block in blocks:
                if watched.going:
                    watched.feed(parser, block)
                yield block
        finally:
            watched.finish()


class _Watched:
    """One file's entries, collected and validated batch by batch."""

    def __init__(self, schemas: dict[str, etree.XMLSchema], record: Record) -> None:
        self.going = True
        self._schemas, self._record = schemas, record
        self._root: Any = None
        self._depth = 0
        self._batches = 0
        self._faults = 0

    def feed(self, parser: etree.XMLPullParser, block: bytes) -> None:
        try:
            parser.feed(block)
            for event, element in parser.read_events():
                self._event(event, element)
        except etree.XMLSyntaxError:
            self.going = False

    def _event(self, event: str, element: Any) -> None:
        if self._root is None:
            self._root = element
            self.going = etree.QName(element).localname in self._schemas
        self._depth += 1 if event == "start" else -1
        if event == "end" and self._depth == 1 and len(self._root) > BATCH:
            self._validate(len(self._root) - 1)

    def finish(self) -> None:
        if self.going and self._root is not None and (len(self._root) or not self._batches):
            self._validate(len(self._root))

    def _validate(self, size: int) -> None:
        """Validate the first entries as a file of their own, and drop them."""
        schema = self._schemas[etree.QName(self._root).localname]
        part = etree.Element(self._root.tag, dict(self._root.attrib), self._root.nsmap)
        part.extend(self._root[:size])
        self._batches += 1
        if not schema.validate(part):
            self._report(schema)
        self.going = self._faults < MAX_FAULTS

    def _report(self, schema: Any) -> None:
        seen = set()
        for entry in schema.error_log:
            element = entry.message.partition("}")[2].partition("'")[0]
            if (entry.line, element) in seen:
                continue
            seen.add((entry.line, element))
            self._faults += 1
            line = entry.line if 0 < entry.line < MAX_LINE else None
            key = "xsd-differs" if _known_better(entry.message) else "xsd-invalid"
            self._record.add(key, line=line, message=f"The published schema: {entry.message}")


def _compile(path: Path) -> etree.XMLSchema:
    if not path.is_file():
        raise UsageError(f"There is no schema {str(path)!r}: name a folder with sitemap.xsd and siteindex.xsd.")
    parser = etree.XMLParser(no_network=True, resolve_entities=False, load_dtd=False)
    parser.resolvers.add(_Local(path.parent))
    try:
        return etree.XMLSchema(etree.parse(path, parser))
    except (OSError, etree.LxmlError) as error:
        raise UsageError(f"The schema {str(path)!r} can't be used: {error}.") from None


def _known_better(message: str) -> bool:
    """X-01, X-02, X-06: coarse dates, short locs, the order within extensions, long video titles."""
    match = _VALUE.search(message)
    value = (match[1] or match[2] or "") if match else ""
    if "lastmod'" in message or "_date'" in message:
        return bool(dates.is_w3c(strings([value]))[0])
    if "}loc'" in message:
        return "minLength" in message or 0 < len(value) < 12
    return bool(_EXTENSION.search(message)) and ("not expected" in message or "maxLength" in message)
