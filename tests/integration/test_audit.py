"""The audit of a whole site: every seeded fault is found, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitemap_ops.audit import audit
from sitemap_ops.site.model import Audit
from tests.auditing import found, name_hosts, site_of
from tests.services.audited_site import FAULTS, HOST, Site, audited_site

SLOW = 4.0


def audited(folder: Path, monkeypatch: pytest.MonkeyPatch, site: Site, **asked: object) -> None:
    """Audits the site with every page in the sample, and compares."""
    name_hosts(monkeypatch, {HOST: "127.0.0.1"})
    with audited_site(site, SLOW) as port:
        root = f"http://{HOST}:{port}/"
        settings = Audit.model_validate(
            {"sample": site.urls, "rate": 1e6, "concurrency": 8, "slow": SLOW / 2, "allow_private": True} | asked
        )
        report = audit(site_of(folder, root), [f"{root}sitemap.xml"], settings).report
    assert found(report) == site.expected(root)
    assert report["urls"] == report["pages"]["asked"] == site.urls
    assert sum(kind["count"] for kind in report["counts"]) == len(report["findings"])
    assert report["worst"] == "error"
    # What robots.txt forbids was not asked for, what was cut short gave no answer; all others did.
    assert report["pages"]["statuses"]["none"] == 2 * site.repeat
    assert json.loads(json.dumps(report)) == report


@pytest.mark.integration
def test_every_seeded_fault_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: 5,000 pages, five of each fault: 404, 301, 302, noindex by header and meta, canonical, robots, ..."""
    assert len(FAULTS) == 24
    audited(tmp_path, monkeypatch, Site(5_000, 5))


@pytest.mark.full
def test_every_seeded_fault_of_a_large_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: the same of 100,000 pages."""
    audited(tmp_path, monkeypatch, Site(100_000, 10))
