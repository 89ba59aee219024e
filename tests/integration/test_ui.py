"""The Sitemaps page of a real API server that lies below a path, over releases of real runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest
from fastapi.routing import APIRoute
from lxml import html

from sitemap_ops.site import Site
from sitemap_ops.storage import Headers
from tests.releases import HOSTILE, archive, audited, run, small_site
from tests.services.airflow import Airflow, new_airflow
from tests.services.api_server import ApiServer, api_server
from tests.services.s3 import REGION, S3Service

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PATH = "/airflow"
DAG_ID = "sitemaps__shop"
APP = f"{PATH}/sitemap-ops"


@dataclass(frozen=True)
class Ui:
    """A server over one site: two releases by the command line's steps, one by Airflow, then a stopped run."""

    server: ApiServer
    site: Site
    airflow: Airflow
    releases: list[str]
    """Newest first; the first one is Airflow's, and live."""
    stopped: str
    audit: str
    run_id: str
    viewer: httpx.Client = field(repr=False)

    def page(self, path: str, status: int = 200) -> Any:
        answer = self.viewer.get(f"/sitemap-ops{path}")
        assert answer.status_code == status, answer.text[:2000]
        return html.document_fromstring(answer.text)


@pytest.fixture(scope="module")
def ui(airflow_database: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    airflow = new_airflow(airflow_database, tmp_path_factory.mktemp("ui"))
    site = small_site(airflow.dags / "sites")
    run(site, 1, 10)
    run(site, 2, 15)
    tested = airflow.test_dag(DAG_ID)
    assert tested.returncode == 0, tested.output[-4000:]
    releases = [outcome.release for outcome in archive(site).released(9)]
    stopped = run(site, 700, 1)["release"]
    run_id = airflow.query("SELECT run_id FROM dag_run")[0]["run_id"]
    with api_server(airflow, PATH) as server, server.client("viewer") as viewer:
        yield Ui(server, site, airflow, releases, stopped, audited(site), run_id, viewer)


def routes() -> list[tuple[str, set[str]]]:
    """Path and methods of everything that the app answers to, of the app itself, so that none can be forgotten."""
    from airflow.api_fastapi.app import create_auth_manager

    from sitemap_ops.airflow.ui.app import create_app

    create_auth_manager()
    found = create_app().routes
    assert all(isinstance(route, APIRoute) for route in found), "a mount would be open to all"
    return [(route.path, route.methods) for route in found if isinstance(route, APIRoute)]


def filled(ui: Ui, path: str) -> str:
    """A route's path with values for which it has something to show."""
    values = {"dag_id": DAG_ID, "release": ui.releases[0], "run_id": ui.run_id, "name": "app.css", "audit": ui.audit}
    query = f"?old={ui.releases[1]}&new={ui.releases[0]}" if "/diff" in path else ""
    return "/sitemap-ops" + re.sub(r"\{(\w+)\}", lambda match: values[match[1]], path) + query


def test_nothing_without_a_login(ui: Ui) -> None:
    """Each route of the app: a browser is sent to the login and back, a program gets 401, neither gets data."""
    known = routes()
    assert len(known) >= 7
    with ui.server.client() as browser, ui.server.client(accept="application/json") as program:
        for path, _ in known:
            wanted = filled(ui, path)
            asked = browser.get(wanted)
            assert asked.status_code == 307, wanted
            login = urlsplit(asked.headers["location"])
            assert login.path == f"{PATH}/auth/login"
            assert parse_qs(login.query)["next"] == [f"{PATH}{wanted}"]
            refused = program.get(wanted)
            assert (refused.status_code, refused.json()) == (401, {"detail": "Not authenticated"}), wanted
            forged = program.get(wanted, headers={"Authorization": "Bearer e30.e30.e30"})
            assert forged.status_code in (401, 403), wanted
            assert "shop" not in asked.text + refused.text + forged.text


def test_nothing_of_a_site_without_the_permission_to_read_its_dag(ui: Ui) -> None:
    """A user without permissions gets 403 for each page of a site, and a list without it."""
    with ui.server.client("nobody") as nobody:
        assert "shop" not in nobody.get("/sitemap-ops/").text
        for path, _ in routes():
            if "{dag_id}" in path:
                refused = nobody.get(filled(ui, path))
                assert refused.status_code == 403, path
                assert "shop.example" not in refused.text


def test_only_reading(ui: Ui) -> None:
    """There are GET routes only, whatever they are asked with; and asking changes nothing in the site's places."""
    before = {path: path.stat().st_mtime_ns for path in ui.site.folder.rglob("*")}
    for path, methods in routes():
        assert methods == {"GET"}, path
        ui.viewer.get(filled(ui, path))
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert ui.viewer.request(method, filled(ui, path)).status_code == 405, path
    assert {path: path.stat().st_mtime_ns for path in ui.site.folder.rglob("*")} == before


def test_every_page_forbids_what_it_does_not_need(ui: Ui) -> None:
    """No inline script or style, no foreign source, no foreign frame, nothing kept in a shared cache."""
    for path, _ in routes():
        answer = ui.viewer.get(filled(ui, path))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'self'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"].startswith(("no-store", "private"))
        if answer.headers.get("content-type", "").startswith("text/html"):
            tree = html.document_fromstring(answer.text)
            assert tree.xpath("//script[not(@src)] | //style | //@style | //@onclick") == [], path


def test_every_link_leads_somewhere(ui: Ui) -> None:
    """From the list of sites all links inside the app, below Airflow's own path, are followed: each is a page."""
    to_see, seen = [f"{APP}/"], set()
    while to_see:
        path = to_see.pop()
        seen.add(path)
        answer = ui.viewer.get(path.removeprefix(PATH))
        assert answer.status_code == 200, path
        tree = html.document_fromstring(answer.text)
        for link in tree.xpath("//a[not(@target)]/@href | //link/@href | //script/@src"):
            url = str(httpx.URL(f"http://host{path}").join(link)).removeprefix("http://host")
            assert url.startswith(f"{APP}/"), (path, link)
            if url not in seen and "/static/" not in url:
                to_see.append(url)
    assert len(seen) >= 9


def text_of(tree: Any) -> str:
    return re.sub(r"\s+", " ", " ".join(tree.xpath(".//text()")))


def test_all_sites_at_a_glance(ui: Ui) -> None:
    """The list has each site's last release, entries, rejects, churn, guards, last and next run."""
    page = ui.page("/")
    (row,) = page.xpath("//tbody/tr")
    told = text_of(row)
    for expected in ("shop", "stopped by max_drop", "16", "11.1 %", "0 of 2", "success", "paused"):
        assert expected in told
    assert row.xpath(f".//a[@target='_top' and contains(@href, '{PATH}/dags/{DAG_ID}/runs/')]")


def test_a_site(ui: Ui) -> None:
    """A site's page has charts with their figures, rejects as text, robots.txt's lines, and all runs with links."""
    page = ui.page(f"/dags/{DAG_ID}/")
    charts = [figure.xpath("string(figcaption)") for figure in page.xpath("//figure")]
    assert charts == [
        "Entries by section", "Rejects by reason", "Shards rewritten", "Bytes uploaded", "Findings of audits",
    ]  # fmt: skip
    for figure in page.xpath("//figure"):
        assert figure.xpath(".//svg[@role='img' and @aria-label]")
    assert [len(figure.xpath(".//tbody/tr")) for figure in page.xpath("//figure")] == [3, 3, 3, 3, 1]
    figures = page.xpath("(//figure)[1]//tbody/tr[1]//text()[normalize-space()]")
    assert figures[1:] == ["15", "1"]
    assert "Sitemap: https://www.shop.example/sitemap.xml" in text_of(page)
    assert "<script>alert(1)</script>" in text_of(page)
    assert "A guard stopped the run" in text_of(page)
    outcomes = [row.xpath("string(td[3])").strip() for row in page.xpath("//form//tbody/tr")]
    assert outcomes == ["stopped by a guard", "live", "published", "published"]
    states = [row.xpath("string(td[last()])").strip() for row in page.xpath("//form//tbody/tr")]
    assert states == ["not in Airflow", "success", "not in Airflow", "not in Airflow"]


def test_hostile_values_make_no_markup(ui: Ui) -> None:
    """A rejected value with markup and script in it is text on every page that shows it."""
    for path in ("", f"releases/{ui.releases[0]}", f"audits/{ui.audit}"):
        page = ui.page(f"/dags/{DAG_ID}/{path}")
        assert HOSTILE in text_of(page)
        assert page.xpath("//img | //script[not(@src)]") == []


def test_a_run_leads_to_its_release_and_back(ui: Ui) -> None:
    """The link of Airflow's task leads to the run's release, whose page leads to the run; a stopped one says why."""
    answer = ui.viewer.get(f"/sitemap-ops/dags/{DAG_ID}/runs/{ui.run_id}")
    assert answer.status_code == 307
    assert answer.headers["location"] == f"{APP}/dags/{DAG_ID}/releases/{ui.releases[0]}"
    page = ui.page(f"/dags/{DAG_ID}/releases/{ui.releases[0]}")
    (back,) = page.xpath("//a[contains(@href, '/runs/')]/@href")
    assert back == f"{PATH}/dags/{DAG_ID}/runs/{quote(ui.run_id, safe='')}"
    stopped = text_of(ui.page(f"/dags/{DAG_ID}/releases/{ui.stopped}"))
    assert "stopped by a guard" in stopped and "max_drop" in stopped


def test_buttons_of_the_publish_task(ui: Ui) -> None:
    """Airflow gives the publish task two links: to the release's page in its own frame, and to the live index."""
    task = f"/api/v2/dags/{DAG_ID}/dagRuns/{ui.run_id}/taskInstances"
    links = ui.viewer.get(f"{task}/publish/links").json()["extra_links"]
    assert links["Sitemap index"] == "https://www.shop.example/sitemap.xml"
    inside = links["Sitemap release"].removeprefix(f"{PATH}/plugin/sitemaps{PATH}")
    assert ui.viewer.get(inside).status_code == 307
    others = ui.viewer.get(f"{task}/assemble/links").json()["extra_links"]
    assert set(others.values()) <= {None}


def test_shards_sorted_and_found(ui: Ui) -> None:
    """The files of a release can be sorted by each column and found by name or by a URL that is in them."""
    base = f"/dags/{DAG_ID}/releases/{ui.releases[0]}/shards"

    def sections(query: str) -> list[str]:
        return [str(row.xpath("string(td[1])")) for row in ui.page(f"{base}?{query}").xpath("//tbody/tr")]

    assert sections("sort=entries") == ["pages", "products"]
    assert sections("sort=-entries") == ["products", "pages"]
    assert sections("sort=nonsense&p=99") == ["pages", "products"]
    assert sections("q=https://www.shop.example/p/3") == ["products"]
    assert sections("q=nothing") == []
    assert ui.page(f"{base}?sort=-entries").xpath("//th[@aria-sort='descending']")


def test_an_audit(ui: Ui) -> None:
    """The newest audits are on the site's page, with their findings; each has a page with what was found where."""
    (row,) = ui.page(f"/dags/{DAG_ID}/").xpath("//div[@aria-label='Audits']//tbody/tr")
    page = ui.page(f"/dags/{DAG_ID}/audits/{ui.audit}")
    errors = page.xpath("string(//div[dt='Errors']/dd)")
    assert row.xpath("string(td[1])") == errors != "0"
    assert "404 2" in text_of(page)
    assert "loc-not-absolute" in text_of(page) or "foreign-host" in text_of(page)


def test_two_releases_compared(ui: Ui) -> None:
    """The form on a site's page compares any two releases."""
    page = ui.page(f"/dags/{DAG_ID}/")
    action = page.xpath("//form/@action")[0].removeprefix(APP)
    chosen = {name: page.xpath(f"//input[@name='{name}' and @checked]/@value")[0] for name in ("old", "new")}
    assert [chosen["new"], chosen["old"]] == ui.releases[:2]
    assert "Both releases have the same files" in text_of(ui.page(f"{action}?old={chosen['old']}&new={chosen['new']}"))
    (row,) = ui.page(f"{action}?old={ui.releases[2]}&new={ui.releases[0]}").xpath("//section[2]//tbody/tr")
    assert row.xpath("td//text()")[-3:] == ["10", "15", "+5"]
    urls = ui.page(f"{action}/urls?old={ui.releases[2]}&new={ui.releases[0]}").xpath("//tbody/tr/td[1]//text()")
    assert urls == [f"https://www.shop.example/p/{number}" for number in (10, 11, 12, 13, 14)]


@pytest.mark.parametrize(
    "path",
    [
        "/dags/sitemaps__other/",
        f"/dags/{DAG_ID}/releases/20200101T000000Z-00000000",
        f"/dags/{DAG_ID}/releases/20200101T000000Z-00000000/shards",
        f"/dags/{DAG_ID}/diff?old=a&new=b",
        f"/dags/{DAG_ID}/runs/scheduled__nothing",
        f"/dags/{DAG_ID}/audits/nothing",
        "/static/../app.py",
        "/nothing",
    ],
)
def test_what_is_not_there(ui: Ui, path: str) -> None:
    """What is not there is a page that says so."""
    assert "Not found" in text_of(ui.page(path, 404))


def test_ids_cannot_leave_the_state(ui: Ui) -> None:
    """A release's id that would lead elsewhere in the store, or out of it, shows nothing."""
    for release in ("..", "%2e%2e", "..%2f..%2fpublic", "x%00y", "a%5cb"):
        answer = ui.viewer.get(f"/sitemap-ops/dags/{DAG_ID}/releases/{release}/shards")
        assert answer.status_code in (404, 502), release


def test_unreadable_records_are_told(ui: Ui) -> None:
    """Records that can't be read are one sentence on the site's page, and one line in the list of sites."""
    current = ui.site.folder / "state/current.json"
    body = current.read_text()
    current.write_text("{")
    try:
        assert "is damaged" in text_of(ui.page("/"))
        assert "is damaged" in text_of(ui.page(f"/dags/{DAG_ID}/", 502))
    finally:
        current.write_text(body)


def test_airflow_lists_the_plugin(ui: Ui) -> None:
    """Airflow took the plugin whole, with no error, and offers the page in its menu by a relative address."""
    assert ui.viewer.get("/api/v2/plugins/importErrors").json()["total_entries"] == 0
    (plugin,) = (each for each in ui.viewer.get("/api/v2/plugins").json()["plugins"] if each["name"] == "sitemap_ops")
    (view,) = plugin["external_views"]
    assert (view["destination"], view["href"], view["url_route"]) == ("nav", "sitemap-ops/", "sitemaps")


def test_records_on_s3(tmp_path: Path, s3_service: S3Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site whose state is on S3 is read by its Airflow connection; one that is missing is named on the page."""
    from sitemap_ops.airflow.ui.overview import standings
    from sitemap_ops.airflow.ui.sites import ListedSite

    site = small_site(tmp_path)
    report = run(site, 1, 10)
    bucket = s3_service.create_bucket()
    store = s3_service.store(bucket, "private")
    for file in (path for path in (tmp_path / "state").rglob("*") if path.is_file()):
        store.upload(file, file.relative_to(tmp_path / "state").as_posix(), Headers("application/octet-stream"))
    connection = {
        "conn_type": "aws",
        "login": s3_service.access_key,
        "password": s3_service.secret_key,
        "extra": {"endpoint_url": s3_service.endpoint_url, "region_name": REGION},
    }
    monkeypatch.setenv("AIRFLOW_CONN_UI_S3", json.dumps(connection))
    readable, missing = (
        ListedSite(DAG_ID, "shop", site.base_url, f"s3://{bucket}/private/", conn_id, False, None)
        for conn_id in ("ui_s3", "ui_not_there")
    )
    found, told = standings([readable, missing])
    assert found.standing and found.standing.release == report["release"]
    assert readable.archive().manifest(report["release"]) is not None
    assert "There is no Airflow connection 'ui_not_there'" in told.problem
