"""The physical floor: reading the inventory's bytes once, and one pass of gzip over the sitemaps' bytes."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

from sitemap_ops.render.gzip import compress

_BLOCK_BYTES = 1 << 20


def floor(csv: Path, out: Path) -> float:
    """Seconds, for a CSV file and for the files that a build left in a folder; one core, and this project's codec."""
    spent = -time.perf_counter()
    with csv.open("rb") as file:
        while file.read(_BLOCK_BYTES):
            pass
    spent += time.perf_counter()
    for path in out.glob("*.xml.gz"):
        content = gzip.decompress(path.read_bytes())
        spent -= time.perf_counter()
        compress(content)
        spent += time.perf_counter()
    return spent
