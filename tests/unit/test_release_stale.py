"""An attempt that was given up but still runs: whenever another release comes in between, that one stays (DESIGN 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sitemap_ops.errors import ConflictError
from sitemap_ops.release.history import read_before, read_fence
from sitemap_ops.release.left import Keep
from tests.protocol import (
    BEFORE,
    attempt,
    bodies,
    check_state,
    live,
    of_another_process,
    operations_of,
    pages_of,
    put_back,
    released,
)
from tests.publishing import Stores, immutable, publish_pages

AFTER = pages_of({1: range(13), 2: range(13, 18), 3: range(18, 40), 7: range(40, 44), 5: range(44, 52)})
NEWER = pages_of({1: range(3), 2: range(10, 18), 3: range(18, 30), 8: range(30, 44), 5: range(44, 55)})
BARELY = Keep(releases=1, days=0)
"""So that each release removes what only the one before it used."""


def interrupted(at: int, meanwhile: Callable[[Stores], object], stores: Stores) -> Callable[[int, str, str], None]:
    """The run sleeps before its operation `at`; `meanwhile` comes, and is done, before it wakes."""
    operations = operations_of(stores)

    def hook(number: int, name: str, key: str) -> None:
        if number >= at:
            operations.hook = None
            meanwhile(of_another_process(stores))

    return hook


def stale_runs(named: Any, meanwhile: Callable[[Stores], object], keep: Keep) -> list[tuple[Stores, int, bool]]:
    """The stores after a run of AFTER that slept before each of its operations in turn, and whether it was told."""

    def start() -> Stores:
        stores = released(named(pages_of({1: range(2), 6: range(2, 9)})), retention=keep)
        publish_pages(stores, named(BEFORE), day=1, retention=keep)
        return stores

    undisturbed = start()
    first = operations_of(undisturbed).count + 1
    publish_pages(undisturbed, named(AFTER), day=2, retention=keep)
    results = []
    for at in range(first, operations_of(undisturbed).count + 1):
        stores = start()
        fence = read_fence(stores.state, "shop")
        operations_of(stores).count = first - 1
        operations_of(stores).hook = interrupted(at, meanwhile, stores)
        told = False
        try:
            attempt(stores, named(AFTER), fence, day=2, retention=keep)
        except ConflictError as error:
            told = "was given up" in str(error)
        results.append((stores, at, told))
    return results


@pytest.mark.parametrize("keep", [Keep(), BARELY], ids=["kept", "barely kept"])
@pytest.mark.parametrize("named", [dict, immutable], ids=["stable", "immutable"])
def test_a_newer_release_stays(named: Any, keep: Keep) -> None:
    """PUB-07, issue 4: wherever the stale attempt slept, before or after its own commit, the newer release is live,
    whole, and the attempt says that it was given up."""
    wanted = named(NEWER)
    for stores, at, told in stale_runs(
        named, lambda stores: publish_pages(stores, wanted, day=3, retention=keep), keep
    ):
        assert live(stores.target) == wanted, f"asleep before operation {at}"
        assert told, f"asleep before operation {at}"
        current = read_before(stores.state, "shop").current
        assert current
        assert current.release == "release-3"
        check_state(stores)


def test_a_rollback_to_what_was_there_stays() -> None:
    """Issue 4: the rollback brings back the ETags that the stale attempt saw, and still that one loses."""

    def back(stores: Stores) -> object:
        return put_back(stores, "release-1")

    for stores, at, told in stale_runs(dict, back, Keep()):
        assert live(stores.target) == BEFORE, f"asleep before operation {at}"
        assert told, f"asleep before operation {at}"
        check_state(stores)


def test_another_attempt_of_the_same_run_changes_nothing() -> None:
    """Airflow's retry beside the attempt that it gave up: the files are those of the run, whoever is last."""
    undisturbed = released(BEFORE)
    start = operations_of(undisturbed).count
    publish_pages(undisturbed, AFTER, day=1)
    for at in range(start + 1, operations_of(undisturbed).count + 1):
        stores = released(BEFORE)
        fence = read_fence(stores.state, "shop")
        operations_of(stores).count = start

        def retry(others: Stores, fence: Any = fence) -> None:
            attempt(others, AFTER, fence, day=1)

        operations_of(stores).hook = interrupted(at, retry, stores)
        try:
            attempt(stores, AFTER, fence, day=1)
        except ConflictError as error:
            assert "another attempt has published it (epoch 2)" in str(error)
        assert bodies(stores.target) == bodies(undisturbed.target), f"asleep before operation {at}"
        assert read_before(stores.state, "shop").epoch == 2
        check_state(stores)


def test_a_retry_with_other_content_is_refused() -> None:
    """What the earlier attempt committed is the run's release; another inventory needs a run of its own."""
    stores = released(BEFORE)
    fence = read_fence(stores.state, "shop")
    attempt(stores, AFTER, fence, day=1)
    with pytest.raises(ConflictError, match="committed by an earlier attempt of this run with other content"):
        attempt(stores, NEWER, fence, day=1)
    assert live(stores.target) == AFTER


def test_a_run_from_before_a_release_of_the_same_content_loses() -> None:
    """DESIGN 7: the fence is what was live when the run began, not what it publishes."""
    stores = released(BEFORE)
    fence = read_fence(stores.state, "shop")
    publish_pages(stores, BEFORE, day=1)
    with pytest.raises(ConflictError, match=r"Release release-2 of shop was given up: release release-1 \(epoch 2\)"):
        attempt(stores, BEFORE, fence, day=2)
