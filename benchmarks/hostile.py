"""`python -m benchmarks.hostile`: what `validate` and `import` take for each file that means harm, the worst first.

Seconds of CPU time, so that a busy machine matters less, and MiB of growth, both after start-up: one process for all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.hostile import FILES, UNFINISHED, outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.hostile", description=__doc__)
    parser.add_argument("--worst", type=int, default=15, help="how many of each command to print")
    worst = parser.parse_args().worst
    files = {name: make for name, (make, _) in FILES.items()} | UNFINISHED
    for command in ("validate", "import"):
        with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as folder:
            found = outcomes(command, files.items(), Path(folder))
        slowest = max(found, key=lambda one: one.cpu)
        largest = max(found, key=lambda one: one.growth)
        print(
            f"{command}: {len(found)} files, at most {slowest.cpu:.2f} s of CPU and {largest.growth:.0f} MiB of growth"
        )
        for one in sorted(found, key=lambda one: -max(one.cpu, one.growth / 50))[:worst]:
            print(f"  {one.cpu:5.2f} s {one.growth:5.0f} MiB  {one.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
