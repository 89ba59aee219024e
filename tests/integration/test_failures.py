"""What fails around a publisher: disks that are full, records that can't be read, a database that goes away (issue 4).

Each time the live site stays whole, the error is one sentence that says where to look, and the same run, tried again
when all is well, ends as if nothing had been.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SitemapOpsError, SourceError
from sitemap_ops.site import load_site
from sitemap_ops.steps import assemble, extract, prepare, publish
from tests.killing.kills import differences
from tests.killing.places import FolderPlace, Objects, Place, S3Place
from tests.killing.processes import forked
from tests.killing.reader import Expected, Reader
from tests.killing.records import check_records
from tests.killing.shop import Made, Shop, inventories, small_files, staying
from tests.services.faults import Fault, FaultProxy, faulty
from tests.services.postgres import new_database
from tests.services.s3 import S3Service
from tests.services.shared import missing
from tests.services.small_disk import NoMount, fill, mount_small_disk

pytestmark = pytest.mark.integration
__all__ = ["small_files"]


class Interrupted:
    """A site with a release, and a run for the next one."""

    def __init__(self, place: Place, folder: Path, work: Path | None = None) -> None:
        self.place = place
        self.shop = Shop.at(place, folder, work=work)
        before, self.after = inventories(7)
        self.first: str = self.shop.publish(self.shop.make(before, "first"))["release"]
        self.reader = Reader(place, Expected(staying(before, self.after)))
        self.base = place.objects()
        self.run = self.make()
        self.shop.publish(self.run)
        self.wanted: Objects = place.objects()
        place.restore(self.base)

    def make(self) -> Made:
        return self.shop.make(self.after, "second", day=1)

    def check_untouched(self) -> None:
        self.reader.site()
        assert not differences(self.base, self.place.objects(), private_too=False)

    def check_complete(self) -> None:
        self.reader.site()
        found = self.place.objects()
        check_records(found)
        assert not differences(self.wanted, found, private_too=True)


def error_of(job: Callable[[], Any]) -> str | None:
    """What stops a job, as its user is told; None where nothing does."""
    try:
        job()
    except SitemapOpsError as error:
        return f"{type(error).__name__}: {error}"
    return None


def on_a_small_disk(folder: Path, job: Callable[[], Any]) -> Any:
    """Do a job, in a child, with a small disk at the folder; gives the job's result."""
    folder.mkdir()

    def mounted() -> Any:
        mount_small_disk(folder, 300)
        return job()

    ended = forked(mounted)
    if ended.error and ended.error.startswith(NoMount.__name__):
        missing(f"root or user namespaces, to mount a small disk: {ended.error}")
    assert ended.well, ended.error
    return ended.gives


def test_a_target_without_space(tmp_path: Path) -> None:
    """C-17: wherever in a release the disk of target and state is full, nothing half-written is left."""
    disk = tmp_path / "disk"

    def job() -> list[str]:
        played = Interrupted(FolderPlace(disk), tmp_path / "shop")
        told = []
        for free in range(30):
            played.place.restore(played.base)
            filler = fill(disk, free=free)
            error = error_of(lambda: played.shop.publish(played.run))
            played.reader.site()
            assert not list(disk.rglob(".sitemap-ops-*[0-9a-f]")), "a temporary file is left"
            filler.unlink()
            if error is None:
                break
            played.shop.publish(played.run)
            played.check_complete()
            told.append(error)
        return told

    told = on_a_small_disk(disk, job)
    assert len(told) > 7
    assert all(each.startswith(f"TargetError: It was not possible to write {disk}/") for each in told)
    assert all("(No space left on device): check the folder, its permissions and the free" in each for each in told)
    for name in ("intent", "bodies", "public/shop-", "manifest", "current.json"):
        assert any(name in each for each in told), f"{name} was never the one"


def test_a_work_folder_without_space(tmp_path: Path) -> None:
    """C-17: the steps before publishing stop; they say what is full."""
    disk = tmp_path / "disk"

    def job() -> list[str]:
        played = Interrupted(FolderPlace(tmp_path / "place"), tmp_path / "shop", work=disk)
        told = []
        for free in range(60):
            played.place.restore(played.base)
            shutil.rmtree(disk / "shop")
            filler = fill(disk, free=free)
            error = error_of(lambda: played.shop.publish(played.make()))
            filler.unlink()
            if error is None:
                break
            played.check_untouched()
            played.shop.publish(played.make())
            played.check_complete()
            told.append(error)
        return told

    told = on_a_small_disk(disk, job)
    assert len(told) > 7
    assert all(each.startswith(f"TargetError: Can't write {disk}/shop/") for each in told)
    assert all("No space left on device" in each and "Look at the disk behind `work`." in each for each in told)
    for name in ("products-000000", "extract-products.json", "shards/shop-"):
        assert any(name in each for each in told), f"{name} was never the one"


