"""Text sitemaps: one URL a line (P-49)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from sitemap_ops.reading.column import LONG, MAX_LONG_BYTES, Column, cut, lengths, long_bytes
from sitemap_ops.reading.record import Record
from sitemap_ops.reading.stop import Stop

BATCH_BYTES = 1_048_576
BATCH_ROWS = 65_536
MAX_LINE_BYTES = 1_048_576
MAX_STRANGE_LINES = 100_000


def lines(blocks: Iterator[bytes], record: Record, skipped_lines: int = 0) -> Iterator[Column]:
    """Batches of lines that are one URL each; reports the others (`txt-line-not-url`, `txt-entity`, `encoding`)."""
    number, strange, long = 1 + skipped_lines, 0, 0
    for piece in _whole_lines(blocks):
        column = _column(piece, number, record)
        number += piece.count(b"\n")
        record.add_rows("txt-entity", column, column.matches(r"&(?:amp|lt|gt|quot|apos);"))
        good = column.matches(r"(?i)^[a-z][a-z0-9+.-]*://[^\s]*$")
        record.add_rows("txt-line-not-url", column, ~good)
        yield column.where(good)
        strange += int((~good).sum())
        long += long_bytes(column.text)
        if long > MAX_LONG_BYTES:
            raise Stop("too-big-item", message=LONG)
        if strange > MAX_STRANGE_LINES:
            message = (
                f"More than {MAX_STRANGE_LINES:,} lines are no URLs: it is no text sitemap; reading stopped there."
            )
            raise Stop("unsupported-format", message=message)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    pending: list[bytes] = []
    size = open_line = rows = 0
    for block in blocks:
        pending.append(block)
        size += len(block)
        rows += block.count(b"\n")
        end = block.rfind(b"\n")
        open_line = open_line + len(block) if end < 0 else len(block) - end
        if open_line > MAX_LINE_BYTES:
            raise Stop("too-big-item", message="A line is longer than any URL can be; reading stopped.")
        if (size >= BATCH_BYTES or rows >= BATCH_ROWS) and end >= 0:
            whole, _, rest = b"".join(pending).rpartition(b"\n")
            yield whole + b"\n"
            pending, size, rows = [rest], len(rest), 0
    if size:
        yield b"".join(pending)


def _column(piece: bytes, number: int, record: Record) -> Column:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = number + piece.count(b"\n", 0, error.start)
        record.add("encoding", line=bad, message=f"The file is not UTF-8: byte {piece[error.start]:#04x}, line {bad}.")
        piece = piece.decode("utf-8", "replace").encode()
    ends = (np.frombuffer(piece, np.uint8) == ord("\n")).nonzero()[0] + 1
    text = pc.utf8_rtrim(cut(piece, np.concatenate([[0], ends, [len(piece)]]).astype(np.int32)), "\n\r\t ")
    line = np.arange(number, number + len(text))
    full = lengths(text) > 0
    return Column(text, line, line).where(full)
