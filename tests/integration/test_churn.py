"""How many files a changed page rewrites, by whole builds of a site of a million pages (issue 4, DESIGN 6).

The rule that cuts files is tried with far more edits by `python -m benchmarks.churn`, and in tests/properties.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.services.product import sitemap_ops

pytestmark = [pytest.mark.integration, pytest.mark.full, pytest.mark.timeout(1800)]

PAGES = 1_000_000
EDITS = 10
SITE = """\
site: shop
base_url: https://www.example.com/
target: out/
work: work/
sections:
  - {name: all, source: {type: parquet, path: pages.parquet}, loc: url, lastmod: changed}
"""


def test_a_changed_page_rewrites_two_files_at_most(tmp_path: Path, counted: Callable[[str, int], None]) -> None:
    """DESIGN 6, issue 4: ten builds, each after one edit of a million pages by chance, rewrite at most 2 files each, 1
    in the median; and in the end the same rows, in another order and without a history, give the same files."""
    chance = random.Random(7)
    pages = {f"/p/{chance.randrange(10**12):012d}": "2026-10-01" for _ in range(PAGES)}
    assert build(tmp_path, pages)["shards"]["total"] > 20
    rewritten = []
    for number in range(EDITS):
        edit(pages, chance, number)
        rewritten.append(build(tmp_path, pages)["churn"]["shards_rewritten"])
    counted("builds of 1,000,000 pages after an edit", EDITS)
    counted("files that they rewrote", sum(rewritten))
    assert max(rewritten) <= 2, rewritten
    assert min(rewritten) == median(rewritten) == 1, rewritten

    mixed = list(pages.items())
    chance.shuffle(mixed)
    other = tmp_path / "other"
    other.mkdir()
    build(other, dict(mixed))
    assert contents(other) == contents(tmp_path)


def edit(pages: dict[str, str], chance: random.Random, number: int) -> None:
    """One page changes, comes or leaves, by turns."""
    page = chance.choice(list(pages))
    if number % 3 == 0:
        pages[page] = "2026-11-30"
    elif number % 3 == 1:
        pages[f"/p/{chance.randrange(10**12):012d}"] = "2026-11-29"
    else:
        del pages[page]


def build(folder: Path, pages: dict[str, str]) -> dict[str, Any]:
    (folder / "site.yaml").write_text(SITE)
    pq.write_table(pa.table({"url": list(pages), "changed": list(pages.values())}), folder / "pages.parquet")
    ran = sitemap_ops("build", "site.yaml", "--json", folder=folder)
    assert ran.code == 0, ran.err
    report: dict[str, Any] = ran.json
    return report


def contents(folder: Path) -> dict[str, str]:
    """The sitemaps' digests; the index tells by lastmod when each changed, which is history."""
    files = (folder / "out").glob("*.xml.gz")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
