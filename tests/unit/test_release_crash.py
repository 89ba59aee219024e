"""A publish that is killed before any of its operations: what readers see, and what the next run makes of it.

The stores are in memory and behave as S3 does; the same with real kills on real servers is an integration test.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.release.history import read_before
from sitemap_ops.release.left import Keep
from sitemap_ops.release.rollback import rollback
from tests.memory_store import MemoryStore, Operations
from tests.publishing import FIRST_DAY, Site, Stores, immutable, key_of, publish_pages, xml_of

BASE = "https://www.example.com/"
Pages = Mapping[str, bytes]


class Killed(Exception):
    pass


def memory_stores(operations: Operations | None = None) -> Stores:
    operations = operations or Operations()
    return Stores(MemoryStore("target", operations), MemoryStore("state", operations))


def bodies(store: Any) -> dict[str, bytes]:
    return {key: body for key, (body, _) in store.objects.items()}


def live(target: Any) -> dict[str, bytes]:
    """The content of every file that an index lists. Fails where one is missing, damaged or no XML."""
    found = {}
    for name, (body, _) in sorted(target.objects.items()):
        if re.fullmatch(r"sitemap(-\d+)?\.xml", name):
            for loc in etree.fromstring(body).iter("{*}loc"):
                key = (loc.text or "").removeprefix(BASE)
                assert key in target.objects, f"{name} lists {key}, which is not there"
                found[key] = gzip.decompress(target.objects[key][0])
                etree.fromstring(found[key])
    return found


def urls(files: Mapping[str, bytes]) -> set[bytes]:
    return {url for xml in files.values() for url in re.findall(b"<loc>(.*?)</loc>", xml)}


def pages_of(cuts: Mapping[int, range], tag: str = "") -> dict[str, bytes]:
    """Shards by number, each with the URLs of a range; `tag` changes their entries, not their URLs."""
    return {
        key_of(number): xml_of(*(f"/{n:03d}" for n in numbers)).replace(b"</loc>", f"</loc>{tag}".encode())
        for number, numbers in cuts.items()
    }


BEFORE = pages_of({1: range(10), 2: range(10, 20), 3: range(20, 30), 4: range(30, 40), 5: range(40, 50)})
"""Cuts move both ways between files that stay, a file leaves whose URLs another takes over, one comes, one changes."""
AFTER = pages_of({1: range(13), 2: range(13, 18), 3: range(18, 40), 7: range(40, 44), 5: range(44, 52)})


def watching(target: Any, before: Pages, after: Pages, *, exactly_one: bool) -> Callable[[int, str, str], None]:
    """A reader that looks at the whole site before every operation."""
    staying = urls(before) & urls(after)
    seen_at = -1

    def look(number: int, name: str, key: str) -> None:
        nonlocal seen_at
        if seen_at == target.changes:
            return
        seen_at = target.changes
        seen = live(target)
        assert staying <= urls(seen), f"before operation {number} ({name} {key}) a URL that stays is not listed"
        if exactly_one:
            assert seen in ({**before}, {**after}), f"before operation {number} ({name} {key}) releases are mixed"

    return look


def killing(at: int, look: Callable[[int, str, str], None]) -> Callable[[int, str, str], None]:
    """Watches, and lets the operation `at` and all after it fail, as those of a process that is gone."""

    def hook(number: int, name: str, key: str) -> None:
        look(number, name, key)
        if number >= at:
            raise Killed(f"{number}: {name} {key}")

    return hook


def released(before: Pages, **options: Any) -> Stores:
    stores = memory_stores()
    publish_pages(stores, before, **options)
    return stores


def operations_of(stores: Stores) -> Operations:
    operations: Operations = stores.target.operations  # type: ignore[attr-defined]
    return operations


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
        assert live(stores.target) == after


def test_killed_twice_and_then_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed while it finishes what another has left, and a third with other content: still no gap."""
    last = pages_of({1: range(5), 9: range(5, 33), 5: range(33, 60)})
    chance = random.Random(4)
    for _ in range(60):
        stores = released(BEFORE)
        operations = operations_of(stores)
        staying = urls(BEFORE) & urls(AFTER) & urls(last)

        def look(number: int, name: str, key: str, stores: Stores = stores, staying: set[bytes] = staying) -> None:
            assert staying <= urls(live(stores.target)), (number, name, key)

        for day, pages in ((1, AFTER), (2, last)):
            operations.hook = killing(operations.count + chance.randrange(1, 70), look)
            try:
                publish_pages(stores, pages, day=day)
            except Killed:
                continue
        operations.hook = look
        publish_pages(stores, last, day=3)
        assert live(stores.target) == last


def test_a_rollback_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a rollback: at every moment a whole site, and the next attempt restores it byte for byte."""
    base = released(BEFORE)
    wanted = bodies(base.target)
    publish_pages(base, AFTER, day=1)
    start = operations_of(base).count
    back(base)
    last = operations_of(base).count
    for at in range(start + 1, last + 1):
        stores = released(BEFORE)
        publish_pages(stores, AFTER, day=1)
        look = watching(stores.target, BEFORE, AFTER, exactly_one=False)
        operations_of(stores).hook = killing(at, look)
        with pytest.raises(Killed):
            back(stores)
        operations_of(stores).hook = look
        back(stores)
        found = bodies(stores.target)
        assert {key: found.get(key) for key in wanted} == wanted
        assert live(stores.target) == BEFORE
        assert read_before(stores.state, "shop").epoch in (3, 4)


def back(stores: Stores) -> None:
    rollback(
        site=Site(),
        to="release-0",
        release="back",
        run_id="back",
        as_of=FIRST_DAY.replace(day=5).isoformat(),
        target=stores.target,
        state=stores.state,
        retention=Keep(),
    )
