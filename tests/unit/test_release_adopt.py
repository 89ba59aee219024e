"""A target with another program's index, and a state that was lost."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.errors import TargetError, UsageError
from sitemap_ops.release.adopt import Adopted, adopt
from sitemap_ops.release.history import read_before
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.publish import ReleaseSet
from sitemap_ops.release.rebuild import rebuild
from sitemap_ops.storage import Headers
from tests.protocol import bodies, live, memory_stores
from tests.publishing import FIRST_DAY, Stores, key_of, publish_pages, shop, xml_of

XML = Headers("text/xml")
BASE = "https://www.example.com/"


def index_of(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc><lastmod>2026-01-01</lastmod></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'.encode()


def another_programs(name: str = "sitemap.xml") -> Stores:
    """A target with its index, two sitemaps below it, one elsewhere and one that is missing."""
    stores = memory_stores()
    stores.target.put("blog.xml", xml_of("/blog/1", "/blog/2"), XML)
    stores.target.put("wp/posts.xml.gz", gzip.compress(xml_of("/post")), Headers("application/x-gzip"))
    listed = [f"{BASE}blog.xml", f"{BASE}wp/posts.xml.gz", "https://cdn.example/x.xml", f"{BASE}gone.xml"]
    stores.target.put(name, index_of(*listed), XML)
    return stores


def agree(stores: Stores, mode: Any, index: str = "sitemap.xml", day: int = 0) -> Adopted:
    return adopt(
        mode=mode,
        site="shop",
        files_url=BASE,
        main=ReleaseSet("main", index),
        release=f"adopt-{mode}",
        run_id="adopt",
        as_of=FIRST_DAY.replace(day=1 + day).isoformat(),
        target=stores.target,
        state=stores.state,
    )


def listed(stores: Stores, index: str = "sitemap.xml") -> list[str]:
    root = etree.fromstring(bodies(stores.target)[index])
    return [(loc.text or "").removeprefix(BASE) for loc in root.iter("{*}loc")]


@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap_index.xml"])
def test_it_has_to_be_said(name: str) -> None:
    """DESIGN 7: a first run on a target with an index that no release owns stops, also under one of the usual names."""
    stores = another_programs(name)
    before = bodies(stores.target)
    with pytest.raises(TargetError, match=rf"{name} is there already, .*with adopt \(--keep, --list or --replace\)"):
        publish_pages(stores, shop(1))
    with pytest.raises(TargetError, match="is there already"):
        publish_pages(stores, shop(1), plan_only=True)
    assert bodies(stores.target) == before
    assert bodies(stores.state) == {}


def test_a_sitemap_that_is_no_index_is_nobodys_business() -> None:
    """Only an index says that the site has sitemaps already; a file called so that lists pages is no reason to stop."""
    stores = memory_stores()
    stores.target.put("sitemap-index.xml", xml_of("/"), XML)
    publish_pages(stores, shop(1))
    assert live(stores.target) == shop(1)


def test_keep() -> None:
    """The old index and its files stay as they are, for good, beside ours, which has a name of its own."""
    stores = another_programs()
    before = bodies(stores.target)
    with pytest.raises(UsageError, match="Set `index` to another name"):
        agree(stores, "keep")
    assert agree(stores, "keep", "ours.xml").indexes == ("sitemap.xml",)
    sets = [ReleaseSet("main", "ours.xml")]
    for day in (1, 50, 100):
        publish_pages(stores, shop(2), day=day, sets=sets)
    found = bodies(stores.target)
    assert {key: found[key] for key in before} == before
    assert listed(stores, "ours.xml") == [key_of(0), key_of(1)]
    with pytest.raises(TargetError, match="is there already"):
        publish_pages(stores, shop(2), day=101)


def test_list() -> None:
    """Ours takes its place and lists its files too, without a lastmod that nobody keeps up, until they are gone."""
    stores = another_programs()
    adopted = agree(stores, "list")
    assert adopted.files == (f"{BASE}blog.xml", f"{BASE}wp/posts.xml.gz")
    assert adopted.left_out == ("https://cdn.example/x.xml", f"{BASE}gone.xml")
    publish_pages(stores, shop(2), day=1)
    assert listed(stores) == [key_of(0), key_of(1), "blog.xml", "wp/posts.xml.gz"]
    assert b"blog.xml</loc></sitemap>" in bodies(stores.target)["sitemap.xml"]
    publish_pages(stores, shop(1), day=100)
    assert {"blog.xml", "wp/posts.xml.gz"} < bodies(stores.target).keys()
    stores.target.delete(["blog.xml"])
    publish_pages(stores, shop(1), day=101)
    assert listed(stores) == [key_of(0), "wp/posts.xml.gz"]


def test_list_and_then_replace() -> None:
    """Retired: no longer listed from the next build on, and removed after the grace period."""
    stores = another_programs()
    agree(stores, "list")
    publish_pages(stores, shop(2), day=1)
    with pytest.raises(UsageError, match="nothing to adopt"):
        agree(stores, "keep", day=2)
    assert agree(stores, "replace", day=2).files == (f"{BASE}blog.xml", f"{BASE}wp/posts.xml.gz")
    assert "blog.xml" in listed(stores)
    publish_pages(stores, shop(2), day=3)
    assert listed(stores) == [key_of(0), key_of(1)]
    assert "blog.xml" in bodies(stores.target)
    publish_pages(stores, shop(2), day=40)
    publish_pages(stores, shop(2), day=41)
    assert bodies(stores.target).keys() == {*shop(2), "sitemap.xml"}


@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap_index.xml"])
def test_replace(name: str) -> None:
    """Its files are listed until ours are, then unlisted, and removed after the grace period; others stay."""
    stores = another_programs(name)
    stores.target.put("other.xml", xml_of("/other"), XML)
    assert agree(stores, "replace").files == (f"{BASE}blog.xml", f"{BASE}wp/posts.xml.gz")
    result = publish_pages(stores, shop(2), day=1)
    assert [(shard.key, shard.action) for shard in result.plan.shards][2:] == [
        ("blog.xml", "removed"),
        ("wp/posts.xml.gz", "removed"),
    ]
    assert listed(stores) == [key_of(0), key_of(1)]
    assert {"blog.xml", "wp/posts.xml.gz", name} < bodies(stores.target).keys()
    for day in (40, 41, 42, 43):
        publish_pages(stores, shop(2), day=day)
    assert bodies(stores.target).keys() == {*shop(2), "sitemap.xml", "other.xml"}


def test_replace_a_sitemap_under_our_indexs_name() -> None:
    """A single sitemap.xml: it can't be listed by an index of its own name, but replaced."""
    stores = memory_stores()
    stores.target.put("sitemap.xml", xml_of("/old"), XML)
    with pytest.raises(TargetError, match="is there already"):
        publish_pages(stores, shop(1))
    with pytest.raises(UsageError, match="is no index, so that its files could be listed"):
        agree(stores, "list")
    agree(stores, "replace")
    publish_pages(stores, shop(1), day=1)
    assert listed(stores) == [key_of(0)]


