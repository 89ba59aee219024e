"""What a publish decides, on folders; the same on real S3 APIs is in tests/integration/test_publish.py."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.errors import ConflictError, OutputError, TargetError
from sitemap_ops.release.history import read_before
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.plan import make_plan
from sitemap_ops.release.sets import ReleaseSet
from sitemap_ops.storage import Headers, Stored
from sitemap_ops.storage.folder import FolderStore
from tests.publishing import FIRST_DAY, Site, Stores, contents, key_of, publish_pages, release_of, shop, xml_of


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(FolderStore(tmp_path / "target"), FolderStore(tmp_path / "state"))


def manifest_of(stores: Stores) -> Manifest:
    manifest = read_before(stores.state, "shop").manifest
    assert manifest is not None
    return manifest


def lastmods(stores: Stores) -> dict[str, str]:
    """What the live index says of each file."""
    root = etree.fromstring(contents(stores.target)["sitemap.xml"])
    return {(each.findtext("{*}loc") or "").rpartition("/")[2]: each.findtext("{*}lastmod") or "" for each in root}


def test_a_plan_writes_nothing_and_tells_all(stores: Stores) -> None:
    """Issue 4, item 1: added, changed, removed and unchanged, in entries and bytes, before anything is written."""
    publish_pages(stores, shop(4))
    before = contents(stores.target), contents(stores.state)
    pages = shop(3, s1=xml_of("/1", "/new")) | {key_of(9): xml_of("/9")}
    result = publish_pages(stores, pages, day=1, plan_only=True)
    assert (contents(stores.target), contents(stores.state)) == before
    assert not result.committed
    assert [(shard.key, shard.action, shard.put, shard.entries) for shard in result.plan.shards] == [
        (key_of(0), "unchanged", None, 1),
        (key_of(1), "changed", "replace", 2),
        (key_of(2), "unchanged", None, 1),
        (key_of(9), "added", "create", 1),
        (key_of(3), "removed", None, 1),
    ]
    _, bodies = release_of(pages)
    assert result.plan.upload_bytes == len(bodies[key_of(1)]) + len(bodies[key_of(9)])


def test_a_plan_of_the_first_release_writes_nothing(stores: Stores, tmp_path: Path) -> None:
    assert publish_pages(stores, shop(2), plan_only=True).plan.count("added") == 2
    assert list(tmp_path.iterdir()) == []


def test_each_release_is_an_epoch(stores: Stores) -> None:
    """DESIGN 7: current is swapped on every run, also on one that changes nothing, so no ETag comes twice."""
    seen = set()
    for day in range(3):
        assert publish_pages(stores, shop(2), day=day).epoch == day + 1
        seen.add(read_before(stores.state, "shop").etag)
    assert len(seen) == 3


def test_the_manifest_is_complete_and_the_chain_unbroken(stores: Stores) -> None:
    publish_pages(stores, shop(2))
    first = read_before(stores.state, "shop").current
    publish_pages(stores, shop(3), day=1)
    manifest = manifest_of(stores)
    assert first is not None
    assert manifest.previous == first.manifest
    assert (manifest.site, manifest.release, manifest.run_id, manifest.as_of) == (
        "shop",
        "release-1",
        "run-1",
        "2026-12-02T04:44:19+00:00",
    )
    assert [shard.key for shard in manifest.shards] == [key_of(n) for n in range(3)]
    assert manifest.sections == {"pages": 3}
    assert [index.key for index in manifest.indexes] == ["sitemap.xml"]


def test_the_intent_names_every_key_that_is_written(stores: Stores) -> None:
    """DESIGN 7: a run's objects always have an owner."""
    publish_pages(stores, shop(3))
    publish_pages(stores, shop(4, s1=xml_of("/x")), day=1)
    intent = json.loads(contents(stores.state)["releases/release-1/intent.json"])
    assert list(intent["files"]) == [key_of(1), key_of(3), "sitemap.xml"]
    assert intent["epoch"] == 1


