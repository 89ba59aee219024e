"""DESIGN 6: both limits exact, a function of the entries alone, small churn."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.hashing import hash64
from sitemap_ops.sharding import Piece, Shard, Sharder


def piece(locs: list[str], sizes: list[int]) -> Piece:
    """Entries of given sizes; each one's bytes tell which entry it is."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    data = np.repeat(hash64(pa.array(locs, pa.string())).astype(np.uint8), sizes)
    return Piece(offsets, data, hash64(pa.array(locs, pa.string())))


def cut(pieces: list[Piece], max_entries: int, max_bytes: int) -> list[Shard]:
    sharder = Sharder(max_entries, max_bytes)
    return [shard for each in pieces for shard in sharder.add(each)] + list(sharder.finish())


def content(shard: Shard) -> bytes:
    return b"".join(part.data.tobytes() for part in shard.pieces)


def plan(locs: list[str], max_entries: int) -> dict[str, tuple[int, bytes]]:
    """A planner's view of a section: each shard by name."""
    return {
        shard.key: (shard.entries, content(shard)) for shard in cut([piece(locs, [3] * len(locs))], max_entries, 10**9)
    }


sections = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 30)), max_size=120, unique_by=lambda pair: pair[0])


@given(sections, st.integers(1, 20), st.integers(30, 200))
@settings(deadline=None)
def test_limits_and_completeness(section: list[tuple[int, int]], max_entries: int, max_bytes: int) -> None:
    """C-68, P-30, P-31: no shard is over either limit, none is empty; together they hold every entry once, in order."""
    locs = [f"https://a.example/{number}" for number, _ in section]
    sizes = [size for _, size in section]
    whole = piece(locs, sizes)
    shards = cut([whole], max_entries, max_bytes)
    assert all(0 < shard.entries <= max_entries and len(content(shard)) <= max_bytes for shard in shards)
    assert b"".join(map(content, shards)) == whole.data.tobytes()
    assert sum(shard.entries for shard in shards) == len(section)
    assert len({shard.key for shard in shards}) == len(shards)


@given(sections, st.integers(1, 20), st.integers(30, 200), st.lists(st.integers(0, 120), max_size=5))
@settings(deadline=None)
def test_arrival_does_not_matter(section: list[tuple[int, int]], entries: int, size: int, splits: list[int]) -> None:
    """The same entries give the same shards, in however many pieces they arrive."""
    locs = [f"https://a.example/{number}" for number, _ in section]
    whole = piece(locs, [length for _, length in section])
    pieces, rest, taken = [], whole, 0
    for at in sorted(splits):
        if taken < at <= len(whole):
            head, rest = rest.split(at - taken)
            pieces.append(head)
            taken = at
    in_pieces = cut([*pieces, rest], entries, size)
    assert [(s.key, s.entries, content(s)) for s in in_pieces] == [
        (s.key, s.entries, content(s)) for s in cut([whole], entries, size)
    ]


def test_both_limits_are_inclusive() -> None:
    """C-66: exactly the limit of entries, or of bytes, is one shard; one more makes two."""
    locs = [f"https://a.example/{number}" for number in range(11)]
    assert len(cut([piece(locs[:10], [5] * 10)], 10, 10**6)) == 1
    assert len(cut([piece(locs, [5] * 11)], 10, 10**6)) == 2
    assert len(cut([piece(locs, [5] * 11)], 100, 55)) == 1
    assert len(cut([piece(locs, [5] * 11)], 100, 54)) == 2


def test_one_edit_rewrites_at_most_two_shards() -> None:
    """DESIGN 6: one entry added or removed rewrites at most 2 shards in 99 % of cases (here: of 200 random edits)."""
    locs = sorted(f"https://a.example/p/{number * 7919 % 1_000_003}" for number in range(15_000))
    before = plan(locs, 1_500)
    random = np.random.default_rng(5)
    rewritten = []
    for edit in range(200):
        edited = locs.copy()
        at = int(random.integers(len(locs)))
        if edit % 2:
            del edited[at]
        else:
            edited.insert(at + 1, edited[at] + f"-{edit}")
        rewritten.append(sum(before.get(key) != shard for key, shard in plan(edited, 1_500).items()))
    assert np.mean(np.array(rewritten) <= 2) >= 0.99
    assert np.median(rewritten) == 1


def test_fill() -> None:
    """DESIGN 6: shards of a section of 10 and more are on average at least 70 % full, the last one apart."""
    fills = []
    for section in range(20):
        locs = sorted(f"https://a.example/{section}/{number}" for number in range(60_000))
        shards = cut([piece(locs, [3] * len(locs))], 4_000, 10**9)
        fills += [shard.entries / 4_000 for shard in shards[:-1]]
    assert np.mean(fills) >= 0.7
