"""Putting an earlier release back: byte for byte, as a new epoch, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sitemap_ops.errors import OutputError, UsageError
from sitemap_ops.release.history import list_releases, read_before
from sitemap_ops.release.left import Keep
from sitemap_ops.release.publish import ReleaseSet
from tests.protocol import bodies, check_state, live, memory_stores, operations_of, pages_of, put_back
from tests.publishing import Stores, immutable, publish_pages, release_of, shop, xml_of

DAYS = (0, 30, 60, 90, 120, 150, 151)
"""Of releases whose contents and files all differ. The last five are kept; what only the others list is pruned."""


def site_of(day: int, named: Any) -> dict[str, bytes]:
    number = DAYS.index(day)
    return named(pages_of({1: range(number + 3), 10 + number: range(20, 24), 9: range(30, 40)}, tag=f"<!--{day}-->"))


def seven_releases(named: Any, **options: Any) -> tuple[Stores, dict[int, dict[str, bytes]]]:
    """The stores after seven releases, and what was live after each."""
    stores, seen = memory_stores(), {}
    for day in DAYS:
        publish_pages(stores, site_of(day, named), day=day, **options)
        index = {key: body for key, body in bodies(stores.target).items() if key.startswith("sitemap")}
        seen[day] = index | {key: bodies(stores.target)[key] for key in site_of(day, named)}
    return stores, seen


@pytest.mark.parametrize("options", [{}, {"max_files": 2}], ids=["one index", "several indexes"])
@pytest.mark.parametrize("named", [dict, immutable], ids=["stable", "immutable"])
def test_any_of_the_last_releases_comes_back_byte_for_byte(named: Any, options: dict[str, int]) -> None:
    """Issue 4, PUB-11: the indexes with their lastmod too, and files that are gone from the target; as a new epoch."""
    for day in DAYS[2:]:
        stores, seen = seven_releases(named, **options)
        assert not bodies(stores.target).keys() & (site_of(0, named).keys() - site_of(60, named).keys()), "not pruned"
        stores.target.delete(bodies(stores.target).keys() - seen[151].keys())
        result = put_back(stores, f"release-{day}", day=152)
        found = bodies(stores.target)
        assert {key: found.get(key) for key in seen[day]} == seen[day]
        assert live(stores.target) == site_of(day, named)
        assert {key for key in found if key.startswith("sitemap")} == {k for k in seen[day] if k.startswith("sitemap")}
        current = read_before(stores.state, "shop").current
        assert current
        assert (current.release, current.epoch, result.epoch) == ("back", 8, 8)
        check_state(stores)
    with pytest.raises(UsageError, match="no release 'release-30' that could be put back"):
        put_back(stores, "release-30")


def test_a_rollback_is_a_release_of_its_own() -> None:
    """It can be rolled back itself, and a build after it goes on from what it put back."""
    stores, seen = seven_releases(dict)
    put_back(stores, "release-120", day=152)
    listed = list_releases(read_before(stores.state, "shop"))
    assert [(past.release, past.outcome, past.restores) for past in listed[:2]] == [
        ("back", "rolled back", "release-120"),
        ("release-151", "published", None),
    ]
    put_back(stores, "release-151", run="forth", day=153)
    assert live(stores.target) == site_of(151, dict)
    put_back(stores, "back", run="again", day=154)
    assert bodies(stores.target).items() >= seen[120].items()
    result = publish_pages(stores, site_of(120, dict), day=155)
    assert result.plan.count("unchanged") == 3
    assert result.uploaded == 0


def test_to_what_is_live_repairs_it() -> None:
    stores, seen = seven_releases(dict)
    for key in seen[151]:
        if key != "sitemap.xml":
            stores.target.delete([key])
            break
    put_back(stores, "release-151", day=152)
    assert bodies(stores.target).items() >= seen[151].items()


@pytest.mark.parametrize("where", ["state", "both"])
def test_every_body_is_looked_at_first(where: str) -> None:
    """Issue 4: with a body in the target alone it goes on; with one nowhere nothing is done, as the sentence says."""
    stores = memory_stores()
    publish_pages(stores, shop(3))
    publish_pages(stores, shop(2, s0=xml_of("/x")), day=1)
    shards, _ = release_of(shop(3))
    lost = shards[2]
    stores.state.delete([f"bodies/{lost.sha256}.gz"])
    if where == "both":
        stores.target.delete([lost.key])
    before = bodies(stores.target), bodies(stores.state)
    if where == "state":
        put_back(stores, "release-0")
        assert live(stores.target) == shop(3)
        return
    with pytest.raises(OutputError, match=f"Release release-0 can't be put back: {lost.key} is neither in"):
        put_back(stores, "release-0")
    assert (bodies(stores.target), bodies(stores.state)) == before


def test_a_damaged_body_is_none() -> None:
    """What lies in `state` is not taken on trust: its digest is looked at, and nothing of it gets public."""
    stores = memory_stores()
    publish_pages(stores, shop(2))
    publish_pages(stores, shop(2, s0=xml_of("/x")), day=1)
    shards, _ = release_of(shop(2))
    key = f"bodies/{shards[0].sha256}.gz"
    body, stored = stores.state.objects[key]  # type: ignore[attr-defined]
    stores.state.objects[key] = (body[:-4] + b"oops", stored)  # type: ignore[attr-defined]
    with pytest.raises(OutputError, match="can't be put back"):
        put_back(stores, "release-0")
    assert live(stores.target) == shop(2, s0=xml_of("/x"))


def test_the_sets_of_the_release_come_back_too() -> None:
    """A set that was not made any more, with its index, is there again; one that came later is gone."""
    stores = memory_stores()
    shards, _ = release_of(shop(3))
    first = [replace(shards[0]), replace(shards[1], set="yandex"), replace(shards[2], set="yandex")]
    sets = [ReleaseSet("main", "sitemap.xml"), ReleaseSet("yandex", "sitemap-2.xml")]
    publish_pages(stores, shop(3), shards=first, sets=sets)
    before = bodies(stores.target)
    later = [ReleaseSet("main", "sitemap.xml"), ReleaseSet("fresh", "sitemap-3.xml")]
    publish_pages(stores, shop(3), day=1, shards=[shards[0], replace(shards[1], set="fresh")], sets=later)
    assert "sitemap-2.xml" not in bodies(stores.target)
    put_back(stores, "release-0", keep=Keep(days=1))
    assert bodies(stores.target) == before


def test_nothing_to_put_back() -> None:
    with pytest.raises(UsageError, match="it keeps: none"):
        put_back(memory_stores(), "x")
    stores = memory_stores()
    publish_pages(stores, shop(1))
    operations_of(stores).hook = None
    with pytest.raises(UsageError, match="it keeps: release-0"):
        put_back(stores, "x")