def test_lastmod_moves_with_the_content_alone(stores: Stores) -> None:
    """P-41: as_of of the run in which the content entered the live site; a week of no change keeps it."""
    publish_pages(stores, shop(3))
    publish_pages(stores, shop(3, s1=xml_of("/1", "/new")), day=1)
    publish_pages(stores, shop(3, s1=xml_of("/1", "/new")), day=7)
    day = [f"2026-12-0{1 + n}T04:44:19+00:00" for n in range(2)]
    assert lastmods(stores) == {key_of(0): day[0], key_of(1): day[1], key_of(2): day[0]}


def test_content_that_comes_back_is_new(stores: Stores) -> None:
    publish_pages(stores, shop(1))
    publish_pages(stores, shop(1, s0=xml_of("/x")), day=1)
    publish_pages(stores, shop(1), day=2)
    assert lastmods(stores) == {key_of(0): "2026-12-03T04:44:19+00:00"}


def test_files_no_longer_listed_stay_and_are_remembered(stores: Stores) -> None:
    """C-16's first half: nothing is deleted here, and pruning will know since when each is unlisted."""
    publish_pages(stores, shop(4))
    publish_pages(stores, shop(3), day=1)
    publish_pages(stores, shop(2), day=2)
    unlisted = {file.key: file.since for file in manifest_of(stores).unlisted}
    assert unlisted == {key_of(3): "2026-12-02T04:44:19+00:00", key_of(2): "2026-12-03T04:44:19+00:00"}
    assert {key_of(n) for n in range(4)} < contents(stores.target).keys()
    publish_pages(stores, shop(4), day=3)
    assert manifest_of(stores).unlisted == ()


def test_no_urls_at_all_is_refused(stores: Stores) -> None:
    """C-19, PUB-09: an empty sitemap would take the whole site out; the live site stays."""
    publish_pages(stores, shop(1))
    before = contents(stores.target), contents(stores.state)
    with pytest.raises(OutputError, match="has no URLs"):
        publish_pages(stores, {}, day=1)
    assert (contents(stores.target), contents(stores.state)) == before


def test_allow_empty_takes_the_index_away(stores: Stores) -> None:
    """P-37: an index that lists nothing is not valid, so there is none; the next release makes it anew."""
    publish_pages(stores, shop(1))
    assert publish_pages(stores, {}, day=1, allow_empty=True).epoch == 2
    assert contents(stores.target).keys() == {key_of(0)}
    publish_pages(stores, {}, day=2, allow_empty=True)
    publish_pages(stores, shop(1), day=3)
    assert contents(stores.target).keys() == {key_of(0), "sitemap.xml"}


def test_a_further_index_follows_and_leaves(stores: Stores) -> None:
    publish_pages(stores, shop(5), max_files=2)
    assert {"sitemap.xml", "sitemap-2.xml", "sitemap-3.xml"} < contents(stores.target).keys()
    publish_pages(stores, shop(3), day=1, max_files=2)
    assert "sitemap-3.xml" not in contents(stores.target)
    publish_pages(stores, shop(5), day=2, max_files=2)
    assert "sitemap-3.xml" in contents(stores.target)
    assert manifest_of(stores).unlisted == ()


