"""A site of one section, from rows to what its published files hold."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from sitemap_ops.site import load_site
from tests.stepping import run_all

HOME = "https://a.example"
NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}"
SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
guards: {max_rejected: 1, max_drop: 1}
"""


@dataclass(frozen=True)
class Built:
    """What a run published. entries: by loc, each entry's values by tag; images: of each, by tag."""

    folder: Path
    report: dict[str, Any]
    entries: dict[str, dict[str, str]]
    images: dict[str, list[dict[str, str]]]
    rejects: dict[str, str]

    def body(self) -> str:
        """All published sitemaps, as text."""
        return "".join(gzip.decompress(path.read_bytes()).decode() for path in self.files())

    def files(self) -> list[Path]:
        return sorted((self.folder / "public").glob("*.xml.gz"))


def build(folder: Path, rows: Sequence[dict[str, str]], keys: str = "", section: str = "", day: int = 30) -> Built:
    """Run a site whose one section has these rows as CSV; loc is the column `url`."""
    folder.mkdir(exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    source = f"sections:\n  - {{name: all, source: {{type: csv, path: rows.csv}}, loc: url{section}}}\n"
    (folder / "site.yaml").write_text(SITE + keys + source)
    report = run_all(load_site(folder / "site.yaml"), day=day)
    rejects = gzip.decompress(
        (folder / ".sitemap-ops/shop/releases" / report["release"] / "rejects.csv.gz").read_bytes()
    )
    entries, images = {}, {}
    for path in (folder / "public").glob("*.xml.gz"):
        for url in etree.fromstring(gzip.decompress(path.read_bytes())).iter(f"{NS}url"):
            values = {tag.tag.removeprefix(NS): tag.text or "" for tag in url}
            entries[values["loc"]] = values
            images[values["loc"]] = [
                {tag.tag.removeprefix(IMAGE): tag.text or "" for tag in image} for image in url.iter(f"{IMAGE}image")
            ]
    reasons = {row["value"]: row["reason"] for row in csv.DictReader(io.StringIO(rejects.decode(), newline=""))}
    return Built(folder, report, entries, images, reasons)
