"""Publishing to two real, unlike S3 APIs and to a folder."""

from __future__ import annotations

import gzip
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree

from sitemap_ops.errors import ConflictError, OutputError, TargetError
from sitemap_ops.release.history import read_before
from sitemap_ops.release.publish import PublishResult
from sitemap_ops.storage import Headers
from sitemap_ops.storage.folder import FolderStore
from sitemap_ops.storage.s3 import S3Store
from tests.publishing import Stores, contents, immutable, key_of, publish_pages, shop, xml_of
from tests.services.faults import Fault, faulty
from tests.services.s3 import S3Service

pytestmark = pytest.mark.integration

S3 = ["s3_service", "moto_service"]
SHORT = "public, max-age=300"


@dataclass
class Bucket:
    """A target and a state in one fresh bucket, a client of which all requests are recorded."""

    service: S3Service
    name: str
    requests: list[tuple[str, str]] = field(default_factory=list)

    @property
    def stores(self) -> Stores:
        client = self.service.client()
        client.meta.events.register("before-send.s3", self._record)
        return Stores(S3Store(client, self.name, "public"), S3Store(client, self.name, "private"))

    def _record(self, request: Any, **_: Any) -> None:
        path = unquote(urlsplit(request.url).path)
        self.requests.append((request.method, path.removeprefix(f"/{self.name}/")))

    def puts(self) -> list[str]:
        return [key for method, key in self.requests if method == "PUT"]

    def head(self, key: str) -> dict[str, Any]:
        """As any HTTP client sees it."""
        found: dict[str, Any] = self.service.client().head_object(Bucket=self.name, Key=f"public/{key}")
        return found

    def state_of_all(self) -> list[tuple[str, str, Any]]:
        listed = self.service.client().list_objects_v2(Bucket=self.name, Prefix="public/")["Contents"]
        return [(each["Key"], each["ETag"], each["LastModified"]) for each in listed]


@pytest.fixture(params=S3)
def on_s3(request: pytest.FixtureRequest) -> Bucket:
    service: S3Service = request.getfixturevalue(request.param)
    return Bucket(service, service.create_bucket())


@pytest.fixture(params=[*S3, "folder"])
def make_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Stores]:
    """Gives a fresh client each time, of the same target and state."""
    if request.param == "folder":
        return lambda: Stores(FolderStore(tmp_path / "target"), FolderStore(tmp_path / "state"))
    service: S3Service = request.getfixturevalue(request.param)
    bucket = service.create_bucket()
    return lambda: Stores(service.store(bucket, "public"), service.store(bucket, "private"))


def live_site(stores: Stores) -> dict[str, bytes]:
    """What a crawler finds: the XML of every file that the index lists. Fails where one is missing or broken."""
    index = stores.target.get("sitemap.xml")
    assert index is not None
    locs = [loc.text or "" for loc in etree.fromstring(index[0]).iter("{*}loc")]
    found = {}
    for loc in locs:
        got = stores.target.get(loc.removeprefix("https://www.example.com/"))
        assert got is not None, f"the index lists {loc}, which is not there"
        found[loc.rpartition("/")[2]] = gzip.decompress(got[0])
    return found


@pytest.mark.parametrize("named", [dict, immutable], ids=["stable", "immutable"])
def test_each_object_has_the_headers_of_its_kind(on_s3: Bucket, named: Any) -> None:
    """C-1, C-2, C-3, C-4, C-7, C-11, by a HEAD after the upload: the type of its own kind, never an encoding."""
    pages = named(shop(2))
    publish_pages(on_s3.stores, pages)
    for key in pages:
        head = on_s3.head(key)
        assert (head["ContentType"], head.get("ContentEncoding", "")) == ("application/gzip", "")
        assert head["CacheControl"] == (SHORT if named is dict else "public, max-age=31536000, immutable")
    head = on_s3.head("sitemap.xml")
    assert (head["ContentType"], head.get("ContentEncoding", "")) == ("application/xml; charset=utf-8", "")
    assert head["CacheControl"] == SHORT


def test_each_body_has_exactly_one_gzip_layer(make_stores: Callable[[], Stores]) -> None:
    """C-6: what is served under .xml.gz unpacks once, to XML; the index is XML as it is."""
    stores = make_stores()
    pages = shop(2)
    publish_pages(stores, pages)
    found = contents(stores.target)
    assert {key: gzip.decompress(found[key]) for key in pages} == pages
    assert found["sitemap.xml"].startswith(b"<?xml")


