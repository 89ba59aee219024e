"""The Sitemaps page in a real browser against a real API server, as a person uses it; screenshots are kept.

`SITEMAP_OPS_SCREENSHOTS` names their folder, `.demo/screenshots` by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from sitemap_ops.report.html import render_report
from tests.releases import archive, audited, run, small_site
from tests.services.airflow import Airflow, new_airflow
from tests.services.api_server import PASSWORDS, api_server
from tests.services.browser import chromium, keep, serious_faults

pytestmark = [pytest.mark.integration, pytest.mark.airflow, pytest.mark.full]

DAG_ID = "sitemaps__shop"
expect.set_options(timeout=30_000)  # a busy machine is no fault of a page
WIDTHS = {"wide": 1280, "phone": 390}


@dataclass(frozen=True)
class Shown:
    """A browser before an API server: a site with eight releases, the last one by Airflow, and a stopped run."""

    url: str
    browser: Browser = field(repr=False)
    airflow: Airflow = field(repr=False)
    live: str
    before: str
    audit: str
    run_id: str

    def open(self, *, width: int = 1280, dark: bool = False) -> Page:
        """A page of a browser that nobody has used, nor logged in with; what goes wrong in it fails the test."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script: {error}"))
        page.on("request", lambda request: self._own(request.url))
        return page

    def _own(self, url: str) -> None:
        assert url.startswith((self.url, "data:", "blob:")), f"asked elsewhere: {url}"

    def log_in(self, page: Page) -> None:
        page.get_by_label("Username").fill("viewer")
        page.locator("input[type=password]").fill(PASSWORDS["viewer"])
        page.get_by_role("button", name="Sign in").click()


