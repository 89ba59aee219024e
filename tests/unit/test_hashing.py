"""The hash that cuts and names shards."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sitemap_ops.hashing import hash64

WORD = 0xFFFFFFFFFFFFFFFF


def reference(text: str) -> int:
    """The documented definition, one string at a time."""

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
        return x ^ (x >> 31)

    data = text.encode()
    golden = 0x9E3779B97F4A7C15
    total = sum(
        mix((int.from_bytes(data[at : at + 8], "little") + (at // 8 + 1) * golden) & WORD)
        for at in range(0, len(data), 8)
    )
    return mix((total + len(data) * golden) & WORD)


@given(st.lists(st.text(max_size=40)))
def test_equals_the_definition(texts: list[str]) -> None:
    """Every string's hash is the documented one, whatever stands beside it."""
    assert hash64(pa.array(texts, pa.string())).tolist() == [reference(text) for text in texts]


def test_never_changes() -> None:
    """Shards of every site are named by this hash: these values are for ever."""
    hashes = hash64(pa.array(["", "https://www.example.com/", "a" * 1000, None]))
    assert [f"{value:016x}" for value in hashes.tolist()] == [
        "0000000000000000",
        "838d61147c8c1d5b",
        "7c10ae0c03857981",
        "0000000000000000",
    ]


def test_slices_and_large_strings() -> None:
    """A slice of a column hashes as its own strings do, of either width of offsets."""
    texts = [f"https://www.example.com/p/{n}" for n in range(1000)]
    whole = hash64(pa.array(texts))
    assert np.array_equal(hash64(pa.array(texts).slice(300, 400)), whole[300:700])
    assert np.array_equal(hash64(pa.array(texts, pa.large_string())), whole)


def test_spreads_consecutive_ids() -> None:
    """Neighbours in a catalogue fall anywhere in the range: each of 16 bins holds about a sixteenth."""
    hashes = hash64(pa.array([f"https://www.example.com/p/{n}" for n in range(160_000)]))
    bins = np.bincount((hashes >> np.uint64(60)).astype(np.int64), minlength=16)
    assert bins.min() > 9_500
    assert bins.max() < 10_500
