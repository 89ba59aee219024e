"""A headless Chromium of the machine's, and what tests of pages ask of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.services.shared import ROOT, missing

NAMES = ("chromium", "chromium-browser", "google-chrome")
SCREENSHOTS = Path(os.environ.get("SITEMAP_OPS_SCREENSHOTS") or ROOT / ".demo/screenshots")

QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]
"""Nothing is asked of any host but the tests' own."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser. Skips where the machine has none (fails in CI)."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        missing("chromium is not installed")
    # Root may not use Chromium's own sandbox; what is shown here are the tests' own pages.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*QUIET, *sandbox, "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


def keep(page: Page, name: str) -> None:
    """A screenshot of the whole page, for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def serious_faults(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds to keep people from using the page: its serious and critical findings."""
    found = Axe().run(page).response["violations"]
    return [
        {"rule": each["id"], "where": [node["html"] for node in each["nodes"]][:3]}
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
