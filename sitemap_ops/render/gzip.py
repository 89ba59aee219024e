"""Gzip that gives the same bytes for the same content: one member, no clock, no file name (S3-12, S3-13, C-12)."""

from __future__ import annotations

from isal import isal_zlib

LEVEL = 2
"""Of ISA-L's: ten times as fast as zlib 6 on one core, for 22 % more bytes (docs/performance.md has the figures)."""

_GZIP_WINDOW = 31


def compress(content: bytes) -> bytes:
    """The content as one gzip member. It is taken whole: in pieces, their borders would show in the bytes."""
    compressor = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, _GZIP_WINDOW)
    return b"".join([compressor.compress(content), compressor.flush()])
