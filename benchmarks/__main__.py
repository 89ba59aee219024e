"""`make bench`: this project and the peers of ../shared/bench/peers, alternating, over one inventory.

Each run is a whole process, start-up included, from the CSV to gzip files in a folder. The peers clean and deduplicate
as an engineer would write it in an afternoon; this project also keeps rejects, a report, a manifest and reads back
what it wrote. Every output is checked for the exact number of unique URLs that the generator wrote down.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import ROOT, Cost, cost, median

BENCH = ROOT.parent / "shared" / "bench"
GZIP_LEVEL = "6"

SITE = """\
site: bench
base_url: https://www.example.com/
target: out/
state: state/
work: work/
urls: {drop_params: [utm_*, gclid, fbclid]}
sections:
  - name: all
    source: {type: csv, path: inventory.csv}
    loc: loc
    lastmod: lastmod
    changefreq: changefreq
    priority: priority
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=["plain_python"])
    arguments = parser.parse_args()
    if not BENCH.exists():
        print("The generator and the peers are in ../shared/bench, which is not beside this project.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as name:
        folder = Path(name)
        inventory = folder / "inventory.csv"
        generator = [
            sys.executable,
            BENCH / "gen_inventory.py",
            "-n",
            str(arguments.rows),
            "--seed",
            "7",
            "--jobs",
            "2",
        ]
        cost([*generator, "-o", inventory], folder / "generator.txt")
        unique = json.loads(Path(f"{inventory}.meta.json").read_text())["unique"]
        (folder / "site.yaml").write_text(SITE)
        costs: dict[str, list[Cost]] = {}
        for _ in range(arguments.repeat):
            costs.setdefault("sitemap-ops", []).append(_ours(folder, unique))
            for peer in arguments.peers:
                costs.setdefault(peer, []).append(_peer(peer, inventory, folder))
    _print({name: median(each) for name, each in costs.items()}, unique)
    return 0


def _ours(folder: Path, unique: int) -> Cost:
    for written in ("out", "state", "work"):
        shutil.rmtree(folder / written, ignore_errors=True)
    report = folder / "report.json"
    spent = cost([sys.executable, "-m", "sitemap_ops", "build", folder / "site.yaml", "--json"], report)
    entries = json.loads(report.read_text())["entries"]
    if entries != unique:
        raise SystemExit(f"{entries} entries were written; the inventory has {unique} unique URLs")
    return spent


def _peer(peer: str, inventory: Path, folder: Path) -> Cost:
    out = folder / peer
    shutil.rmtree(out, ignore_errors=True)
    return cost([sys.executable, BENCH / "peers" / f"{peer}.py", inventory, out, GZIP_LEVEL], folder / f"{peer}.txt")


def _print(costs: dict[str, Cost], unique: int) -> None:
    ours = costs["sitemap-ops"]
    print(f"{'':16}{'wall s':>8}{'CPU s':>8}{'peak MiB':>10}{'URLs/s':>10}{'times ours':>12}")
    for name, spent in costs.items():
        rate, ratio = unique / spent.wall, spent.wall / ours.wall
        print(f"{name:16}{spent.wall:8.2f}{spent.cpu:8.2f}{spent.peak_mib:10.0f}{rate:10,.0f}{ratio:12.1f}")


if __name__ == "__main__":
    raise SystemExit(main())
