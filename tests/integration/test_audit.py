"""The audit of a whole site: every seeded fault is found, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemap_ops.audit import audit
from sitemap_ops.site import Audit
from tests.auditing import found, name_hosts, site_of
from tests.services.airflow import Airflow
from tests.services.audited_site import FAULTS, HOST, Site, audited_site
from tests.services.product import sitemap_ops
from tests.services.web import Answer, WebService, web_service
from tests.unit.test_audit_addresses import sitemap

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


SITE = """\
site: shop
base_url: {url}
target: {folder}/public
state: {folder}/state
audit: {{sample: 2, rate: 100, allow_private: true}}
sections:
  - name: pages
    source: {{type: csv, path: pages.csv}}
"""


@pytest.fixture
def web() -> Iterator[WebService]:
    """A site of three pages, of which one is gone."""
    with web_service() as service:
        service.answers |= {f"/{name}": Answer(b"<p>", 200, {"Content-Type": "text/html"}) for name in "ab"}
        service.answers["/sitemap.xml"] = sitemap("urlset", *(f"{service.url}{name}" for name in "abc"))
        yield service


@pytest.mark.integration
def test_command(tmp_path: Path, web: WebService) -> None:
    """What was found and where the report lies; --json is the report alone; the exit code says how bad it is."""
    (tmp_path / "shop.yaml").write_text(SITE.format(url=web.url, folder=tmp_path))
    shown = sitemap_ops("audit", "shop.yaml", "--sample", "3", folder=tmp_path)
    assert shown.code == 1, shown.err
    assert re.search(r"error +P-54 +1 +A listed page does not answer 200\.", shown.out)
    assert f"{web.url}c The server answers 404. '404'" in shown.out
    assert "pages asked for: 3 (200 2, 404 1)" in shown.out
    (uri,) = re.findall(r"^report: file://(.*)$", shown.out, re.MULTILINE)
    kept = json.loads(Path(uri).read_text())
    assert kept["pages"]["statuses"] == {"200": 2, "404": 1}
    plain = sitemap_ops("audit", "shop.yaml", "--seed", "9", "--sample", "1", "--json", folder=tmp_path)
    assert (plain.json["pages"]["asked"], plain.json["pages"]["seed"]) == (1, 9)
    assert len(list((tmp_path / "state" / "audits").iterdir())) == 2


@pytest.mark.integration
def test_command_refuses_a_private_site(tmp_path: Path, web: WebService) -> None:
    """A site at a private address is a mistake of the site file, told in one sentence, exit code 2."""
    (tmp_path / "shop.yaml").write_text(
        SITE.format(url=web.url, folder=tmp_path).replace("allow_private: true", "seed: 1")
    )
    done = sitemap_ops("audit", "shop.yaml", folder=tmp_path)
    assert (done.code, done.out, web.asked) == (2, "", [])
    assert "is 127.0.0.1, a private address, which audit.allow_private has to allow in the site file." in done.err


@pytest.mark.integration
def test_wrong_call(tmp_path: Path) -> None:
    """A number that is none is the caller's mistake."""
    assert sitemap_ops("audit", "shop.yaml", "--sample", "-3", folder=tmp_path).code == 2


@pytest.mark.integration
@pytest.mark.airflow
def test_dag(tmp_path: Path, web: WebService, airflow: Airflow) -> None:
    """Issue 6: the DAG leaves its report in `state`, the asset's event carries the counts; findings fail nothing."""
    airflow.add_site("shop", SITE.format(url=web.url, folder=tmp_path))
    tested = airflow.test_dag("sitemap_audit__shop", {"logical_date": False})
    assert tested.returncode == 0, tested.output[-6000:]
    assert tested.states() == [{"audit": ["success"]}]
    (row,) = airflow.query("SELECT uri, asset_event.extra FROM asset_event JOIN asset ON asset.id = asset_id")
    facts = json.loads(row["extra"])
    assert (facts["urls"], facts["pages"], facts["worst"]) == (3, 2, "error")
    assert facts["index"] == f"{web.url}sitemap.xml"
    assert facts["error"] == sum(
        facts["codes"][code] for code in facts["codes"] if code in ("host-private", "page-status")
    )
    kept = json.loads(Path(facts["report"].removeprefix("file://")).read_text())
    assert kept["totals"] == {level: facts[level] for level in ("error", "warning", "info")}