def test_nothing_to_adopt() -> None:
    """An empty target, and a site with releases of its own: a call that is wrong says so and writes nothing."""
    stores = memory_stores()
    with pytest.raises(UsageError, match="has no index that could be adopted"):
        agree(stores, "replace")
    publish_pages(stores, shop(1))
    before = bodies(stores.state)
    with pytest.raises(UsageError, match="its index is its own"):
        agree(stores, "replace")
    assert bodies(stores.state) == before


def make_anew(stores: Stores, **options: Any) -> Manifest:
    arguments: dict[str, Any] = {
        "site": "shop",
        "files_url": BASE,
        "sets": [ReleaseSet("main", "sitemap.xml", 3)],
        "sections": ["pages", "pages-x"],
        "release": "rebuilt",
        "run_id": "rebuild",
        "as_of": FIRST_DAY.replace(day=9).isoformat(),
        "target": stores.target,
        "state": stores.state,
    }
    return rebuild(**(arguments | options))


def test_a_lost_state_is_made_anew() -> None:
    """Issue 4: with one command; the next build of the same content uploads nothing and keeps every lastmod."""
    stores = memory_stores()
    publish_pages(stores, shop(5), max_files=3)
    publish_pages(stores, shop(5, s1=xml_of("/1", "/new")), day=1, max_files=3)
    before = read_before(stores.state, "shop").manifest
    target = bodies(stores.target)
    stores.state.objects.clear()  # type: ignore[attr-defined]
    with pytest.raises(TargetError, match="or make that anew with rebuild-state"):
        publish_pages(stores, shop(5), day=2, max_files=3)
    manifest = make_anew(stores)
    assert before
    assert (manifest.shards, manifest.indexes, manifest.sections) == (before.shards, before.indexes, before.sections)
    assert manifest.outcome == "rebuilt"
    result = publish_pages(stores, shop(5, s1=xml_of("/1", "/new")), day=10, max_files=3)
    assert (result.uploaded, result.plan.count("unchanged")) == (0, 5)
    assert bodies(stores.target) == target
    with pytest.raises(UsageError, match="has releases of shop: there is nothing to rebuild"):
        make_anew(stores)


def test_guests_are_found_again() -> None:
    """What the index listed of another program's files it lists again."""
    stores = another_programs()
    agree(stores, "list")
    publish_pages(stores, shop(2), day=1)
    target = bodies(stores.target)
    stores.state.objects.clear()  # type: ignore[attr-defined]
    assert make_anew(stores, sets=[ReleaseSet("main", "sitemap.xml")]).guests == (
        f"{BASE}blog.xml",
        f"{BASE}wp/posts.xml.gz",
    )
    publish_pages(stores, shop(2), day=10)
    assert bodies(stores.target) == target


@pytest.mark.parametrize(
    ("damage", "error", "says"),
    [
        pytest.param(
            lambda t: t.delete([key_of(1)]), TargetError, "is listed, but is missing or damaged", id="missing"
        ),
        pytest.param(
            lambda t: t.put(key_of(1), b"\x1f\x8b\x08", Headers("application/gzip")),
            TargetError,
            "is listed, but is missing or damaged",
            id="damaged",
        ),
        pytest.param(lambda t: t.put("sitemap.xml", b"<a/>", XML), TargetError, "is no index", id="no index"),
        pytest.param(lambda t: t.delete(["sitemap.xml"]), UsageError, "has no index of this site", id="nothing"),
    ],
)
def test_what_can_not_be_made_anew(damage: Any, error: type[Exception], says: str) -> None:
    """Nothing is guessed: a target that is not whole is told of, and no release is made of it."""
    stores = memory_stores()
    publish_pages(stores, shop(3))
    stores.state.objects.clear()  # type: ignore[attr-defined]
    damage(stores.target)
    with pytest.raises(error, match=says):
        make_anew(stores)
    assert read_before(stores.state, "shop").current is None
