"""`python -m benchmarks.churn`: how many shards an edit rewrites, and how full shards are (DESIGN 6), on the planner.

A site of a million entries; then one entry more or less at a random place, and 1,000 new entries at one place.
"""

from __future__ import annotations

import argparse

import numpy as np

from sitemap_ops.sharding import Piece, Sharder

LIMIT = 50_000
ENTRY_BYTES = 150


def plan(hashes: np.ndarray) -> dict[str, tuple[int, int]]:
    """Each shard's name with what tells its content: its entries' count and the sum of their hashes."""
    offsets = np.arange(len(hashes) + 1, dtype=np.int64) * ENTRY_BYTES
    sharder = Sharder(LIMIT, 52_428_800)
    piece = Piece(offsets, np.zeros(0, np.uint8), hashes)
    shards = [*sharder.add(piece), *sharder.finish()]
    return {shard.key: (shard.entries, sum(int(each.hashes.sum()) for each in shard.pieces)) for shard in shards}


def rewritten(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> int:
    return sum(before.get(key) != content for key, content in after.items())


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.churn", description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--single", type=int, default=500, help="edits of one entry")
    parser.add_argument("--block", type=int, default=200, help="insertions of 1,000 entries")
    arguments = parser.parse_args()
    random = np.random.default_rng(7)

    def new(count: int) -> np.ndarray:
        return random.integers(0, 2**64, count, dtype=np.uint64)

    site = new(arguments.entries)
    before = plan(site)
    fills = np.array([entries for entries, _ in list(before.values())[:-1]]) / LIMIT
    print(f"{len(before)} shards, {fills.mean():.1%} full on average, the last one apart")

    single = []
    for edit in range(arguments.single):
        at = int(random.integers(len(site)))
        edited = np.delete(site, at) if edit % 2 else np.insert(site, at, new(1))
        single.append(rewritten(before, plan(edited)))
    show("one entry added or removed", single)
    places = random.integers(0, len(site), arguments.block)
    show("1,000 entries at one place", [rewritten(before, plan(np.insert(site, at, new(1_000)))) for at in places])


def show(what: str, counts: list[int]) -> None:
    values = np.array(counts)
    shares = ", ".join(f"at most {n}: {np.mean(values <= n):.1%}" for n in (1, 2, 3, 6))
    print(f"{what}, {len(values)} times: median {np.median(values):.0f}, {shares}, most {values.max()}")


if __name__ == "__main__":
    main()
