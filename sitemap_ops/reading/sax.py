"""Any XML as columns, through expat: it builds no tree, so memory is bounded by the batch whatever a file holds.

A DOCTYPE ends the reading before anything in it is looked at, so there are no entities and no network (P-25). Line
numbers are right past 65,535, where libxml2's stop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from xml.parsers import expat

import numpy as np

from sitemap_ops.reading.column import strings
from sitemap_ops.reading.elements import MAX_NAME_CHARS, Elements, Names, Root
from sitemap_ops.reading.stop import Stop

MAX_DEPTH = 32
MAX_TOKEN_BYTES = 1_048_576
"""No tag, comment or text of a sitemap comes near: loc has 2,047 characters, a description 2,048."""
MAX_ENTRY_BYTES = 4 * MAX_TOKEN_BYTES
MAX_ENTRY_ROWS = 60_000
"""1,000 images (G-21) with all five tags are 6,000 rows and, at most, 4 MB: ten times as many short ones are judged."""
MAX_ATTRIBUTES = 1_000
"""Different names of attributes, or of prefixes, in a file; expat keeps each."""
FEEDS = {"rss": 3, "feed": 2, "RDF": 2}
"""The depth of entries by a feed's root."""


class Sax:
    """Feed it UTF-8; `take` gives the whole entries so far.

    check_root: called with the root; it may raise Stop. `feed` raises Stop: `xml-parse`, `encoding`, `doctype`,
    `root-element` (a second root), `too-deep`, `too-big-item`.
    """

    def __init__(self, names: Names, check_root: Callable[[Root], None], skipped_lines: int = 0) -> None:
        self.names = names
        self.root: Root | None = None
        self.prefixes: dict[str, str] = {}
        self.root_stray = False
        self.complete = 0
        """Rows of whole entries."""
        self.skipped_lines = skipped_lines
        """Lines that were read elsewhere."""
        self._check_root = check_root
        self._entry_depth = 2
        self._tag: list[int] = []
        self._depth: list[int] = []
        self._line: list[int] = []
        self._text: list[str] = []
        self._stray: list[int] = []
        self._attributes: dict[int, dict[str, str]] = {}
        self._open: list[int] = []
        self._texts: list[str] = []
        self._fed = 0
        self._taken = 0
        self._entry_end = 0
        self._in_white = False
        """Whether the last block was white space, and not inside a tag or a comment: more of it says nothing new."""
        self._attribute_names: set[str] = set()
        self._prefixes: set[str] = set()
        self._interned: dict[str, str] = {}
        self._parser = expat.ParserCreate("UTF-8", " ", self._interned)
        self._parser.buffer_text = True
        self._parser.buffer_size = 65_536
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._texts.append
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartNamespaceDeclHandler = self._namespace

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber + self.skipped_lines

    @property
    def held(self) -> int:
        """Bytes of the file whose whole entries were not taken yet."""
        return self._entry_end - self._taken

    def between_entries(self, closing: bytes) -> bool:
        """Whether all that was fed ends with this closing tag of an entry: not inside a comment, say."""
        return len(self._open) == 1 and self._entry_end + len(closing) == self._fed

    def feed(self, block: bytes, last: bool = False) -> None:
        white = block.isspace() and not (b"\x0b" in block or b"\x0c" in block)
        if white and self._in_white:
            self.skipped_lines += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
            return
        self._fed += len(block)
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as error:
            raise _explain(error, block, error.lineno + self.skipped_lines) from None
        if self._too_big():
            raise Stop("too-big-item", line=self.line)
        self._in_white = white and self._parser.CurrentByteIndex >= self._fed - len(block)

    def _too_big(self) -> bool:
        """Whether a tag, a comment, a text or an entry is; white space may be as long as the file."""
        if sum(map(len, self._texts)) > MAX_TOKEN_BYTES and not self._drop_white_space():
            return True
        behind = self._fed - max(self._parser.CurrentByteIndex, 0)
        inside = len(self._open) >= self._entry_depth
        return (
            behind > MAX_TOKEN_BYTES
            or (self._fed - self._entry_end > MAX_ENTRY_BYTES and inside)
            or len(self._tag) - self.complete > MAX_ENTRY_ROWS
        )

    def _drop_white_space(self) -> bool:
        white = "".join(self._texts).isspace()
        if white:
            self._texts.clear()
        return white

    def take(self) -> Elements:
        """The whole entries read since the last call."""
        size = self.complete
        stray = np.zeros(size, bool)
        stray[[row for row in self._stray if 0 <= row < size]] = True
        self.root_stray = self.root_stray or any(row < 0 for row in self._stray)
        batch = Elements(
            names=list(self.names.list),
            tag=np.array(self._tag[:size], np.int32),
            depth=np.array(self._depth[:size], np.int16),
            line=np.array(self._line[:size], np.int64),
            text=strings(self._text[:size]),
            stray=stray,
            attributes={row: named for row, named in self._attributes.items() if row < size},
            entry_depth=self._entry_depth,
        )
        for column in (self._tag, self._depth, self._line, self._text):
            del column[:size]
        self._attributes = {row - size: named for row, named in self._attributes.items() if row >= size}
        self._stray = [row - size for row in self._stray if row >= size]
        self._open = [row - size for row in self._open]
        self.complete = 0
        self._taken = self._entry_end
        self._interned.clear()
        return batch

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._texts:
            self._between()
        opened = self._open
        if not opened:
            self._start_root(name, attributes)
            return
        row = len(self._tag)
        if attributes:
            self._attributes[row] = attributes
            if not self._attribute_names.issuperset(attributes):
                self._limit(self._attribute_names, attributes, "attributes")
        opened.append(row)
        self._tag.append(self.names[name])
        self._depth.append(len(opened))
        self._line.append(self._parser.CurrentLineNumber + self.skipped_lines)
        self._text.append("")
        if len(opened) > MAX_DEPTH:
            raise Stop("too-deep", line=self.line)

    def _end(self, _name: str) -> None:
        row = self._open.pop()
        if row == len(self._tag) - 1 and row >= 0:
            self._text[row] = "".join(self._texts)
            self._texts.clear()
        elif self._texts:
            self._open.append(row)
            self._between()
            self._open.pop()
        if len(self._open) < self._entry_depth:
            self.complete = len(self._tag)
            self._entry_end = self._parser.CurrentByteIndex

    def _between(self) -> None:
        """Text beside elements, in the one that is open."""
        if self._open and not "".join(self._texts).isspace():
            self._stray.append(self._open[-1])
        self._texts.clear()

    def _start_root(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        self.root = Root(local, namespace, attributes, self.line, self.prefixes)
        self.names.root_namespace = namespace
        self._entry_depth = FEEDS.get(local, 2)
        self._open.append(-1)
        self._check_root(self.root)

    def _namespace(self, prefix: str | None, uri: str | None) -> None:
        if self.root is None:
            self.prefixes[prefix or ""] = uri or ""
        if (prefix or "") not in self._prefixes:
            self._limit(self._prefixes, [prefix or ""], "prefixes")

    def _limit(self, known: set[str], names: Collection[str], kind: str) -> None:
        known.update(names)
        if len(known) > MAX_ATTRIBUTES or max(map(len, names)) > MAX_NAME_CHARS:
            raise Stop("too-big-item", line=self.line, message=f"There are more, or longer, {kind} than sitemaps need.")

    def _doctype(self, *_: object) -> None:
        raise Stop("doctype", line=self.line)


_CODES = expat.errors.codes
_MEANINGS = {
    _CODES[expat.errors.XML_ERROR_NO_ELEMENTS]: "the file ends before its root is closed",
    _CODES[expat.errors.XML_ERROR_UNCLOSED_TOKEN]: "the file ends inside a tag",
    _CODES[expat.errors.XML_ERROR_UNDEFINED_ENTITY]: "an entity that XML does not know",
    _CODES[expat.errors.XML_ERROR_UNBOUND_PREFIX]: "a prefix whose namespace is not declared",
    _CODES[expat.errors.XML_ERROR_TAG_MISMATCH]: "a closing tag that does not match",
    _CODES[expat.errors.XML_ERROR_BAD_CHAR_REF]: "a reference to a character that XML excludes",
    _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]: "a bare & or <, or a character that may not stand there",
}


def _explain(error: expat.ExpatError, block: bytes, line: int) -> Stop:
    place = f"line {line}, column {error.offset + 1}"
    if error.code == _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]:
        bad = _not_utf8(block)
        if bad is not None:
            return Stop("encoding", line=line, message=f"The file is not UTF-8: byte {bad:#04x} near {place}.")
    if error.code == _CODES[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]:
        return Stop("root-element", line=line, message=f"Something follows the root element at {place}.")
    meaning = _MEANINGS.get(error.code) or expat.ErrorString(error.code) or "unknown fault"
    return Stop("xml-parse", line=line, message=f"The XML is not well-formed: {meaning} ({place}).")


def _not_utf8(block: bytes) -> int | None:
    """The first byte that can't be UTF-8; one that the block's edges cut is none."""
    start = next((at for at, byte in enumerate(block[:4]) if byte & 0xC0 != 0x80), 0)
    try:
        block[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return block[start + error.start]
    return None
