"""A site on disk, run step by step from CSV files to a folder."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.site import Site, load_site
from sitemap_ops.steps import assemble, extract, prepare, publish

SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
guards: {max_rejected: 1}
"""
TWO_SECTIONS = """\
sections:
  - {name: products, source: {type: csv, path: products.csv}, loc: "/p/{slug}", lastmod: changed, priority: 1}
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}
"""
AS_OF = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
CONNECTIONS = EnvironmentConnections()


def make_site(folder: Path, rest: str = TWO_SECTIONS, **files: str) -> Site:
    """A site file with its inventories; by default two sections that share a URL."""
    files = {
        "products": "slug,changed\nred,2026-10-01\nblue,2026-10-02T10:00:00+03:00\n",
        "pages": "url\n/\n/p/red\nftp://a.example/\n",
    } | files
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    (folder / "site.yaml").write_text(SITE + rest)
    return load_site(folder / "site.yaml")


def run_all(site: Site, *, day: int = 30, **options: Any) -> dict[str, Any]:
    run = prepare(site, run_id=f"run-{day}", as_of=AS_OF.replace(day=day))
    parts = [extract(site, run, section.name, CONNECTIONS) for section in site.sections]
    return publish(site, run, assemble(site, run, parts, CONNECTIONS), CONNECTIONS, **options)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "public").glob("[!.]*")}


def locs(folder: Path) -> set[str]:
    """What the files hold that the index lists."""
    files = files_of(folder)
    listed = re.findall("<loc>https://a.example/(.*?)</loc>", files["sitemap.xml"].decode())
    return {loc for key in listed for loc in re.findall("<loc>(.*?)</loc>", gzip.decompress(files[key]).decode())}
