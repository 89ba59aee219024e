"""Any of the last releases comes back as it was, also when its files are gone from the target (issue 4, PUB-11)."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from sitemap_ops.errors import UsageError
from tests.killing.places import PUBLIC, FolderPlace, Objects, Place, S3Place
from tests.killing.reader import Reader
from tests.killing.records import check_records
from tests.killing.shop import Shop, edited, inventories, small_files

pytestmark = pytest.mark.integration
__all__ = ["small_files"]

RELEASES = 7
KEPT = 5


@pytest.mark.parametrize("names", ["stable", "immutable"])
@pytest.mark.parametrize("where", ["s3_service", "folder"])
def test_to_each_of_the_last_five(request: pytest.FixtureRequest, where: str, names: str, tmp_path: Path) -> None:
    """Issue 4: the live site's files, indexes and headers are restored byte for byte, as a new epoch; after pruning,
    and also where all that is not listed was removed. One that is kept no more is refused by name."""
    place: Place = FolderPlace(tmp_path / "place") if where == "folder" else S3Place(request.getfixturevalue(where))
    shop, chance = Shop.at(place, tmp_path / "shop", names), random.Random(11)
    inventory = inventories(7)[0]
    lived: dict[str, Objects] = {}
    for number in range(RELEASES):
        release = shop.publish(shop.make(inventory, f"run-{number}", day=31 * number))["release"]
        lived[release] = live_objects(shop)
        inventory = edited(inventory, chance) | {"outlet": {f"/o/{number}": "2026-10-01"}}
    after, reader = place.objects(), Reader(place)
    oldest, *_, live = lived
    assert lived[oldest].keys() - after.keys(), "nothing was pruned"
    cleared = {name: each for name, each in after.items() if not name.startswith(PUBLIC) or name in lived[live]}
    assert len(cleared) < len(after)
    for release, found in product(list(lived)[-KEPT:], (after, cleared)):
        place.restore(found)
        report = shop.rollback(release, day=31 * RELEASES)
        assert live_objects(shop) == lived[release]
        assert frozenset(reader.site()) == frozenset(shop.listed())
        manifest = check_records(place.objects())
        assert (manifest["epoch"], manifest["restores"]) == (RELEASES + 1, release)
        assert report["shards"]["total"] == len(shop.listed())
    place.restore(after)
    with pytest.raises(UsageError, match=f"has no release '{oldest}' that could be put back; it keeps: {live}, "):
        shop.rollback(oldest, day=31 * RELEASES)


def live_objects(shop: Shop) -> Objects:
    """The index and the files that it lists."""
    names = {PUBLIC + name for name in (*shop.listed(), "sitemap.xml")}
    return {name: each for name, each in shop.place.objects().items() if name in names}