def test_each_set_has_indexes_of_its_own(stores: Stores) -> None:
    """DESIGN 7: several indexes by one protocol; a set without an index is published and listed nowhere."""
    pages = shop(5)
    shards, _ = release_of(pages)
    names = ["main", "yandex", "yandex", "yandex", "baidu"]
    sets = [ReleaseSet("main", "sitemap.xml"), ReleaseSet("yandex", "sitemap-yandex.xml", 2), ReleaseSet("baidu", None)]
    split = [replace(shard, set=name) for shard, name in zip(shards, names, strict=True)]
    publish_pages(stores, pages, shards=split, sets=sets)
    found = contents(stores.target)
    assert {key: re.findall("shop-pages-[0-9a-f]+", found[key].decode()) for key in found if "sitemap" in key} == {
        "sitemap.xml": ["shop-pages-0000"],
        "sitemap-yandex.xml": ["shop-pages-0001", "shop-pages-0002"],
        "sitemap-yandex-2.xml": ["shop-pages-0003"],
    }
    assert key_of(4) in found
    assert [(index.key, index.set) for index in manifest_of(stores).indexes] == [
        ("sitemap.xml", "main"),
        ("sitemap-yandex.xml", "yandex"),
        ("sitemap-yandex-2.xml", "yandex"),
    ]
    publish_pages(stores, pages, day=1, shards=split[:1], sets=sets[:1])
    assert {key for key in contents(stores.target) if "sitemap" in key} == {"sitemap.xml"}


def test_a_shard_of_no_set_is_refused(stores: Stores) -> None:
    shards, _ = release_of(shop(1))
    with pytest.raises(OutputError, match="set 'main' has no set"):
        publish_pages(stores, shop(1), shards=shards, sets=[ReleaseSet("text", None)])


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda body: body[:-9], id="cut short"),
        pytest.param(gzip.compress, id="compressed twice"),
        pytest.param(gzip.decompress, id="not compressed"),
        pytest.param(lambda body: gzip.compress(xml_of("/other")), id="other content"),
        pytest.param(lambda body: body + body, id="two members"),
    ],
)
@pytest.mark.parametrize("place", ["new", "changed"])
def test_a_wrong_body_stops_before_the_commit(stores: Stores, place: str, damage: Any) -> None:
    """C-6, C-7, C-17: whatever is wrong with a body shows before the live site is touched."""
    publish_pages(stores, shop(3))
    live = contents(stores.target)
    pages = shop(4, s1=xml_of("/changed"))
    _, bodies = release_of(pages)
    key = key_of(3 if place == "new" else 1)
    bodies[key] = damage(bodies[key])
    with pytest.raises(OutputError, match=f"{key} can't be published"):
        publish_pages(stores, pages, day=1, body=bodies.__getitem__)
    after = contents(stores.target)
    assert {name: after[name] for name in live} == live
    assert read_before(stores.state, "shop").epoch == 1


def test_a_publish_that_broke_off_after_the_commit_is_completed_by_the_next(stores: Stores) -> None:
    """DESIGN 7: the next run finishes it from the bodies in `state`, before it looks at what it has to do itself."""
    publish_pages(stores, shop(4))
    pages = shop(4, s1=xml_of("/a"), s2=xml_of("/b"))
    _, bodies = release_of(pages)
    calls: list[str] = []

    def body(key: str) -> bytes:
        calls.append(key)
        if calls.count(key) > 1 and key == key_of(2):  # once for the check, then for the put
            raise OSError("killed")
        return bodies[key]

    with pytest.raises(OSError, match="killed"):
        publish_pages(stores, pages, day=1, body=body)
    assert read_before(stores.state, "shop").epoch == 2
    assert lastmods(stores)[key_of(1)] == "2026-12-01T04:44:19+00:00"
    result = publish_pages(stores, pages, day=1)
    assert result.completed == (key_of(2), "sitemap.xml")
    assert [shard.key for shard in result.plan.shards if shard.put] == []
    undisturbed = Stores(
        FolderStore(Path(stores.target.uri[7:]) / "../t2"), FolderStore(Path(stores.state.uri[7:]) / "../s2")
    )
    publish_pages(undisturbed, shop(4))
    publish_pages(undisturbed, pages, day=1)
    assert contents(stores.target) == contents(undisturbed.target)


