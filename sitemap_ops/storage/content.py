"""What an object holds once its gzip layer, if it has one, is taken off: the identity that manifests record.

Compressed bytes differ between codecs and machines, the content does not (C-12); so digests are of the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain

from isal import isal_zlib

GZIP_MAGIC = b"\x1f\x8b"
MAX_CONTENT_BYTES = 1 << 30
"""Content beyond this is not read: no file of this project comes near it, a gzip bomb does."""

_GZIP_WINDOW = 31
_BLOCK = 1 << 20


class DamagedContent(ValueError):
    """The bytes are not one whole gzip stream of a bearable size."""


def gunzip_blocks(blocks: Iterable[bytes], *, limit: int = MAX_CONTENT_BYTES) -> Iterator[bytes]:
    """The content of a single-member gzip stream (S3-13), some MiB at most at a time.

    Raises DamagedContent where it is cut short, has bytes after its end, or is longer than `limit` bytes.
    """
    stream = isal_zlib.decompressobj(_GZIP_WINDOW)
    size = 0
    try:
        for block in blocks:
            if stream.eof and block:
                raise DamagedContent("bytes follow the end of the gzip stream")
            while not stream.eof:
                content = stream.decompress(block, _BLOCK)
                size += len(content)
                if size > limit:
                    raise DamagedContent(f"more than {limit:,} bytes after decompression")
                yield content
                block = stream.unconsumed_tail
                if not block and len(content) < _BLOCK:
                    break
    except isal_zlib.error as error:  # type: ignore[misc]
        raise DamagedContent(f"not a gzip stream ({error})") from None
    if not stream.eof:
        raise DamagedContent("the gzip stream is cut short")
    if stream.unused_data:
        raise DamagedContent("bytes follow the end of the gzip stream")


def content_sha256(blocks: Iterable[bytes]) -> str | None:
    """Hex SHA-256 of the content: after gunzip where the bytes are gzip; None where that gzip is damaged or endless."""
    digest = hashlib.sha256()
    incoming = iter(blocks)
    start = b""
    while len(start) < len(GZIP_MAGIC) and (block := next(incoming, b"")):
        start += block
    whole = chain([start], incoming)
    try:
        for block in gunzip_blocks(whole) if start.startswith(GZIP_MAGIC) else whole:
            digest.update(block)
    except DamagedContent:
        return None
    return digest.hexdigest()
