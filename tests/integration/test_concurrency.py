"""Publishers of one site that meet, and attempts that were given up but still run (issue 4, DESIGN 7, PUB-07)."""

from __future__ import annotations

import datetime as clock
import multiprocessing
import random
import re
import sys
import time
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.killing.kills import differences
from tests.killing.places import FolderPlace, Objects, Place, S3Place
from tests.killing.processes import Child, Nap, Points, forked
from tests.killing.reader import Expected, Reader
from tests.killing.records import check_records
from tests.killing.shop import Inventory, Made, Shop, edited, inventories, small_files, staying

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
__all__ = ["small_files"]

Count = Callable[[str, int], None]

PUBLISHERS = 8
HOUR = 1 / 24
"""A day's part, as runs are dated."""


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """By the name of an S3 service, or a folder."""
    if request.param == "folder":
        return FolderPlace(tmp_path / "place")
    return S3Place(request.getfixturevalue(f"{request.param}_service"))


@pytest.mark.parametrize("place", ["s3", "folder"], indirect=True)
def test_of_eight_publishers_one_wins(place: Place, tmp_path: Path, counted: Count) -> None:
    """PUB-07: all have read the same `current`; one release is live and whole, the others say that they gave up."""
    counted("rounds of 8 publishers with one winner", compete(place, tmp_path, rounds=5))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", ["s3", "ministack", "folder"], indirect=True)
@pytest.mark.parametrize(("names", "rounds"), [("stable", 20), ("immutable", 6)])
def test_of_eight_publishers_one_wins_round_after_round(
    place: Place, names: str, rounds: int, tmp_path: Path, counted: Count
) -> None:
    """Issue 4: 20 rounds at each place, and some more with immutable names."""
    counted("rounds of 8 publishers with one winner", compete(place, tmp_path, rounds=rounds, names=names))


def compete(place: Place, folder: Path, *, rounds: int, names: str = "stable") -> int:
    shop = Shop.at(place, folder, names)
    chance = random.Random(rounds)
    first, _ = inventories(7)
    offered = [first, *(different(first, chance) for _ in range(PUBLISHERS))]
    made = [shop.make(each, f"offer-{number}") for number, each in enumerate(offered)]
    shop.publish(shop.anew(made[0], "first", day=0))
    live = 0
    for round_ in range(1, rounds + 1):
        others = [number for number in range(len(offered)) if number != live]
        runs = {number: shop.anew(made[number], f"{round_}-{number}", day=round_ + off(number)) for number in others}
        reader = Reader(place, Expected(staying(*offered)))
        ended = race(shop, runs, reader)
        won = [number for number, error in ended.items() if error is None]
        assert len(won) == 1, f"round {round_}: {ended}"
        live = won[0]
        told = f"release {runs[live].run['release']} (epoch {round_ + 1}) is live"
        for number, error in ended.items():
            assert error is None or (error.startswith("ConflictError: ") and told in error), f"round {round_}: {error}"
            assert error is None or runs[number].run["release"] in error
        assert reader.site() == shop.files_of(made[live]), f"round {round_}"
        assert check_records(place.objects())["epoch"] == round_ + 1
    return rounds


def different(inventory: Inventory, chance: random.Random) -> Inventory:
    """Another edit of the same site, without the section that only the first release has."""
    return {"outlet": inventory["outlet"], **edited(inventory, chance)}


def off(number: int) -> float:
    """An hour late, right, or an hour early."""
    return (number % 3 - 1) * HOUR


def race(shop: Shop, runs: dict[int, Made], reader: Reader) -> dict[int, str | None]:
    """What each of the runs' processes says; all go on at once when each has read `current`."""
    barrier = multiprocessing.get_context("fork").Barrier(len(runs))
    connections = shop.place.connections
    children: dict[int, Child] = {}
    try:
        for number, run in runs.items():

            def job(number: int = number, run: Made = run) -> None:
                set_clock(off(number) * 86_400)
                after_reading_current(lambda: barrier.wait(60))
                shop.publish(run, connections)

            children[number] = Child.of(job)
        ended = {number: child.wait(reader.look) for number, child in children.items()}
    finally:
        for child in children.values():
            child.stop()
    assert not any(each.killed for each in ended.values())
    return {number: each.error for number, each in ended.items()}


def after_reading_current(then: Callable[[], object]) -> None:
    """From now on this process does something as soon as a publish has read what is live."""
    step: Any = import_module("sitemap_ops.steps.publish")
    read_before = step.read_before

    def read(*arguments: Any) -> Any:
        found = read_before(*arguments)
        then()
        return found

    step.read_before = read


def set_clock(seconds: float) -> None:
    """Let this process's clock be wrong, as the product sees it. The SDK's stays right: S3 would refuse its requests,
    which is told (see test_storage_faults)."""
    real = time.time

    class Shifted(clock.datetime):
        @classmethod
        def now(cls, tz: clock.tzinfo | None = None) -> Shifted:
            return super().now(tz) + clock.timedelta(seconds=seconds)

    time.time = lambda: real() + seconds
    for name, module in list(sys.modules.items()):
        if name.startswith("sitemap_ops") and getattr(module, "datetime", None) is clock.datetime:
            module.datetime = Shifted  # type: ignore[attr-defined]


