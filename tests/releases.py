"""Runs of a small site by the real steps, into folders: what the pages that show releases are tested with."""

from __future__ import annotations

import html
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sitemap_ops.audit.crawl import Crawled
from sitemap_ops.audit.report import build_audit_report
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import GuardError
from sitemap_ops.report.archive import Archive
from sitemap_ops.site import Audit, Site, load_site
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from sitemap_ops.storage.folder import FolderStore
from sitemap_ops.validate import validate

FIRST = datetime(2026, 11, 1, 3, 0, tzinfo=UTC)
CONNECTIONS = EnvironmentConnections()

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
"""A row's value that would run in a page which shows it as it is."""

SITE = """\
site: shop
base_url: https://www.shop.example/
target: public/
state: state/
work: work/
schedule: null
guards: {{max_drop: 0.5, max_rejected: 0.9}}
{keys}sections:
  - {{name: products, source: {{type: csv, path: products.csv}}, loc: url}}
  - {{name: pages, source: {{type: csv, path: pages.csv}}, loc: url}}
"""


def small_site(folder: Path, keys: str = "") -> Site:
    """A site file with two sections, their inventories yet to come."""
    (folder / "shop.yaml").write_text(SITE.format(keys=keys))
    return load_site(folder / "shop.yaml")


def run(site: Site, day: int, products: int, *, run_id: str = "", **options: Any) -> dict[str, Any]:
    """One run with so many products, and hostile rows; gives its report, also where a guard stopped it."""
    urls = [f"/p/{number}" for number in range(products)]
    (site.folder / "products.csv").write_text("\n".join(["url", *urls]) + "\n")
    quoted = HOSTILE.replace('"', '""')
    (site.folder / "pages.csv").write_text(f'url\n/\n"https://other.example/{quoted}"\n"ftp://x/\u202e{quoted}"\n')
    made = prepare(site, run_id=run_id or f"scheduled__day-{day}", as_of=FIRST + timedelta(days=day))
    parts = [extract(site, made, section.name, CONNECTIONS) for section in site.sections]
    try:
        return publish(site, made, assemble(site, made, parts, CONNECTIONS), CONNECTIONS, **options)
    except GuardError as stopped:
        assert stopped.report
        return stopped.report
    finally:
        cleanup(site, made, CONNECTIONS)


def archive(site: Site) -> Archive:
    return Archive(FolderStore(site.folder / "state"), site.site)


def audited(site: Site) -> str:
    """An audit's report, kept as the audit keeps it: the findings of a hostile file, and of pages. Gives its name."""
    bad = site.folder / "bad.xml"
    bad.write_text(f"<urlset><url><loc>{html.escape(HOSTILE)}</loc></url></urlset>")
    validation = validate(str(bad), connections=CONNECTIONS, base_url=site.base_url)
    crawled = Crawled(Counter({"200": 40, "404": 2}), [0.1, 0.2])
    times = {"started": FIRST, "finished": FIRST + timedelta(minutes=5)}
    report = build_audit_report(site, Audit(), [f"{site.base_url}sitemap.xml"], validation, crawled, **times)
    name = "20261101T030000Z-aaaaaaaa"
    (site.folder / "state/audits").mkdir(parents=True, exist_ok=True)
    (site.folder / "state/audits" / f"{name}.json").write_text(json.dumps(report))
    return name
