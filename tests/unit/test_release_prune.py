"""What is removed, when, and what never is."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from sitemap_ops.release.history import read_before
from sitemap_ops.release.left import Keep
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.publish import PublishResult, ReleaseSet
from sitemap_ops.storage import Headers
from tests.protocol import Killed, bodies, check_state, killing, live, memory_stores, operations_of
from tests.publishing import Stores, immutable, key_of, publish_pages, shop, xml_of

XML_GZ = Headers("application/gzip")


def daily(stores: Stores, count: int, first: int, last: int, **options: Any) -> list[PublishResult]:
    return [publish_pages(stores, shop(count), day=day, **options) for day in range(first, last + 1)]


def manifest_of(stores: Stores) -> Manifest:
    manifest = read_before(stores.state, "shop").manifest
    assert manifest
    return manifest


def test_an_old_file_leaves_after_the_grace_period() -> None:
    """C-16, PUB-08: 30 days after it left the index, by as_of, a file is removed; one that came back is not."""
    stores = memory_stores()
    publish_pages(stores, shop(8))
    publish_pages(stores, shop(6), day=1)
    publish_pages(stores, shop(7), day=20)
    for day in (25, 31):
        assert publish_pages(stores, shop(7), day=day).pruned.keys == ()
    assert {key_of(6), key_of(7)} < bodies(stores.target).keys()
    assert publish_pages(stores, shop(7), day=32).pruned.keys == (key_of(7),)
    assert bodies(stores.target).keys() == {*shop(7), "sitemap.xml"}
    publish_pages(stores, shop(7), day=33)
    assert manifest_of(stores).unlisted == ()


def test_longer_retention_keeps_files_longer() -> None:
    stores = memory_stores()
    keep = Keep(releases=1, days=90)
    publish_pages(stores, shop(3), retention=keep)
    publish_pages(stores, shop(2), day=1, retention=keep)
    assert publish_pages(stores, shop(2), day=80, retention=keep).pruned.keys == ()
    assert publish_pages(stores, shop(2), day=92, retention=keep).pruned.keys == (key_of(2),)


def test_what_one_of_the_last_releases_lists_stays_however_old() -> None:
    """DESIGN 7: no retained release uses what is pruned; the last five are kept whatever their age."""
    stores = memory_stores()
    publish_pages(stores, shop(3))
    for number in range(1, 5):
        assert publish_pages(stores, shop(2), day=100 * number).pruned.keys == ()
    assert publish_pages(stores, shop(2), day=500).pruned.keys == (key_of(2),)
    check_state(stores)


def test_never_more_than_the_allowed_share_at_once() -> None:
    """C-16: half of all files at most, the oldest first; the rest is told, and leaves with the next runs."""
    stores = memory_stores()
    keep = Keep(releases=1, days=0)
    publish_pages(stores, shop(20), retention=keep)
    publish_pages(stores, shop(10), day=1, retention=keep)
    publish_pages(stores, shop(2), day=2, retention=keep)
    result = publish_pages(stores, shop(2), day=60, retention=keep)
    assert (len(result.pruned.keys), result.pruned.held_back) == (10, 8)
    assert set(result.pruned.keys) == {key_of(n) for n in range(10, 20)}
    result = publish_pages(stores, shop(2), day=61, retention=keep)
    assert (len(result.pruned.keys), result.pruned.held_back) == (5, 3)
    while publish_pages(stores, shop(2), day=62, retention=keep).pruned.held_back:
        pass
    assert bodies(stores.target).keys() == {*shop(2), "sitemap.xml"}


def test_what_is_not_ours_is_never_touched() -> None:
    """Issue 4: files of others, also under a name that was ours, stay; so do an index's name that someone took over."""
    stores = memory_stores()
    stores.target.put("logo.png", b"theirs", Headers("image/png"))
    stores.target.put("shop-pages-99.xml.gz", gzip.compress(b"<?xml theirs"), XML_GZ)
    publish_pages(stores, shop(3), sets=[ReleaseSet("main", "old.xml")])
    publish_pages(stores, shop(2), day=1)
    theirs = gzip.compress(b"<?xml version='1.0'?><urlset/>")
    stores.target.put(key_of(2), theirs, XML_GZ)
    stores.target.put("old.xml", b"<?xml version='1.0'?><a/>", Headers("application/xml"))
    results = daily(stores, 2, 40, 80)
    assert [result.pruned.keys for result in results if result.pruned.keys] == []
    found = bodies(stores.target)
    assert found[key_of(2)] == theirs
    assert found.keys() == {*shop(3), "old.xml", "logo.png", "shop-pages-99.xml.gz", "sitemap.xml"}


def test_an_index_with_another_name_leaves_after_the_grace_period() -> None:
    """robots.txt may name the old one for a while; it stays valid until it goes."""
    stores = memory_stores()
    publish_pages(stores, shop(2), sets=[ReleaseSet("main", "old.xml")])
    publish_pages(stores, shop(2), day=1)
    assert "old.xml" in bodies(stores.target)
    publish_pages(stores, shop(2), day=400, retention=Keep(1, 1))
    assert "old.xml" not in bodies(stores.target)