@pytest.mark.parametrize("named", [dict, immutable], ids=["stable", "immutable"])
def test_old_headers_are_repaired_though_the_content_is_unchanged(on_s3: Bucket, named: Any) -> None:
    """C-3: after a change of the header policy unchanged objects are put again, shards and index, and only those."""
    pages = named(shop(3))
    middle = list(pages)[1]
    publish_pages(on_s3.stores, pages)
    stores = on_s3.stores
    for key, old in ((middle, Headers("application/xml")), ("sitemap.xml", Headers("text/xml", SHORT))):
        body, stored = stores.target.get(key)  # type: ignore[misc]
        stores.target.put(key, body, old, sha256=stored.sha256)
    on_s3.requests.clear()
    result = publish_pages(on_s3.stores, pages, day=1)
    assert [(shard.action, shard.put) for shard in result.plan.shards] == [
        ("unchanged", None),
        ("unchanged", "replace"),
        ("unchanged", None),
    ]
    assert [key for key in on_s3.puts() if key.startswith("public/")] == [f"public/{middle}", "public/sitemap.xml"]
    assert on_s3.head(middle)["ContentType"] == "application/gzip"
    assert on_s3.head("sitemap.xml")["ContentType"] == "application/xml; charset=utf-8"


def test_the_order_of_writes(on_s3: Bucket) -> None:
    """DESIGN 7, PUB-01: intent, new files and bodies, manifest, the commit, union, changed files, index last."""
    publish_pages(on_s3.stores, shop(8))
    assert _phases(on_s3) == [
        {"PUT private/intent"},
        {f"PUT public/{key_of(n)}" for n in range(8)} | {"PUT private/bodies"},
        {"PUT private/manifest"},
        {"PUT private/current"},
        {"PUT public/sitemap.xml"},
        {"PUT private/projected"},
    ]
    on_s3.requests.clear()
    publish_pages(on_s3.stores, shop(10, s1=xml_of("/x"), s2=xml_of("/y")), day=1)
    assert _phases(on_s3) == [
        {"PUT private/intent"},
        {f"PUT public/{key_of(n)}" for n in (8, 9)} | {"PUT private/bodies"},
        {"PUT private/manifest"},
        {"PUT private/current"},
        {"PUT public/sitemap.xml"},
        {f"PUT public/{key_of(n)}" for n in (1, 2)},
        {"PUT public/sitemap.xml"},
        {"PUT private/projected"},
    ]
    assert on_s3.requests[0] == ("GET", "private/current.json")
    for key in [f"public/{key_of(n)}" for n in (1, 2, 8, 9)]:
        put = on_s3.requests.index(("PUT", key))
        next_phase = "private/current.json" if key.endswith(("8.xml.gz", "9.xml.gz")) else "private/projected.json"
        assert put < on_s3.requests.index(("GET", key)) < on_s3.requests.index(("PUT", next_phase))


def _phases(bucket: Bucket) -> list[set[str]]:
    """The writes, in order; those to shards, and of bodies to state, side by side count as one."""
    phases: list[set[str]] = []
    together = ("PUT public/shop-", "PUT private/bodies")
    for key in bucket.puts():
        name = "bodies" if "/bodies/" in key else key.split("/")[-1]
        told = f"PUT {key}" if key.startswith("public/") else f"PUT private/{name.split('.')[0].split('-')[0]}"
        if told.startswith(together) and phases and all(each.startswith(together) for each in phases[-1]):
            phases[-1].add(told)
        else:
            phases.append({told})
    return phases


def test_a_second_publish_changes_no_byte_and_uploads_nothing(on_s3: Bucket) -> None:
    """S3-15: the target gets no write at all: ETags and Last-Modified stay, crawlers get 304; current moves on."""
    publish_pages(on_s3.stores, shop(4))
    before = on_s3.state_of_all()
    on_s3.requests.clear()
    result = publish_pages(on_s3.stores, shop(4), day=1)
    assert on_s3.state_of_all() == before
    assert [key for method, key in on_s3.requests if method != "HEAD" and key.startswith("public/")] == []
    assert (result.uploaded, result.indexes_put, result.epoch) == (0, (), 2)