def test_of_two_that_began_together_the_second_loses_and_says_so(stores: Stores) -> None:
    """PUB-07: the loser names the winner, and nothing of it is public."""
    publish_pages(stores, shop(2))
    seen = read_before(stores.state, "shop")
    publish_pages(stores, shop(2, s0=xml_of("/winner")), day=1, before=seen)
    live = contents(stores.target)
    with pytest.raises(ConflictError) as caught:
        publish_pages(stores, shop(3, s0=xml_of("/loser")), day=2, before=seen)
    assert "Release release-2 of shop was given up: release release-1 (epoch 2) is live" in str(caught.value)
    after = contents(stores.target)
    assert {key: after[key] for key in live} == live
    assert key_of(2).encode() not in after["sitemap.xml"]


def test_an_owner_that_was_overtaken_stops_before_the_index(stores: Stores) -> None:
    """A run that committed and then slept must not put its index over that of a newer release."""
    publish_pages(stores, shop(2))
    pages = shop(2, s0=xml_of("/old"))
    _, bodies = release_of(pages)
    calls = []

    def body(key: str) -> bytes:
        calls.append(key)
        if len(calls) == 2:  # committed, about to replace: a newer release comes and goes
            publish_pages(stores, shop(3, s0=xml_of("/newer")), day=2)
        return bodies[key]

    with pytest.raises(ConflictError, match=r"release release-2 \(epoch 3\) is live"):
        publish_pages(stores, pages, day=1, body=body)
    assert lastmods(stores)[key_of(0)] == "2026-12-03T04:44:19+00:00"
    assert gzip.decompress(contents(stores.target)[key_of(0)]) == xml_of("/newer")


class _Interrupted(FolderStore):
    """Lets something else happen right after this run's commit."""

    meanwhile: Callable[[], object] | None = None

    def put(self, key: str, *args: Any, **options: Any) -> Stored:
        stored = super().put(key, *args, **options)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile and key == "current.json":
            meanwhile()
        else:
            self.meanwhile = meanwhile
        return stored


def test_an_owner_that_was_overtaken_by_the_very_index_it_saw_stops_too(stores: Stores, tmp_path: Path) -> None:
    """DESIGN 7: a newer release with the old content brings the old index's ETag back: If-Match alone would hold."""
    publish_pages(stores, shop(3))
    live = contents(stores.target)
    state = _Interrupted(tmp_path / "state")
    state.meanwhile = lambda: publish_pages(stores, shop(3), release="back")
    with pytest.raises(ConflictError, match=r"release back \(epoch 3\) is live"):
        publish_pages(Stores(stores.target, state), shop(2), day=1)
    assert contents(stores.target) == live


def test_an_index_that_is_not_ours_is_not_overwritten(stores: Stores) -> None:
    """DESIGN 7: a target that already has an index is taken over only when that was said."""
    stores.target.put("sitemap.xml", b"<?xml someone's", Headers("application/xml"))
    with pytest.raises(TargetError, match=r"sitemap\.xml is there already, and file://.*/state/ knows no release"):
        publish_pages(stores, shop(1))
    assert contents(stores.target) == {"sitemap.xml": b"<?xml someone's"}
    assert contents(stores.state) == {}


def test_our_index_is_repaired_after_a_stranger_wrote_it(stores: Stores) -> None:
    """DESIGN 7: what the target had altered or lost is put right, and told, the index as well as the files."""
    publish_pages(stores, shop(2))
    right = contents(stores.target)
    stores.target.put("sitemap.xml", b"<?xml someone's", Headers("application/xml"))
    stores.target.put(key_of(0), gzip.compress(b"<?xml theirs"), Headers("application/gzip"))
    stores.target.delete([key_of(1)])
    result = publish_pages(stores, shop(2), day=1)
    assert contents(stores.target) == right
    assert [(shard.action, shard.put) for shard in result.plan.shards] == [
        ("unchanged", "replace"),
        ("unchanged", "create"),
    ]
    assert result.repaired == [key_of(0), key_of(1), "sitemap.xml"]