@pytest.mark.parametrize("named", [dict, immutable], ids=["stable", "immutable"])
def test_what_a_killed_run_left_is_removed(named: Any) -> None:
    """DESIGN 7: an intent owns what a run that never committed had put: it leaves as any file that nothing lists."""
    stores = memory_stores()
    publish_pages(stores, named(shop(2)))
    operations = operations_of(stores)
    operations.hook = _at_put_of("manifest", lambda number, name, key: None)
    with pytest.raises(Killed):
        publish_pages(stores, named(shop(5)), day=1)
    operations.hook = None
    leftover = named(shop(5)).keys() - named(shop(2)).keys()
    assert leftover <= bodies(stores.target).keys()
    publish_pages(stores, named(shop(2)), day=2)
    assert {file.key for file in manifest_of(stores).unlisted} == leftover
    assert "releases/release-1/intent.json" not in bodies(stores.state)
    check_state(stores)
    publish_pages(stores, named(shop(2)), day=40)
    publish_pages(stores, named(shop(2)), day=41)
    assert bodies(stores.target).keys() == {*named(shop(2)), "sitemap.xml"}


def _at_put_of(what: str, look: Any) -> Any:
    """Dies at the first put of a key that holds `what`."""
    armed = []

    def hook(number: int, name: str, key: str) -> None:
        if armed or (name.startswith("put") and what in key):
            armed.append(number)
            killing(0, look)(number, name, key)

    return hook


def test_an_intent_of_a_run_that_can_still_commit_stays() -> None:
    """A run that began with what is live now may be at work: neither its intent nor its files are anyone else's."""
    stores = memory_stores()
    publish_pages(stores, shop(2))
    publish_pages(stores, shop(2), day=1)
    other = b'{"site": "shop", "release": "x", "run_id": "x", "as_of": "t", "epoch": 3, "files": {}, "schema": 2}'
    stores.state.put("releases/x/intent.json", other, Headers("application/json"))
    publish_pages(stores, shop(2), day=2)
    assert "releases/x/intent.json" in bodies(stores.state)
    publish_pages(stores, shop(2), day=3)
    assert "releases/x/intent.json" not in bodies(stores.state)


def test_retention_keeps_the_last_releases_and_the_last_days() -> None:
    """Issue 4: the last 5 and all of the last 30 days, with all that a rollback needs; what is older leaves `state`."""
    stores = memory_stores()
    for day in [*range(0, 40, 4), 100, 101]:
        publish_pages(stores, shop(2, s0=xml_of(f"/{day}")), day=day)
        check_state(stores)
    kept = [past.release for past in manifest_of(stores).history or ()]
    assert kept == ["release-100", "release-36", "release-32", "release-28"]
    folders = {key.split("/")[1] for key in bodies(stores.state) if key.startswith("releases/")}
    assert folders == {*kept, "release-101"}
    used = {sha for manifest in _kept(stores) for sha in manifest.contents.values()}
    assert {key[7:-3] for key in bodies(stores.state) if key.startswith("bodies/")} == used


def _kept(stores: Stores) -> list[Manifest]:
    from sitemap_ops.release.history import read_manifest

    manifest = manifest_of(stores)
    return [manifest, *(read_manifest(stores.state, past.manifest) for past in manifest.history or ())]


def test_old_plans_and_stops_leave_too() -> None:
    """Kept as releases are: the last few, and those of the last days; what is called otherwise is not touched."""
    stores = memory_stores()
    folders = [
        f"{kind}/2026{month}01T000000Z-0123abcd" for kind in ("plans", "stopped") for month in ("07", "08", "11")
    ]
    keys = [f"{folder}/report.json" for folder in folders] + ["plans/mine/report.json", "stopped/readme.txt"]
    for key in keys:
        stores.state.put(key, b"{}", Headers("application/json"))
    publish_pages(stores, shop(1), retention=Keep(releases=2, days=40))
    left = {key for key in bodies(stores.state) if key.startswith(("plans/", "stopped/"))}
    assert left == {key for key in keys if "20260701" not in key}


def test_a_run_that_changes_nothing_writes_no_body() -> None:
    """Issue 4: bodies lie under their digest; a second release of the same content adds none and removes none."""
    stores = memory_stores()
    publish_pages(stores, shop(3))
    before = {key for key in bodies(stores.state) if key.startswith("bodies/")}
    assert len(before) == 4
    writes: list[str] = []
    operations_of(stores).hook = lambda number, name, key: writes.append(key) if name.startswith("put") else None
    publish_pages(stores, shop(3), day=1)
    assert [key.rsplit("/", 1)[-1].partition("-")[0] for key in writes] == [
        "intent.json",
        "manifest",
        "current.json",
        "projected.json",
    ]
    assert {key for key in bodies(stores.state) if key.startswith("bodies/")} == before


def test_a_body_that_was_lost_or_damaged_comes_back() -> None:
    """Bodies of unchanged files are looked after as well: `state` holds what a rollback needs, whatever happened."""
    stores = memory_stores()
    publish_pages(stores, shop(3))
    lost = next(key for key in bodies(stores.state) if key.startswith("bodies/"))
    stores.state.delete([lost])
    publish_pages(stores, shop(3), day=1)
    check_state(stores)
    assert live(stores.target) == shop(3)
