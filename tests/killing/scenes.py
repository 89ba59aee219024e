"""What is done to a site in the tests that disturb it: sites made ready, and what is to be done to each."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from sitemap_ops.connections import Connections
from tests.killing.kills import Next, Scene
from tests.killing.places import Place
from tests.killing.reader import Expected, Reader
from tests.killing.shop import Inventory, Made, Shop, edited, inventories, staying


def publishing(place: Place, folder: Path, names: str = "stable", files: int = 7) -> Scene:
    """The second release of a site, an edit after the first; each of so many files."""
    shop = Shop.at(place, folder, names)
    before, after = inventories(files)
    shop.publish(shop.make(before, "first"))
    return _published(shop, before, after, day=1)


def beginning(place: Place, folder: Path, names: str = "stable") -> Scene:
    """The first release of a site, at a place where nothing is."""
    return _published(Shop.at(place, folder, names), {}, inventories(7)[1], day=0)


def rolling_back(place: Place, folder: Path, names: str = "stable") -> Scene:
    """Back to the first of two releases."""
    shop = Shop.at(place, folder, names)
    before, after = inventories(7)
    first = shop.publish(shop.make(before, "first"))["release"]
    was = frozenset(shop.listed())
    shop.publish(shop.make(after, "second", day=1))

    def back(connections: Connections) -> None:
        shop.rollback(first, connections, day=2)

    exactly = [was, frozenset(shop.listed())] if names == "immutable" else None
    return Scene(
        place=place,
        reader=Reader(place, Expected(staying(before, after), exactly)),
        base=place.objects(),
        work=back,
        then=[Next(lambda: back)],
    )


def pruning(place: Place, folder: Path, names: str = "stable") -> Scene:
    """A release of a site whose first release is not kept any more: its files are removed, and its records."""
    shop = Shop.at(place, folder, names, "retention: {releases: 2, days: 5}\n")
    before, after = inventories(7)
    shop.publish(shop.make(before, "first"))
    shop.publish(shop.make(after, "second", day=1))
    scene = _published(shop, after, edited(after, random.Random(7)), day=40)
    removed = scene.base.keys() - scene.undisturbed[1].keys()
    assert {name.partition("/")[0] for name in removed} == {"public", "private"}
    return scene


def _published(shop: Shop, before: Inventory, after: Inventory, *, day: int) -> Scene:
    run, other = shop.make(after, "run", day=day), shop.make(after, "other", day=day)
    exactly = None
    if shop.site.names == "immutable" or not before:
        exactly = [frozenset(shop.listed()), frozenset(shop.files_of(run))]
    return Scene(
        place=shop.place,
        reader=Reader(shop.place, Expected(staying(before, after), exactly)),
        base=shop.place.objects(),
        work=lambda connections: shop.publish(run, connections),
        then=[_retry(shop, run), _new_run(shop, other)],
    )


def _retry(shop: Shop, run: Made) -> Next:
    return Next(lambda: lambda connections: shop.publish(run, connections), same=True)


def _new_run(shop: Shop, made: Made) -> Next:
    def begin() -> Callable[..., object]:
        run = shop.again(made)
        return lambda connections: shop.publish(run, connections)

    return Next(begin)