def test_the_same_content_gives_the_same_bytes_everywhere(make_stores: Callable[[], Stores], tmp_path: Path) -> None:
    """C-12: no clock and no name in the gzip, so any target gets the same bytes for the same content."""
    stores, elsewhere = make_stores(), Stores(FolderStore(tmp_path / "t2"), FolderStore(tmp_path / "s2"))
    for each in (stores, elsewhere):
        publish_pages(each, shop(3))
    assert contents(stores.target) == contents(elsewhere.target)
    for key, body in contents(stores.target).items():
        if key.endswith(".gz"):
            flags, mtime = body[3], body[4:8]
            assert (flags, mtime) == (0, b"\0\0\0\0")


def test_a_shrunk_index_keeps_no_tail(make_stores: Callable[[], Stores]) -> None:
    """C-13: an index of 6, then of 2: what is there is the new document alone."""
    publish_pages(make_stores(), shop(6))
    publish_pages(make_stores(), shop(2), day=1)
    assert live_site(make_stores()) == shop(2)
    assert contents(make_stores().target)["sitemap.xml"].endswith(b"</sitemapindex>\n")


def test_one_letter_of_the_same_size_is_published(make_stores: Callable[[], Stores]) -> None:
    """C-15: content is compared, not size."""
    publish_pages(make_stores(), shop(2, s0=xml_of("/a")))
    result = publish_pages(make_stores(), shop(2, s0=xml_of("/b")), day=1)
    assert [(shard.action, shard.put) for shard in result.plan.shards] == [("changed", "replace"), ("unchanged", None)]
    assert live_site(make_stores())[key_of(0)] == xml_of("/b")


def test_an_edit_rewrites_its_file_and_the_index_alone(on_s3: Bucket) -> None:
    publish_pages(on_s3.stores, shop(6))
    on_s3.requests.clear()
    publish_pages(on_s3.stores, shop(6, s3=xml_of("/3", "/new")), day=1)
    assert [key for key in on_s3.puts() if key.startswith("public/")] == [f"public/{key_of(3)}", "public/sitemap.xml"]


def test_of_publishers_that_start_together_one_wins_and_the_live_site_is_its_own(
    make_stores: Callable[[], Stores],
) -> None:
    """PUB-07: all have read the same current; one commits, the others say so; nothing of theirs is listed."""
    publish_pages(make_stores(), shop(3))
    for round_ in range(1, 4):
        barrier = threading.Barrier(4)

        def publisher(number: int, round_: int = round_, barrier: threading.Barrier = barrier) -> PublishResult | str:
            stores = make_stores()
            pages = _inventory(round_, number)
            before = read_before(stores.state, "shop")
            barrier.wait()
            try:
                return publish_pages(stores, pages, day=10 * round_ + number, before=before)
            except ConflictError as error:
                return str(error)

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(publisher, range(4)))
        won = [number for number, result in enumerate(results) if isinstance(result, PublishResult)]
        assert len(won) == 1, results
        told = f"release release-{10 * round_ + won[0]} (epoch {round_ + 1}) is live"
        assert all(told in result for result in results if isinstance(result, str))
        assert live_site(make_stores()) == _inventory(round_, won[0])
        current = read_before(make_stores().state, "shop").current
        assert current is not None
        assert current.epoch == round_ + 1


def _inventory(round_: int, number: int) -> dict[str, bytes]:
    """Different from all others in files that exist, in new ones, and in which ones there are."""
    pages = shop(3, s1=xml_of(f"/1?{round_}.{number}"))
    return pages | {key_of(10 * round_ + n): xml_of(f"/new?{round_}.{number}.{n}") for n in range(number + 1)}


def test_stores_that_refuse_stop_the_publish_before_it_writes(s3_service: S3Service, bucket: str) -> None:
    """Wrong secret, missing bucket: one sentence, no secret, nothing written anywhere."""
    good = s3_service.store(bucket, "private")
    wrong = S3Store(s3_service.client(secret_key="wr0ng"), bucket, "public")
    with pytest.raises(TargetError, match="check the connection's access key") as caught:
        publish_pages(Stores(wrong, good), shop(1))
    assert s3_service.secret_key not in str(caught.value)
    with pytest.raises(TargetError, match="There is no bucket 'nowhere-here'"):
        publish_pages(Stores(s3_service.store("nowhere-here"), good), shop(1))
    with pytest.raises(TargetError, match="There is no bucket 'nowhere-here'"):
        publish_pages(Stores(good, s3_service.store("nowhere-here")), shop(1))
    assert list(good.list()) == []


