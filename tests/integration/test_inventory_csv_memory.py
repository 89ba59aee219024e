"""CSV: the memory of a read is bounded, however large the file and however slow its reader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

MEASURE = """
import json, re, sys, time
from sitemap_ops.inventory import read
from sitemap_ops.site import CsvSource

def high_water():  # not ru_maxrss, which is never below that of the process that started this one
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024

peaks = []
for path in sys.argv[1:]:
    rows = 0
    for chunk in read(CsvSource(type="csv", path=path), ("loc", "lastmod"), None):
        rows += len(chunk.rows)
        time.sleep(0.02)
    peaks.append(high_water())
print(json.dumps(peaks))
"""


def test_memory_stays_flat(tmp_path: Path) -> None:
    """A file four times as large (360 MB) needs no more memory: blocks are read ahead up to a limit only."""
    lines = "".join(
        f"https://www.example.com/p/some-product-{n:06},2024-05-01,weekly\n" for n in range(100_000)
    ).encode()
    files = [tmp_path / "small.csv", tmp_path / "large.csv"]
    for file, times in zip(files, (15, 60), strict=True):
        with file.open("wb") as out:
            out.write(b"loc,lastmod,changefreq\n")
            out.writelines([lines] * times)
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, files)],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    small, large = json.loads(done.stdout)
    assert large - small < 40, f"peak of {small:.0f} MiB grew to {large:.0f} MiB"
    assert large < 400