def half(body: bytes) -> bytes:
    return body[: len(body) // 2]


def nothing(body: bytes) -> None:
    return None


DAMAGED = [
    ("current.json", half, r"current\.json is damaged: restore it from a backup"),
    ("current.json", lambda body: b"", r"current\.json is damaged"),
    ("current.json", lambda body: body.replace(b'"schema": 2', b'"schema": 3'), "written by a newer sitemap-ops"),
    ("current.json", lambda body: body.replace(b'"shop"', b'"blog"'), "holds the releases of the site 'blog'"),
    ("current.json", nothing, r"current\.json was removed from `state` while this run was at work"),
    ("manifest-", half, "manifest-[0-9a-f]+.json is damaged"),
    ("manifest-", nothing, "manifest-[0-9a-f]+.json is missing, though current.json or a later release names it"),
    ("projected.json", half, None),
    ("projected.json", nothing, None),
    ("stores.json", half, None),
]


@pytest.fixture(scope="module")
def on_s3(s3_service: S3Service, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    return Interrupted(S3Place(s3_service), tmp_path_factory.mktemp("shop"))


@pytest.mark.parametrize(("name", "damage", "told"), DAMAGED)
def test_records_that_are_damaged(
    on_s3: Interrupted, name: str, damage: Callable[[bytes], bytes | None], told: str | None
) -> None:
    """Better no new release than one over a misread past; what can be found out anew stops nothing."""
    objects = dict(on_s3.base)
    key = next(key for key in objects if key.startswith("private/") and name in key)
    body = damage(objects[key].body)
    if body is None:
        del objects[key]
    else:
        objects[key] = replace(objects[key], body=body)
    on_s3.place.restore(objects)
    error = error_of(lambda: on_s3.shop.publish(on_s3.run))
    if told:
        assert error
        assert re.search(told, error), error
        on_s3.check_untouched()
        on_s3.place.restore(on_s3.base)
        on_s3.shop.publish(on_s3.run)
    else:
        assert error is None
    on_s3.check_complete()


def test_a_record_that_was_removed_before_the_run_began(on_s3: Interrupted) -> None:
    """Without `current` a site's own index looks like another program's: nothing is overwritten."""
    on_s3.place.restore({name: each for name, each in on_s3.base.items() if not name.endswith("/current.json")})
    error = error_of(lambda: on_s3.shop.publish(on_s3.shop.again(on_s3.run)))
    assert error
    assert re.search(r"sitemap\.xml is there already, and .* knows no release of this site that made it", error), error
    on_s3.check_untouched()


@pytest.fixture(scope="module")
def on_a_line(
    s3_service: S3Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FaultProxy, Interrupted]]:
    with faulty(s3_service) as proxy:
        place = S3Place(s3_service, endpoint_url=proxy.endpoint_url)
        yield proxy, Interrupted(place, tmp_path_factory.mktemp("shop"))


@pytest.mark.parametrize("what", ["current.json", "manifest-", "stores.json", "projected.json", "list-type"])
def test_records_that_may_not_be_read(on_a_line: tuple[FaultProxy, Interrupted], what: str) -> None:
    """403 on any record, or on the list of them: the message names the object and what a policy has to allow."""
    proxy, played = on_a_line
    played.place.restore(played.base)
    proxy.faults.append(Fault("answer", "GET", what, times=999, status=403, code="AccessDenied"))
    error = error_of(lambda: played.shop.publish(played.run))
    proxy.faults.clear()
    assert error
    assert re.search(r"refused to (read|list) s3://\S+ \(403 AccessDenied\): check the connection's access", error)
    assert "s3:GetObject, s3:PutObject" in error
    played.check_untouched()
    played.shop.publish(played.run)
    played.check_complete()


SQL_SITE = """\
site: shop
base_url: https://www.example.com/
target: public/
work: work/
sections:
  - {name: goods, source: {type: sql, conn_id: shop_db, query: "SELECT url FROM good"}, loc: url}
"""


def test_a_database_that_drops_the_read_in_the_middle(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-19: rows that came before the server ended the connection are not taken for all of them: the run stops before
    it publishes, and the same run ends well when it is tried again."""
    url = new_database(postgres_url)
    monkeypatch.setenv("SITEMAP_OPS_CONN_SHOP_DB", url)
    (tmp_path / "shop.yaml").write_text(SQL_SITE)
    site, connections = load_site(tmp_path / "shop.yaml"), EnvironmentConnections()

    def attempt(day: int) -> dict[str, Any]:
        run = prepare(site, run_id=f"day-{day}", as_of=datetime(2026, 12, day, tzinfo=UTC))
        part = extract(site, run, "goods", connections)
        return publish(site, run, assemble(site, run, [part], connections), connections)

    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE TABLE pause (seconds float)")
        admin.execute("INSERT INTO pause VALUES (0)")
        admin.execute(
            "CREATE VIEW good AS SELECT '/p/' || g || CASE g WHEN 18000"
            " THEN pg_sleep((SELECT seconds FROM pause))::text ELSE '' END AS url FROM generate_series(1, 20000) g"
        )
        assert attempt(1)["entries"] == 20_000
        live = {path.name: path.read_bytes() for path in (tmp_path / "public").iterdir()}
        admin.execute("UPDATE pause SET seconds = 60")
        killer = threading.Thread(target=drop_who_sleeps, args=(url,))
        killer.start()
        with pytest.raises(
            SourceError, match=r"of 'shop_db' (failed|was cut off after [\d,]+ rows): terminating connection"
        ):
            attempt(2)
        killer.join()
        assert {path.name: path.read_bytes() for path in (tmp_path / "public").iterdir()} == live
        admin.execute("UPDATE pause SET seconds = 0")
        report = attempt(2)
        assert (report["entries"], report["shards"]["changed"], report["shards"]["added"]) == (20_000, 0, 0)


def drop_who_sleeps(url: str) -> None:
    """End the connection of whoever waits in pg_sleep."""
    with psycopg.connect(url, autocommit=True) as admin:
        for _ in range(600):
            ended = admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                " AND datname = current_database()"
            )
            if ended.fetchall():
                return
            time.sleep(0.05)
