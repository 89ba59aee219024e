"""The step that tells of a release: which URLs it changed, whichever release is live by now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.site import Site
from sitemap_ops.steps import notify as step
from sitemap_ops.storage.folder import FolderStore
from tests.notifying import Held, site_of
from tests.publishing import Stores, publish_pages, shop, xml_of

WWW = "https://www.example.com"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return site_of(tmp_path, {"robots": "print"}, state=str(tmp_path / "state"))


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    """Three releases: three shards of a page; a page more, one changed, one gone; and one like the first."""
    stores = Stores(FolderStore(tmp_path / "public"), FolderStore(tmp_path / "state"))
    publish_pages(stores, shop(3))
    publish_pages(stores, shop(2, s1=xml_of("/1", "/new")), day=1)
    publish_pages(stores, shop(2, s1=xml_of("/1", "/new")), day=2)
    return stores


def changed(site: Site, stores: Stores, day: int) -> list[str]:
    manifest = step._manifest(site, f"release-{day}", stores.state)
    return list(step.changed_urls(site, manifest, stores.state))


def test_what_a_release_changed(site: Site, stores: Stores) -> None:
    """IN-06: added and removed URLs; the first release changes nothing, and nor does one like the one before.

    Each release is told of by itself, though a later one is live.
    """
    assert changed(site, stores, 0) == []
    assert sorted(changed(site, stores, 1)) == [f"{WWW}/2", f"{WWW}/new"]
    assert changed(site, stores, 2) == []


def test_result_lies_beside_the_report(site: Site, stores: Stores) -> None:
    """What came of it is kept with the release."""
    results = step.notify(site, "release-1", Held())  # type: ignore[arg-type]
    assert results[0]["lines"] == [f"Sitemap: {WWW}/sitemap.xml"]
    kept = stores.state.get("releases/release-1/notify.json")
    assert kept is not None
    assert json.loads(kept[0]) == results


def test_release_that_nobody_knows(site: Site, stores: Stores) -> None:
    """C-107: a release that is not kept any more, or a state in ruins, is a warning."""
    (result,) = step.notify(site, "release-9", Held())  # type: ignore[arg-type]
    assert (result["channel"], result["outcome"]) == ("all", "failed")
    assert "does not know that release any more" in result["told"]
    for path in (site.folder / "state").glob("current.json"):
        path.write_text("{")
    (result,) = step.notify(site, "release-2", Held())  # type: ignore[arg-type]
    assert result["outcome"] == "failed"


def test_fault_of_the_program(site: Site, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-107: what no one has thought of is a warning too, without its text."""

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("S3cr3t")

    monkeypatch.setattr(step, "_manifest", broken)
    (result,) = step.notify(site, "release-1", Held())  # type: ignore[arg-type]
    assert result["told"].endswith("a fault of this program (ZeroDivisionError).")


def test_site_that_tells_nobody(tmp_path: Path) -> None:
    """Without `notify` nothing is read or written."""
    assert step.notify(site_of(tmp_path, None), "release-1", Held()) == []  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
