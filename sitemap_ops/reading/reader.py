"""A stream of XML bytes as batches of columns: `blocks` where it can, `sax` for everything else.

sax reads the start and the end of a file and every block that blocks declines; what blocks takes in between is whole
entries, so that sax never notices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sitemap_ops.reading import blocks
from sitemap_ops.reading.column import LONG, MAX_LONG_BYTES, long_bytes
from sitemap_ops.reading.elements import Elements, Names, Root
from sitemap_ops.reading.sax import Sax
from sitemap_ops.reading.stop import Stop

BLOCK_BYTES = 1_048_576
BATCH_ROWS, BATCH_BYTES = 65_536, 2 * BLOCK_BYTES
FEED_BYTES = 65_536
MAX_FOREIGN = 250_000
"""Elements of no protocol or extension that we know: five for each page that a sitemap may hold."""
_CLOSING = {"urlset": b"</url>", "sitemapindex": b"</sitemap>"}
_RAW_QUOTE = re.compile(rb"<loc>([^<'\">]*+['\">][^<]*+)<")
RAW_EXAMPLES = 5


class ElementReader:
    """Reads one file. check_root is called with its root and may raise Stop, as reading itself may (see `Sax`).

    skipped_lines: how many come before what it is given.
    """

    def __init__(self, check_root: Callable[[Root], None], skipped_lines: int = 0) -> None:
        self.raw_quotes: list[tuple[int, str]] = []
        """P-21: lines and values of locs with a bare quote or >, which an XML parser no longer tells: the first few."""
        self.raw_quote_count = 0
        self._names = Names()
        self._sax = Sax(self._names, check_root, skipped_lines)

    @property
    def root_stray(self) -> bool:
        return self._sax.root_stray

    def batches(self, chunks: Iterator[bytes]) -> Iterator[Elements]:
        """All batches of a file, the last one perhaps without rows.

        Raises Stop as `Sax` does, and where a file goes on and on with what no sitemap has.
        """
        foreign = long = 0
        for batch in self._batches(chunks):
            yield batch
            foreign += batch.foreign
            long += long_bytes(batch.text)
            if foreign > MAX_FOREIGN:
                said = f"More than {MAX_FOREIGN:,} elements are none of a sitemap's; reading stopped there."
                raise Stop("too-big-item", message=said)
            if long > MAX_LONG_BYTES:
                raise Stop("too-big-item", message=LONG)

    def _batches(self, chunks: Iterator[bytes]) -> Iterator[Elements]:
        pending = bytearray()
        for chunk in chunks:
            pending += chunk
            if self._sax.root is None or len(pending) >= BLOCK_BYTES:
                yield from self._whole_entries(pending)
        yield from self._whole_entries(pending)
        yield from self._read(bytes(pending))
        self._sax.feed(b"", True)
        yield self._sax.take()

    def rest(self) -> Elements:
        """The whole entries that were read before a Stop."""
        return self._sax.take()

    def _whole_entries(self, pending: bytearray) -> Iterator[Elements]:
        """Read as far as an entry ends, and leave what follows pending; all of it where none ends."""
        closing = _CLOSING.get(self._sax.root.name if self._sax.root else "", b"</url>")
        end = pending.rfind(closing) + len(closing)
        if end < len(closing):
            end = len(pending)
        block = bytes(memoryview(pending)[:end])
        del pending[:end]
        if self._sax.between_entries(closing) and block.endswith(closing):
            batch = blocks.read(block, self._sax.line, self._sax.prefixes, self._names)
            if batch is not None:
                if self._sax.complete:
                    yield self._sax.take()
                self._find_raw_quotes(block, bare=False)
                self._sax.skipped_lines += block.count(b"\n")
                yield batch
                return
        yield from self._read(block)

    def _read(self, block: bytes) -> Iterator[Elements]:
        for start in range(0, len(block), FEED_BYTES):
            piece = block[start : start + FEED_BYTES]
            self._find_raw_quotes(piece, bare=piece.count(b">") != piece.count(b"<"))
            self._sax.feed(piece)
            if self._sax.complete >= BATCH_ROWS or (self._sax.complete and self._sax.held > BATCH_BYTES):
                yield self._sax.take()

    def _find_raw_quotes(self, block: bytes, *, bare: bool) -> None:
        """bare: there may be a > in texts. A loc that two pieces share is not looked at."""
        if b"'" not in block and b'"' not in block and not bare:
            return
        for match in _RAW_QUOTE.finditer(block):
            self.raw_quote_count += 1
            if len(self.raw_quotes) < RAW_EXAMPLES:
                line = self._sax.line + block.count(b"\n", 0, match.start())
                self.raw_quotes.append((line, match[1].decode("utf-8", "replace")))