def test_an_index_that_changes_or_lags_is_not_called_repaired(stores: Stores) -> None:
    """Only what something else altered: not an index that a new release changes, nor one that a crash left behind."""
    publish_pages(stores, shop(2))
    assert publish_pages(stores, shop(3), day=1).repaired == []
    stores.target.delete(["sitemap.xml"])
    assert publish_pages(stores, shop(4), day=2, plan_only=True).repaired == ["sitemap.xml"]
    stores.state.delete(["projected.json"])
    assert publish_pages(stores, shop(4), day=2, plan_only=True).repaired == []
    assert publish_pages(stores, shop(4), day=2).repaired == []


def test_state_of_another_site_is_refused(stores: Stores) -> None:
    publish_pages(stores, shop(1))
    with pytest.raises(TargetError, match="holds the releases of the site 'shop', not of 'blog'"):
        publish_pages(stores, shop(1), site=Site(site="blog"))


@pytest.mark.parametrize("which", ["current.json", "manifest"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damaged_state_stops_and_names_the_object(stores: Stores, which: str, damage: str) -> None:
    publish_pages(stores, shop(1))
    key = next(key for key in contents(stores.state) if which in key)
    body = contents(stores.state)[key]
    stores.state.delete([key])
    if damage == "cut":
        stores.state.put(key, body[:-20], Headers("application/json"))
    live = contents(stores.target)
    lost = (which, damage) == ("current.json", "gone")
    with pytest.raises(TargetError, match="no release of this site" if lost else rf"{key} is (damaged|missing)"):
        publish_pages(stores, shop(2), day=1)
    assert contents(stores.target) == live


def test_progress_counts_the_files_put(stores: Stores) -> None:
    publish_pages(stores, shop(3))
    told: list[tuple[int, int]] = []
    publish_pages(stores, shop(5, s0=xml_of("/x")), day=1, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_few_bodies_are_in_memory_at_once(stores: Stores) -> None:
    """Memory is bounded: of 60 shards, at most 10 are fetched and not yet put (8 threads; C-103)."""
    pages = shop(60)
    _, bodies = release_of(pages)
    lock = threading.Lock()
    state = {"fetched": 0, "most": 0}

    def body(key: str) -> bytes:
        with lock:
            state["fetched"] += 1
            state["most"] = max(state["most"], state["fetched"] - sum(1 for _ in stores.target.list("shop-")))
        return bodies[key]

    publish_pages(stores, pages, body=body)
    assert 1 <= state["most"] <= 10


def test_two_files_of_one_name_are_refused(stores: Stores) -> None:
    shards, _ = release_of(shop(1))
    with pytest.raises(OutputError, match="Two files of one release"):
        publish_pages(stores, shop(1), shards=[*shards, *shards])


def test_a_naive_instant_is_a_fault_of_the_caller(stores: Stores) -> None:
    with pytest.raises(ValueError, match="aware"):
        publish_pages(stores, shop(1), as_of=FIRST_DAY.replace(tzinfo=None))


def test_a_plan_compares_content_not_size_or_time(stores: Stores) -> None:
    """C-15: one letter changes, the size does not."""
    publish_pages(stores, shop(1, s0=xml_of("/a")))
    size = len(contents(stores.target)[key_of(0)])
    others = (release_of(shop(1, s0=xml_of(f"/{letter}"))) for letter in "bcdefghijk")
    shards = next(shards for shards, bodies in others if len(bodies[key_of(0)]) == size)
    (planned,) = make_plan(shards, manifest_of(stores).shards, stores.target).shards
    assert (planned.action, planned.put) == ("changed", "replace")


def test_other_compressed_bytes_of_the_same_content_are_unchanged(stores: Stores) -> None:
    """C-12: another codec's bytes are no change."""
    publish_pages(stores, shop(1))
    pages = shop(1)
    other = {key: gzip.compress(xml, 1) for key, xml in pages.items()}
    result = publish_pages(stores, pages, day=1, body=other.__getitem__)
    assert [(shard.action, shard.put) for shard in result.plan.shards] == [("unchanged", None)]