@pytest.fixture(scope="module")
def shown(airflow_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    airflow = new_airflow(airflow_database, tmp_path_factory.mktemp("browser"))
    site = small_site(airflow.dags / "sites")
    for day in range(7):
        run(site, day, 2_000 + 150 * day)
    tested = airflow.test_dag(DAG_ID)
    assert tested.returncode == 0, tested.output[-4000:]
    live, before, *_ = (outcome.release for outcome in archive(site).released(2))
    run(site, 700, 1)
    run_id = airflow.query("SELECT run_id FROM dag_run")[0]["run_id"]
    with api_server(airflow) as server, chromium() as browser:
        yield Shown(server.url, browser, airflow, live, before, audited(site), run_id)


def frame_of(page: Page) -> FrameLocator:
    return page.frame_locator("iframe[title=Sitemaps]")


def test_a_person_s_way_through_the_pages(shown: Shown) -> None:
    """Log in, open the page from Airflow's menu, sort a table, compare two releases, go to the run and back."""
    page = shown.open()
    page.goto(shown.url)
    shown.log_in(page)
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("menuitem", name="Sitemaps").click()
    frame = frame_of(page)
    expect(frame.get_by_role("heading", name="Sitemaps")).to_be_visible()
    expect(frame.get_by_text("stopped by max_drop")).to_be_visible()
    keep(page, "1-sites")

    frame.get_by_role("link", name="shop", exact=True).click()
    expect(frame.get_by_role("figure")).to_have_count(5)
    page.wait_for_url(f"**/plugin/sitemaps/sitemap-ops/dags/{DAG_ID}/")  # can be reloaded and sent
    keep(page, "2-site")

    frame.get_by_role("link", name="Its shards").click()
    rows = frame.locator("tbody tr")
    expect(rows.first).to_contain_text("pages")
    entries = frame.get_by_role("columnheader", name="Entries")
    for order in ("ascending", "descending"):
        entries.get_by_role("link").click()
        expect(entries).to_have_attribute("aria-sort", order)
    expect(rows.first).to_contain_text("products")
    keep(page, "3-shards")

    frame.get_by_role("link", name="shop", exact=True).click()
    frame.get_by_role("radio", name="from").nth(5).check()
    frame.get_by_role("button", name="Compare these two").click()
    expect(frame.get_by_text("+600").first).to_be_visible()
    keep(page, "4-difference")
    frame.get_by_role("link", name="The URLs that differ").click()
    expect(frame.get_by_text("https://www.shop.example/p/2300", exact=True)).to_be_visible()
    expect(frame.get_by_text("The first 500")).to_be_visible()

    frame.get_by_role("link", name="shop", exact=True).click()
    frame.get_by_role("link", name="success").first.click()
    page.wait_for_url(f"**/dags/{DAG_ID}/runs/{quote(shown.run_id, safe='')}")
    assert page.locator("iframe").count() == 0  # Airflow's own page in its own window
    page.goto(f"{page.url}/tasks/publish/details")
    page.get_by_role("link", name="Sitemap release").or_(page.get_by_role("button", name="Sitemap release")).click()
    back = page.context.pages[-1]
    expect(frame_of(back).get_by_role("heading", name=shown.live)).to_be_visible()
    keep(back, "5-release")


def test_a_link_survives_the_login(shown: Shown) -> None:
    """Who follows a link without being logged in gets to that page by the login."""
    page = shown.open()
    page.goto(f"{shown.url}/sitemap-ops/dags/{DAG_ID}/")
    shown.log_in(page)
    page.wait_for_url(f"**/sitemap-ops/dags/{DAG_ID}/")
    expect(page.get_by_role("heading", name="shop")).to_be_visible()


def pages(shown: Shown) -> dict[str, str]:
    base = f"{shown.url}/sitemap-ops"
    site = f"{base}/dags/{DAG_ID}"
    return {
        "sites": f"{base}/",
        "site": f"{site}/",
        "release": f"{site}/releases/{shown.live}",
        "shards": f"{site}/releases/{shown.live}/shards?sort=-entries",
        "difference": f"{site}/diff?old={shown.before}&new={shown.live}",
        "urls": f"{site}/diff/urls?old={shown.before}&new={shown.live}",
        "audit": f"{site}/audits/{shown.audit}",
        "error": f"{site}/releases/nothing",
    }


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_everyone_can_use_the_pages(shown: Shown, width: str, dark: bool) -> None:
    """axe-core finds no serious fault, in light and dark, on a phone and a desk; nothing sticks out of the window."""
    page = shown.open(width=WIDTHS[width], dark=dark)
    page.goto(f"{shown.url}/sitemap-ops/")
    shown.log_in(page)
    page.wait_for_url("**/sitemap-ops/")
    for name, url in pages(shown).items():
        page.goto(url)
        for summary in page.locator("summary").all():
            summary.click()
        assert serious_faults(page) == [], (name, url)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        keep(page, f"{name}-{width}-{'dark' if dark else 'light'}")


def test_pages_take_airflow_s_colours(shown: Shown) -> None:
    """The choice of light or dark that the reader made in Airflow holds for the pages, before the system's."""
    page = shown.open(dark=False)
    page.goto(f"{shown.url}/sitemap-ops/")
    shown.log_in(page)
    page.wait_for_url("**/sitemap-ops/")

    def background() -> Any:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = background()
    page.evaluate("localStorage.setItem('theme', 'dark')")
    page.reload()
    assert background() != light
    page.evaluate("localStorage.setItem('theme', 'light')")
    page.reload()
    assert background() == light


def test_by_keyboard_alone(shown: Shown) -> None:
    """With Tab and Enter one gets from the list to a site and sorts its shards; what has the focus shows it."""
    page = shown.open()
    page.goto(f"{shown.url}/sitemap-ops/")
    shown.log_in(page)
    page.wait_for_url("**/sitemap-ops/")
    press_until(page, "shop")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="shop")).to_be_visible()
    press_until(page, "Its shards")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Shards")).to_be_visible()
    press_until(page, "gzip")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("columnheader", name="gzip")).to_have_attribute("aria-sort", "ascending")


def press_until(page: Page, text: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").strip() == text:
            return
    pytest.fail(f"{text!r} can't be reached by Tab")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_report_html_as_a_file(shown: Shown, tmp_path: Path, dark: bool) -> None:
    """A release's report.html opens from a disk, asks for nothing, is styled, and has no serious fault."""
    report = run(small_site(tmp_path), 0, 100)
    file = tmp_path / "report.html"
    file.write_text(render_report(report), encoding="utf-8")
    asked: list[str] = []
    context = shown.browser.new_context(
        color_scheme="dark" if dark else "light", viewport={"width": 390, "height": 800}
    )
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert page.evaluate("getComputedStyle(document.querySelector('.tiles')).display") == "grid"
    assert serious_faults(page) == []
    keep(page, f"report-html-{'dark' if dark else 'light'}")
