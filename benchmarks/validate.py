"""`python -m benchmarks.validate`: the validator beside a bare lxml iterparse, over one file of 50,000 URLs and 50 MB.

Both as whole processes, alternating: the seconds each took for the file alone, and the peak of memory of the process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Cost, cost, median

URLS = 50_000
NS = "http://www.sitemaps.org/schemas/sitemap/0.9"

BARE = """
import sys, time
from lxml import etree
start = time.perf_counter()
for _, element in etree.iterparse(sys.argv[1]):
    element.clear()
print(time.perf_counter() - start)
"""
OURS = """
import sys, time
from sitemap_ops.validate import validate
from sitemap_ops.validate import document, walk
from sitemap_ops.reading import opening, places
start = time.perf_counter()
found = validate(sys.argv[1])
assert found.urls == 50_000 and not found.counts, found.counts
print(time.perf_counter() - start)
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.validate", description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--loc-bytes", type=int, default=850, help="bytes of each URL (850: a file of 50 MB)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as name:
        folder = Path(name)
        sitemap = folder / "sitemap.xml"
        sitemap.write_text("".join(_lines(arguments.loc_bytes)), encoding="utf-8")
        print(f"{URLS:,} URLs, {sitemap.stat().st_size / 1e6:.1f} MB")
        runs: dict[str, list[Cost]] = {BARE: [], OURS: []}
        for _ in range(arguments.repeat):
            for code, costs in runs.items():
                whole = cost([sys.executable, "-c", code, sitemap], folder / "seconds")
                costs.append(Cost(float((folder / "seconds").read_text()), whole.cpu, whole.peak_mib))
        bare, ours = (median(costs) for costs in runs.values())
        print(f"bare iterparse  {bare.wall:6.2f} s  {bare.peak_mib:6.0f} MiB")
        print(f"validate        {ours.wall:6.2f} s  {ours.peak_mib:6.0f} MiB  {ours.wall / bare.wall:.1f} times")
    return 0


def _lines(loc_bytes: int) -> Iterator[str]:
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NS}">\n'
    for number in range(URLS):
        loc = f"https://www.example.com/{number}?a=1&amp;b=2&amp;c=".ljust(loc_bytes, "x")
        moment = f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00+00:00"
        rest = f"<changefreq>weekly</changefreq>\n<priority>0.{number % 10}</priority>\n"
        yield f"<url>\n<loc>{loc}</loc>\n<lastmod>{moment}</lastmod>\n{rest}</url>\n"
    yield "</urlset>\n"


if __name__ == "__main__":
    sys.exit(main())
