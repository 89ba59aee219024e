"""A million rows with known duplicates: exact, in bounded memory, and unchanged when nothing changed."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.services.product import sitemap_ops
from tests.services.shared import shared

pytestmark = pytest.mark.integration

SITE = """\
site: shop
base_url: https://www.example.com/
target: out/
work: work/
urls: {{drop_params: {dropped}}}
sections:
  - name: all
    source: {{type: csv, path: {inventory}}}
    lastmod: lastmod
    changefreq: changefreq
    priority: priority
"""


@pytest.fixture(scope="module")
def inventory() -> Iterator[Path]:
    generator = shared("bench", "gen_inventory.py")
    with TemporaryDirectory(prefix="sitemap-ops-") as folder:
        path = Path(folder) / "inventory.csv"
        arguments = ["-n", "1000000", "--seed", "7", "--jobs", "2", "-o", str(path)]
        subprocess.run([sys.executable, generator, *arguments], check=True, capture_output=True)
        yield path


def build(folder: Path, inventory: Path, dropped: str) -> dict[str, object]:
    (folder / "site.yaml").write_text(SITE.format(dropped=dropped, inventory=inventory))
    ran = sitemap_ops("build", "site.yaml", "--json", folder=folder)
    assert ran.code == 0, ran.err
    assert ran.peak_mib < 1024
    report: dict[str, object] = ran.json
    return report


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "out").iterdir()}


def test_exact_and_stable(inventory: Path, tmp_path: Path) -> None:
    """C-72: exactly the generator's number of unique URLs in under 1 GiB; building again uploads nothing and changes no
    byte, also with the rows shuffled."""
    meta = json.loads(Path(f"{inventory}.meta.json").read_text())
    report = build(tmp_path, inventory, "[utm_*, gclid, fbclid]")
    assert report["entries"] == meta["unique"]
    first = contents(tmp_path)

    again = build(tmp_path, inventory, "[utm_*, gclid, fbclid]")
    assert again["bytes"]["uploaded"] == 0  # type: ignore[index]
    assert contents(tmp_path) == first

    header, *rows = inventory.read_bytes().splitlines(keepends=True)
    random.Random(7).shuffle(rows)
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_bytes(header + b"".join(rows))
    again = build(tmp_path, shuffled, "[utm_*, gclid, fbclid]")
    assert again["bytes"]["uploaded"] == 0  # type: ignore[index]
    assert contents(tmp_path) == first


def test_tracking_parameters_kept(inventory: Path, tmp_path: Path) -> None:
    """Nothing is dropped unless named: with no drop_params a tracking parameter makes another URL."""
    meta = json.loads(Path(f"{inventory}.meta.json").read_text())
    assert build(tmp_path, inventory, "[]")["entries"] == meta["unique_keep_tracking"]