class Overtaken:
    """A site with two releases, and a run for a third that sleeps somewhere while something newer happens."""

    def __init__(self, place: Place, folder: Path, names: str) -> None:
        self.place = place
        self.shop = Shop.at(place, folder, names)
        first, second = inventories(7)
        third, newer = edited(second, random.Random(1)), edited(second, random.Random(2))
        self.shop.publish(self.shop.make(first, "first"))
        self.second = self.shop.publish(self.shop.make(second, "second", day=1))["release"]
        self.run = self.shop.make(third, "stale", day=2)
        self.newer = self.shop.make(newer, "newer", day=2 - HOUR)
        self.base = place.objects()
        self.reader = Reader(place, Expected(staying(second, third, newer)))
        self.connections = place.connections
        self.landed = 0
        self.points: int = forked(lambda: self.publish(Points())).gives

    def publish(self, points: Points) -> int:
        self.place.watch(points, self.connections, finely=False)
        self.shop.publish(self.run, self.connections)
        return points.count

    def by_a_release(self) -> None:
        """A newer one; by its clock it is an hour older."""
        self.shop.publish(self.shop.again(self.newer))

    def by_a_rollback(self) -> None:
        """To what was live when the sleeper began: files, indexes and their ETags are what it saw."""
        self.shop.rollback(self.second, day=2 + HOUR)

    def play(self, at: int, meanwhile: Callable[[], None]) -> str | None:
        """What the run that slept at a point says at its end; the site stayed what it had become meanwhile."""
        self.place.restore(self.base)
        nap = Nap()
        child = Child.of(lambda: self.publish(Points(at, nap.fall_asleep)))
        with closing(nap):
            try:
                slept = nap.wait(child)
                if slept:
                    meanwhile()
                    wanted = self.place.objects()
                    nap.end()
                ended = child.wait(self.reader.look if meanwhile != self.by_a_rollback else self.look_for_what_landed)
            finally:
                child.stop()
        assert not ended.killed
        if slept:
            self.stayed(wanted, at)
        return ended.error

    def look_for_what_landed(self) -> None:
        """After a rollback the files have the bytes, and so the ETags, that the sleeper saw: the one put that it was
        about to send when it fell asleep is none that a store could refuse (docs/publishing.md). Until the sleeper has
        found out and put back what was there, the site is mixed; `stayed` looks whether it did."""
        try:
            self.reader.look()
        except AssertionError as error:
            if "URLs that stay are not listed" not in str(error):
                raise
            self.landed += 1

    def stayed(self, wanted: Objects, at: int) -> None:
        self.reader.site()
        found = self.place.objects()
        check_records(found)
        listed = {f"public/{name}" for name in self.shop.listed()} | {"public/sitemap.xml", "private/current.json"}
        wrong = [name for name in differences(wanted, found, private_too=True) if name in listed]
        assert not wrong, f"asleep at point {at}: {wrong} is not what the newer release had made"


def overtake(overtaken: Overtaken, points: list[int], meanwhile: Callable[[], None]) -> int:
    """At these points; gives how many runs were overtaken. Each says so, unless it had done all of its work."""
    gave_up = re.compile(rf"ConflictError: Release {overtaken.run.run['release']} of shop was given up: release \S+ ")
    silent = []
    for at in points:
        error = overtaken.play(at, meanwhile)
        assert error is None or gave_up.match(error), f"asleep at point {at}: {error}"
        silent += [at] if error is None else []
    # Where a run's work ends is no fixed point: on a busy machine requests are sent again.
    assert all(at > overtaken.points * 0.6 for at in silent), (silent, overtaken.points)
    return len(points)


OVERTAKEN = "attempts that were overtaken in their sleep, and left nothing overwritten"
LANDED = "looks at a site in which a put landed that was under way when a rollback brought back what it replaces"


@pytest.mark.parametrize("place", ["s3", "folder"], indirect=True)
def test_a_stale_attempt_overwrites_nothing(place: Place, tmp_path: Path, counted: Count) -> None:
    """PUB-07, issue 4: it began before a newer release, or a rollback to the very content that it saw, and still runs,
    before or after its own commit. Nothing of it stays; what is seen meanwhile, `look_for_what_landed` says."""
    overtaken = Overtaken(place, tmp_path, "stable")
    points = spread(overtaken.points, 8)
    counted(OVERTAKEN, overtake(overtaken, points[::2], overtaken.by_a_release))
    counted(OVERTAKEN, overtake(overtaken, points[1::2], overtaken.by_a_rollback))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("names", ["stable", "immutable"])
@pytest.mark.parametrize("place", ["s3", "ministack", "folder"], indirect=True)
def test_a_stale_attempt_anywhere(place: Place, names: str, tmp_path: Path, counted: Count) -> None:
    """The same at 25 points, each for both."""
    overtaken = Overtaken(place, tmp_path, names)
    for meanwhile in (overtaken.by_a_release, overtaken.by_a_rollback):
        counted(OVERTAKEN, overtake(overtaken, spread(overtaken.points, 25), meanwhile))
    counted(LANDED, overtaken.landed)


def spread(points: int, wanted: int) -> list[int]:
    """So many of the points, from the first to the last."""
    return sorted({1 + number * (points - 1) // (wanted - 1) for number in range(wanted)})