def test_no_secret_is_written(on_s3: Bucket) -> None:
    publish_pages(on_s3.stores, shop(2))
    everything = contents(on_s3.stores.state) | contents(on_s3.stores.target)
    secret = on_s3.service.secret_key.encode()
    assert everything
    assert not [key for key, body in everything.items() if secret in body or b"sitemapops" in body]


@pytest.fixture
def behind(s3_service: S3Service, bucket: str) -> Iterator[Any]:
    """(proxy, stores behind it, the same stores without it)."""
    with faulty(s3_service) as proxy:
        client = s3_service.client(endpoint_url=proxy.endpoint_url)
        straight = Stores(s3_service.store(bucket, "public"), s3_service.store(bucket, "private"))
        yield proxy, Stores(S3Store(client, bucket, "public"), S3Store(client, bucket, "private")), straight


@pytest.mark.parametrize("key", ["current.json", "sitemap.xml", "shop-pages-0000", "shop-pages-0004", "manifest"])
@pytest.mark.parametrize("kind", ["lose", "flip"])
def test_a_single_fault_at_any_write_is_overcome(behind: Any, key: str, kind: Any) -> None:
    """A lost answer, or a body damaged on its way: the publish succeeds, and the site is what it would have been."""
    proxy, stores, straight = behind
    publish_pages(straight, shop(4))
    proxy.faults.append(Fault(kind, "PUT", key))
    pages = shop(5, s0=xml_of("/changed"))
    assert publish_pages(stores, pages, day=1).epoch == 2
    assert ("PUT", kind) in [(method, fault) for method, _, fault in proxy.log]
    assert live_site(straight) == pages


@pytest.mark.parametrize(
    "key", ["intent", "shop-pages-0004", "manifest", "current.json", "shop-pages-0000", "sitemap.xml"]
)
def test_a_write_that_always_fails_leaves_a_whole_site_that_the_next_run_completes(behind: Any, key: str) -> None:
    """C-17, C-18: whichever write it is, every listed file is there and whole; then it is as if nothing had been."""
    proxy, stores, straight = behind
    publish_pages(straight, shop(4))
    pages = shop(5, s0=xml_of("/changed"))
    proxy.faults.append(Fault("answer", "PUT", key, times=999, status=400, code="Refused"))
    with pytest.raises(TargetError, match="400 Refused"):
        publish_pages(stores, pages, day=1)
    committed = key in {"shop-pages-0000", "sitemap.xml"}
    assert read_before(straight.state, "shop").epoch == (2 if committed else 1)
    assert live_site(straight).keys() - shop(4).keys() <= ({key_of(4)} if committed else set())
    if not committed:
        assert live_site(straight) == shop(4)
    proxy.faults.clear()
    publish_pages(stores, pages, day=2)
    assert live_site(straight) == pages


@pytest.mark.parametrize(("key", "epoch"), [("shop-pages-0004", 1), ("shop-pages-0000", 2), ("sitemap.xml", 2)])
def test_what_does_not_read_back_as_it_was_put_is_told(behind: Any, key: str, epoch: int) -> None:
    """PUB-06: each object is read back; a new file that is wrong stops before the commit."""
    proxy, stores, straight = behind
    publish_pages(straight, shop(4))
    proxy.faults.append(Fault("corrupt", "GET", key, times=99))
    with pytest.raises(OutputError, match=f"{key}.* does not read back as it was put"):
        publish_pages(stores, shop(5, s0=xml_of("/changed")), day=1)
    assert read_before(straight.state, "shop").epoch == epoch


def test_a_store_that_answers_every_fifth_request_with_503(behind: Any) -> None:
    proxy, stores, straight = behind
    chance = random.Random(7)
    take = proxy.take

    def now_and_then(method: str, path: str) -> Any:
        if chance.random() < 0.2:
            proxy.faults.append(Fault("answer", method, path, status=503, code="SlowDown"))
        return take(method, path)

    proxy.take = now_and_then
    pages = shop(12)
    publish_pages(stores, pages)
    assert "answer" in [fault for _, _, fault in proxy.log]
    assert live_site(straight) == pages
