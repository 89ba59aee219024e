"""From the bytes as stored to the bytes of the sitemap: at most one gzip layer, never past the limit.

What it is, is told by its magic bytes. Names and headers are not believed (S3-08): a reader has to cope with every
pairing of them (S3-04 to S3-07).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from sitemap_ops.engines import PROFILES
from sitemap_ops.reading.stop import Stop

BLOCK = 65_536
MAX_BYTES = PROFILES["core"].limits.max_bytes
MAX_MEMBERS = 50_000
"""Of one file: those that programs write one behind the other have some kilobytes each."""
GZIP = b"\x1f\x8b"
_ARCHIVES = {
    b"PK": "a zip archive",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"\x1f\x9d": "compress (.Z) data",
}


def with_head(chunks: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first `size` bytes (or all there are), and an iterator over everything, these included."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= size:
            break

    def everything() -> Iterator[bytes]:
        if head:
            yield head
        yield from chunks

    return head[:size], everything()


def unpack(chunks: Iterator[bytes], add: Callable[[str], None]) -> tuple[bool, Iterator[bytes]]:
    """Whether the bytes are gzip, and an iterator over the plain bytes.

    chunks: the bytes as stored, in pieces of any size. add: takes the code of a finding that does not end the reading
    (`gzip-multi-member`, `gzip-trailing-garbage`). The iterator raises Stop: `gzip-corrupt` (P-33), `gzip-double`
    (S3-07).
    """
    head, chunks = with_head(chunks, 6)
    if head.startswith(GZIP):
        return True, _inner(_inflate(chunks, add))
    for magic, name in _ARCHIVES.items():
        if head.startswith(magic):
            raise Stop("gzip-corrupt", message=f"The file is {name}; only gzip is allowed.")
    return False, chunks


def _inner(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head, chunks = with_head(chunks, 2)
    if head.startswith(GZIP):
        raise Stop("gzip-double")
    yield from chunks


def _inflate(chunks: Iterator[bytes], add: Callable[[str], None]) -> Iterator[bytes]:
    members = 0
    rest = b""
    while True:
        rest = yield from _member(rest, chunks)
        members += 1
        if len(rest) < len(GZIP):
            rest += next(chunks, b"")
        if not rest.startswith(GZIP):
            break
        if members == 1:
            add("gzip-multi-member")
        if members > MAX_MEMBERS:
            raise Stop("gzip-corrupt", message=f"The file has more than {MAX_MEMBERS:,} gzip members; reading stopped.")
    if rest:
        add("gzip-trailing-garbage")


def _member(pending: bytes, chunks: Iterator[bytes]) -> Generator[bytes, None, bytes]:
    """Inflate one gzip member of `pending` and then `chunks`; returns what was read and lies behind it."""
    from isal import isal_zlib

    inflater = isal_zlib.decompressobj(31)
    try:
        while not inflater.eof:
            pending = pending or next(chunks, b"")
            block = inflater.decompress(pending, BLOCK)
            if not block and not pending and not inflater.eof:
                raise Stop("gzip-corrupt", message="The gzip data ends in the middle: the file was cut short.")
            yield block
            pending = inflater.unconsumed_tail
    except isal_zlib.error as error:  # type: ignore[misc]  # isal's stubs say it is a value
        raise Stop("gzip-corrupt", message=f"The gzip data is damaged: {error}.") from None
    return bytes(inflater.unused_data)


def measured(chunks: Iterator[bytes], count: Callable[[int], None]) -> Iterator[bytes]:
    """The same bytes; tells `count` each piece's size before it is passed on. Raises Stop `too-large` past the limit.

    What fits is passed on first, so that a file's faults up to the limit are found (P-31, S3-08).
    """
    total = 0
    for chunk in chunks:
        count(len(chunk))
        room = MAX_BYTES - total
        total += len(chunk)
        if len(chunk) > room:
            yield chunk[:room]
            raise Stop("too-large")
        yield chunk
