"""What the Spark engine does by itself, without Spark: cuts from a few candidates, and a partition's key ranges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.sharding import Piece, Sharder
from sitemap_ops.spark.cuts import FACTOR, Cut, Part, Unproven, candidates, cuts, threshold_of
from sitemap_ops.spark.ranges import key_ranges


def sharders_cuts(hashes: np.ndarray, lengths: np.ndarray, max_entries: int, max_bytes: int) -> list[Cut]:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sharder = Sharder(max_entries, max_bytes)
    rest, shards = Piece(offsets, np.zeros(offsets[-1], np.uint8), hashes), []
    while len(rest):
        piece, rest = rest.split(min(100_000, len(rest)))
        shards += sharder.add(piece)
    shards += sharder.finish()
    starts = np.concatenate([[0], np.cumsum([shard.entries for shard in shards])])
    return [Cut(int(start), shard.key) for start, shard in zip(starts, shards, strict=False)]


def asked(
    hashes: np.ndarray, lengths: np.ndarray, bounds: list[int], threshold: float, limits: tuple[int, int]
) -> list[Cut]:
    """The cuts as the driver finds them: parts are asked again until all cuts are proven."""
    spans = [slice(start, end) for start, end in zip([0, *bounds], [*bounds, len(hashes)], strict=True)]
    parts: list[Part] = [candidates(hashes[span], lengths[span], threshold) for span in spans]
    for _ in range(100):
        try:
            return cuts(parts, *limits)
        except Unproven as unproven:
            assert unproven.first < unproven.last <= len(parts)
            for place in range(unproven.first, unproven.last):
                more = parts[place].threshold * FACTOR
                parts[place] = candidates(hashes[spans[place]], lengths[spans[place]], more)
    raise AssertionError("asking again came to no end")


small_hashes = st.sampled_from([0, 1 << 11, 1 << 62, 1 << 63, 2**64 - 1])
entry_lists = st.lists(st.tuples(st.one_of(st.integers(0, 2**64 - 1), small_hashes), st.integers(1, 30)), max_size=150)


@given(
    entry_lists,
    st.integers(1, 20),
    st.integers(30, 200),
    st.lists(st.integers(0, 150), max_size=6),
    st.sampled_from([1e-9, 0.02, 0.125, 0.3, 1.0, 5.0]),
)
@settings(deadline=None, max_examples=150)
def test_cuts_from_candidates_are_the_sharders(
    entries: list[tuple[int, int]], max_entries: int, max_bytes: int, bounds: list[int], threshold: float
) -> None:
    """C-68, issue 5 item 4: whatever the parts and the first threshold, ties and equal hashes: the Sharder's cuts."""
    hashes = np.array([hash_ for hash_, _ in entries], np.uint64)
    lengths = np.array([length for _, length in entries], np.int64)
    bounds = sorted(min(bound, len(entries)) for bound in bounds)
    found = asked(hashes, lengths, bounds, threshold, (max_entries, max_bytes))
    assert found == (sharders_cuts(hashes, lengths, max_entries, max_bytes) if entries else [])


@pytest.mark.parametrize("limits", [(50_000, 10**9), (10**6, 2_000_000)])
def test_a_thousandth_of_the_entries_is_enough(limits: tuple[int, int]) -> None:
    """Issue 5 item 4: at the real limits the first thresholds prove all cuts, with few candidates."""
    random = np.random.default_rng(7)
    hashes = random.integers(0, 2**64, 400_000, np.uint64)
    lengths = random.integers(60, 300, len(hashes))
    parts = []
    for start in range(0, len(hashes), 60_000):
        part = slice(start, start + 60_000)
        threshold = threshold_of(len(hashes[part]), int(lengths[part].sum()), *limits)
        parts.append(candidates(hashes[part], lengths[part], threshold))
    assert cuts(parts, *limits) == sharders_cuts(hashes, lengths, *limits)
    assert sum(len(part.hashes) for part in parts) < 0.01 * len(hashes)


@given(st.lists(st.integers(0, 12), max_size=60), st.lists(st.integers(0, 60), max_size=6), st.integers(1, 9))
@settings(deadline=None)
def test_key_ranges_keep_rows_and_part_no_loc(numbers: list[int], bounds: list[int], rows: int) -> None:
    """Issue 5 item 4: however Spark batches a sorted partition, its ranges have all rows in order, and no loc twice."""
    locs = [f"https://a.example/{number:02}" for number in sorted(numbers)]
    whole = pa.table({"loc": pa.array(locs, pa.string())})
    starts = [0, *sorted(min(bound, len(locs)) for bound in bounds), len(locs)]
    batches = [whole.slice(a, b - a).to_batches() for a, b in pairwise(starts)]
    found = [each["loc"].to_pylist() for each in key_ranges([one for part in batches for one in part], rows)]
    assert [loc for each in found for loc in each] == locs
    assert all(found)
    assert all(one[-1] < two[0] for one, two in pairwise(found))
