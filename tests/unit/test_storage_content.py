"""The identity of an object: its content after gunzip."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from sitemap_ops.storage.content import DamagedContent, content_sha256, gunzip_blocks

XML = b"<?xml version='1.0'?>" + b"<url/>" * 50_000
ZIPPED = gzip.compress(XML)
DIGEST = hashlib.sha256(XML).hexdigest()


def test_digest_is_of_the_content_whatever_the_compression() -> None:
    """C-12: the change test hashes the uncompressed XML, so codec, level, clock and name don't matter."""
    assert {content_sha256([gzip.compress(XML, level, mtime=level)]) for level in (1, 6, 9)} == {DIGEST}
    assert content_sha256([XML]) == DIGEST


@pytest.mark.parametrize("step", [1, 2, 3, 1000])
def test_digest_does_not_depend_on_where_blocks_end(step: int) -> None:
    assert content_sha256(ZIPPED[at : at + step] or b"" for at in range(0, len(ZIPPED), step)) == DIGEST


def test_empty_objects_have_a_digest() -> None:
    empty = hashlib.sha256(b"").hexdigest()
    assert content_sha256([]) == content_sha256([b""]) == content_sha256([gzip.compress(b"")]) == empty


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ZIPPED[:-1], id="trailer cut"),
        pytest.param(ZIPPED[: len(ZIPPED) // 2], id="cut in the middle"),
        pytest.param(ZIPPED + b"x", id="bytes after the end"),
        pytest.param(ZIPPED + ZIPPED, id="two members (S3-13)"),
        pytest.param(ZIPPED[:-8] + b"\0" * 8, id="wrong checksum"),
        pytest.param(b"\x1f\x8b garbage", id="magic alone"),
    ],
)
def test_damaged_gzip_has_no_digest(body: bytes) -> None:
    """Damage is never taken for content: no digest, so it differs from whatever is wanted."""
    assert content_sha256([body]) is None
    with pytest.raises(DamagedContent):
        list(gunzip_blocks([body]))


def test_a_gzip_bomb_is_left_at_the_limit() -> None:
    """S3-08: a bomb of 1,000 to 1 is given up at the limit, some MiB into it, not after it."""
    bomb = gzip.compress(bytes(100_000_000), 9)
    read = 0
    with pytest.raises(DamagedContent, match="more than 5,000,000 bytes"):
        for block in gunzip_blocks([bomb], limit=5_000_000):
            read += len(block)
    assert read <= 5_000_000


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_gunzip_gives_all_of_it_at_any_size(size: int) -> None:
    assert b"".join(gunzip_blocks([gzip.compress(bytes(size), 9)])) == bytes(size)
