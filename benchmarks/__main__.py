"""`make bench`: this project and the peers of ../shared/bench/peers, alternating, over one inventory.

Each run is a whole process, start-up included, from the inventory to gzip files. The peers read CSV and write into a
folder, and most neither clean nor look for duplicates; this project also keeps rejects, a report and a manifest, and
reads back what it wrote. Its output is checked for the exact number of unique URLs that the generator wrote down. The
table says how many times as fast as the best peer with valid output each is, and how many times the floor it takes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.floor import floor
from benchmarks.inventory import BENCH, Inventory, generate
from benchmarks.measure import Cost, busyness, median
from benchmarks.ours import Build, builds
from benchmarks.peers import INVALID, NAMES, Peer, judge, ready_peers
from benchmarks.servers import Servers

JUDGED_ROWS = 60_000
"""Enough for a second file."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000], help="sizes; a table for each")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; their medians are printed")
    parser.add_argument("--peers", nargs="*", choices=NAMES, default=NAMES, help="without a name: this project alone")
    parser.add_argument("--sources", nargs="+", choices=("csv", "parquet", "postgres"), default=["csv"])
    parser.add_argument("--targets", nargs="+", choices=("folder", "s3"), default=["folder"])
    arguments = parser.parse_args()
    if not BENCH.exists():
        print("The generator and the peers are in ../shared/bench, which is not beside this project.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as name, Servers(Path(name)) as servers:
        folder = Path(name)
        peers = list(ready_peers(folder, arguments.peers))
        verdicts = _verdicts(generate(JUDGED_ROWS, folder), peers)
        for rows in arguments.rows:
            inventory = generate(rows, folder)
            ours = list(builds(inventory, arguments.sources, arguments.targets, folder, servers))
            _compare(inventory, [*ours, *peers], arguments.repeat, verdicts)
            inventory.csv.unlink()
    return 0


def _verdicts(inventory: Inventory, peers: Sequence[Peer]) -> dict[str, str]:
    """What each peer's output is worth, by a run over a small inventory."""
    for peer in peers:
        peer.run(inventory)
    return {peer.name: judge(peer.out) for peer in peers}


def _compare(
    inventory: Inventory, contenders: Sequence[Build | Peer], repeat: int, verdicts: Mapping[str, str]
) -> None:
    """Run all of them by turns, and print the table."""
    costs: dict[str, list[Cost]] = {}
    print(f"{inventory.rows:,} rows, {inventory.unique:,} unique URLs; {busyness()}", flush=True)
    for _ in range(repeat):
        for each in contenders:
            try:
                costs.setdefault(each.name, []).append(each.run(inventory))
            except subprocess.CalledProcessError as error:
                print(f"{each.name} failed: {error}", file=sys.stderr)
    medians = {name: median(spent) for name, spent in costs.items() if spent}
    best = min((spent.wall for name, spent in medians.items() if verdicts.get(name, INVALID) != INVALID), default=None)
    bottom = next((floor(inventory.csv, each.out) for each in contenders if isinstance(each, Build) and each.out), None)
    print(f"{'':20}{'wall s':>8}{'CPU s':>8}{'peak MiB':>10}{'URLs/s':>10}{'best peer':>11}{'floor':>7}  valid")
    for name, spent in medians.items():
        beside = f"{best / spent.wall:10.2f}x" if best else f"{'':11}"
        above = f"{spent.wall / bottom:6.1f}x" if bottom else f"{'':7}"
        figures = f"{spent.wall:8.2f}{spent.cpu:8.2f}{spent.peak_mib:10.0f}{inventory.unique / spent.wall:10,.0f}"
        print(f"{name:20}{figures}{beside}{above}  {verdicts.get(name, '')}".rstrip())
    if bottom:
        print(f"{'floor':20}{bottom:8.2f}\n", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
