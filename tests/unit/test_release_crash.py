"""A publish that is killed before any of its operations: what readers see, and what the next run makes of it.

The stores are in memory and behave as S3 does; the same with real kills on real servers is an integration test.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from sitemap_ops.release.history import read_before
from tests.protocol import (
    BEFORE,
    Killed,
    bodies,
    check_state,
    killing,
    live,
    operations_of,
    pages_of,
    put_back,
    released,
    urls,
    watching,
)
from tests.publishing import Stores, immutable, publish_pages

AFTER = pages_of({1: range(13), 2: range(13, 18), 3: range(18, 40), 7: range(40, 44), 5: range(44, 52)})
"""Cuts move both ways between files that stay, a file leaves whose URLs another takes over, one comes, one changes."""

CASES = [
    pytest.param(dict, {}, id="stable"),
    pytest.param(immutable, {}, id="immutable"),
    pytest.param(dict, {"max_files": 2}, id="several indexes"),
]


@pytest.mark.parametrize(("named", "options"), CASES)
def test_killed_before_any_operation(named: Any, options: dict[str, int]) -> None:
    """Issue 4: at every moment each listed file is whole and no URL that stays is unlisted (immutable names: the site
    is exactly one release); the next run completes, and the final state is that of an undisturbed run."""
    before, after = named(BEFORE), named(AFTER)
    one = named is immutable
    undisturbed = released(before, **options)
    start = operations_of(undisturbed).count
    operations_of(undisturbed).hook = watching(undisturbed.target, before, after, exactly_one=one)
    publish_pages(undisturbed, after, day=1, **options)
    last = operations_of(undisturbed).count
    assert live(undisturbed.target) == after
    for at in range(start + 1, last + 1):
        stores = released(before, **options)
        look = watching(stores.target, before, after, exactly_one=one)
        operations_of(stores).hook = killing(at, look)
        with pytest.raises(Killed):
            publish_pages(stores, after, day=1, **options)
        operations_of(stores).hook = look
        publish_pages(stores, after, day=1, **options)
        assert bodies(stores.target) == bodies(undisturbed.target), f"killed at {at}"
        check_state(stores)


def test_killed_at_a_first_release() -> None:
    """Before the first commit there is no site; after it there is a whole one, or what the next run makes whole."""
    undisturbed = released({})
    publish_pages(undisturbed, AFTER, day=1)
    for at in range(1, operations_of(undisturbed).count + 1):
        stores = released({})
        look = watching(stores.target, {}, AFTER, exactly_one=True)
        operations_of(stores).hook = killing(at, look)
        with pytest.raises(Killed):
            publish_pages(stores, AFTER, day=1)
        operations_of(stores).hook = look
        publish_pages(stores, AFTER, day=1)
        assert bodies(stores.target) == bodies(undisturbed.target), f"killed at {at}"
        check_state(stores)


def test_killed_twice_and_then_something_else() -> None:
    """A run that is killed while it finishes what another has left, and a third with other content: still no gap."""
    last = pages_of({1: range(5), 9: range(5, 33), 5: range(33, 60)})
    chance = random.Random(4)
    for _ in range(40):
        stores = released(BEFORE)
        operations = operations_of(stores)
        look = watching(stores.target, BEFORE, {"after": b"".join((*AFTER.values(), *last.values()))})
        for day, pages in ((1, AFTER), (2, last)):
            operations.hook = killing(operations.count + chance.randrange(1, 70), look)
            try:
                publish_pages(stores, pages, day=day)
            except Killed:
                continue
        operations.hook = look
        publish_pages(stores, last, day=3)
        assert live(stores.target) == last
        check_state(stores)


def test_a_rollback_that_is_killed() -> None:
    """The same for a rollback: at every moment a whole site, and the next attempt restores it byte for byte."""

    def two_releases() -> Stores:
        stores = released(BEFORE)
        publish_pages(stores, AFTER, day=1)
        return stores

    wanted = bodies(released(BEFORE).target)
    undisturbed = two_releases()
    start = operations_of(undisturbed).count
    put_back(undisturbed, "release-0")
    for at in range(start + 1, operations_of(undisturbed).count + 1):
        stores = two_releases()
        look = watching(stores.target, BEFORE, AFTER)
        operations_of(stores).hook = killing(at, look)
        with pytest.raises(Killed):
            put_back(stores, "release-0")
        operations_of(stores).hook = look
        put_back(stores, "release-0", run="again")
        found = bodies(stores.target)
        assert {key: found.get(key) for key in wanted} == wanted
        assert live(stores.target) == BEFORE
        assert read_before(stores.state, "shop").epoch in (3, 4)
        check_state(stores)


def test_the_watching_would_see_a_gap() -> None:
    """The reader of these tests fails where a file is missing, broken, or where a URL that stays is listed nowhere."""
    stores = released(BEFORE)
    look = watching(stores.target, BEFORE, BEFORE)
    look(1, "", "")
    key = next(iter(BEFORE))
    body, stored = stores.target.objects[key]  # type: ignore[attr-defined]
    for damage in (body[:-9], None):
        if damage is None:
            stores.target.delete([key])
        else:
            stores.target.objects[key] = (damage, stored)  # type: ignore[attr-defined]
            stores.target.changes += 1  # type: ignore[attr-defined]
        with pytest.raises((AssertionError, EOFError)):
            look(2, "", "")
    publish_pages(stores, {**BEFORE, key: BEFORE[key]}, day=1)
    look(3, "", "")
    publish_pages(stores, {other: xml for other, xml in BEFORE.items() if other != key}, day=2)
    with pytest.raises(AssertionError, match="not listed"):
        look(4, "", "")
    assert urls(BEFORE) - urls(live(stores.target)) == urls({key: BEFORE[key]})
