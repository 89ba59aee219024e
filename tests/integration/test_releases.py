"""Releases on two real, unlike S3 APIs and a folder: pruning, rollback, adopting, a lost state; and the commands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sitemap_ops.cli import main
from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.release.adopt import adopt
from sitemap_ops.release.history import read_before
from sitemap_ops.release.left import Keep
from sitemap_ops.release.publish import ReleaseSet
from sitemap_ops.release.rebuild import rebuild
from sitemap_ops.storage import Headers
from sitemap_ops.storage.folder import FolderStore
from tests.protocol import put_back
from tests.publishing import FIRST_DAY, Stores, contents, immutable, publish_pages, shop, xml_of
from tests.services.s3 import S3Service

pytestmark = pytest.mark.integration

NAMED = {"stable": dict, "immutable": immutable}
BASE = "https://www.example.com/"


@pytest.fixture(params=["s3_service", "moto_service", "folder"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    if request.param == "folder":
        return Stores(FolderStore(tmp_path / "target"), FolderStore(tmp_path / "state"))
    service: S3Service = request.getfixturevalue(request.param)
    bucket = service.create_bucket()
    return Stores(service.store(bucket, "public"), service.store(bucket, "private"))


def named(day: int, names: str) -> dict[str, bytes]:
    """Of each day another middle file, and one file more or fewer."""
    return NAMED[names](shop(4 + day % 2, s1=xml_of(f"/1?{day}")))


@pytest.mark.parametrize("names", sorted(NAMED))
def test_rollback_after_pruning_restores_every_byte(stores: Stores, names: str) -> None:
    """Issue 4, PUB-11: the last releases come back with all headers and bytes, whatever has left the target."""
    seen: dict[int, dict[str, bytes]] = {}
    keep = Keep(releases=3, days=1)
    for day in (0, 31, 62, 93):
        publish_pages(stores, named(day, names), day=day, retention=keep)
        found = contents(stores.target)
        seen[day] = {key: found[key] for key in (*named(day, names), "sitemap.xml")}
    if names == "immutable":
        assert not contents(stores.target).keys() & (named(0, names).keys() - named(31, names).keys()), "not pruned"
    stores.target.delete(contents(stores.target).keys() - seen[93].keys())
    for number, day in enumerate((31, 93), 1):
        put_back(stores, f"release-{day}", run=f"back-{number}", day=93 + number, keep=keep)
        found = contents(stores.target)
        assert {key: found.get(key) for key in seen[day]} == seen[day]
    before = read_before(stores.state, "shop")
    assert before.current
    assert (before.current.release, before.epoch) == ("back-2", 6)
    assert publish_pages(stores, named(93, names), day=97, retention=keep).uploaded == 0


def test_a_stale_run_does_not_overwrite_a_rollback(stores: Stores) -> None:
    """Issue 4: a run that began before a rollback loses its commit, though it saw the ETags that are live again."""
    publish_pages(stores, shop(3))
    publish_pages(stores, shop(3, s0=xml_of("/x")), day=1)
    stale = read_before(stores.state, "shop")
    put_back(stores, "release-0")
    put_back(stores, "release-1", run="forth", day=10)
    live = contents(stores.target)
    with pytest.raises(ConflictError, match="release forth"):
        publish_pages(stores, shop(3, s0=xml_of("/stale")), day=2, before=stale)
    assert contents(stores.target) == live


def test_another_programs_index(stores: Stores) -> None:
    """DESIGN 7: stopped at first, then replaced as was said; its files are known by their content, for they carry no
    digest of ours, and leave after the grace period."""
    stores.target.put("blog.xml.gz", gzip.compress(xml_of("/blog")), Headers("application/gzip"))
    index = f"<?xml version='1.0'?><sitemapindex><sitemap><loc>{BASE}blog.xml.gz</loc></sitemap></sitemapindex>"
    stores.target.put("sitemap.xml", index.encode(), Headers("application/xml"))
    with pytest.raises(TargetError, match="say what becomes of it with adopt"):
        publish_pages(stores, shop(2))
    adopt(
        mode="replace",
        site="shop",
        files_url=BASE,
        main=ReleaseSet("main", "sitemap.xml"),
        release="adopt",
        run_id="adopt",
        as_of=FIRST_DAY.isoformat(),
        target=stores.target,
        state=stores.state,
    )
    for day in (1, 40, 41, 42, 43):
        publish_pages(stores, shop(2), day=day)
        assert ("blog.xml.gz" in contents(stores.target)) == (day < 43)
    assert contents(stores.target).keys() == {*shop(2), "sitemap.xml"}


def test_a_lost_state_is_made_anew(stores: Stores) -> None:
    """Issue 4, item 4: from the target alone; what is live then is known, and nothing of it is uploaded again."""
    publish_pages(stores, shop(4))
    before = contents(stores.target)
    stores.state.delete(contents(stores.state).keys())
    rebuild(
        site="shop",
        files_url=BASE,
        sets=[ReleaseSet("main", "sitemap.xml")],
        sections=["pages"],
        release="rebuilt",
        run_id="rebuild",
        as_of=FIRST_DAY.isoformat(),
        target=stores.target,
        state=stores.state,
    )
    assert publish_pages(stores, shop(4), day=1).uploaded == 0
    assert contents(stores.target) == before
    put_back(stores, "rebuilt")
    assert contents(stores.target) == before


def test_the_commands(
    tmp_path: Path,
    s3_service: S3Service,
    bucket: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """DESIGN 8: build, releases, rollback, rebuild-state and adopt on S3; a mistake is one sentence and exit code 2."""
    for name, value in s3_service.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "site.yaml"
    site = (
        f"site: shop\nbase_url: {BASE}\ntarget: s3://{bucket}/public/\nstate: s3://{bucket}/private/\n"
        "guards: {max_drop: 1}\nsections:\n  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}\n"
    )
    file.write_text(site)

    def call(command: str, *arguments: str, code: int = 0) -> str:
        assert main([command, str(file), *arguments]) == code
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.err

    (tmp_path / "pages.csv").write_text("url\n/\n/a\n")
    first = json.loads(call("build", "--json"))["release"]
    (tmp_path / "pages.csv").write_text("url\n/\n/b\n")
    second = json.loads(call("build", "--json"))["release"]
    listed = call("releases")
    assert listed.index("live") < listed.index(second) < listed.index(first)
    assert f"release {first} is live again" in call("rollback", "--to", first)
    listed = json.loads(call("releases", "--json"))
    assert [(each["outcome"], each["current"]) for each in listed] == [
        ("rolled back", True),
        ("published", False),
        ("published", False),
    ]
    assert "has no release 'nothing'" in call("rollback", "--to", "nothing", code=2)
    assert "nothing to rebuild" in call("rebuild-state", code=2)
    state = s3_service.store(bucket, "private")
    state.delete(contents(state).keys())
    assert "adopt (--keep, --list or --replace)" in call("build", code=1)
    file.write_text(site.replace("loc: url", "loc: url, track: [url]"))
    told = call("rebuild-state")
    assert "2 entries in 1 shards, listed by sitemap.xml\n" in told
    assert "section pages: the dates that `track` had found out are lost" in told
    assert "nothing to adopt" in call("adopt", "--replace", code=2)
    file.write_text(site.replace("private/", "other/"))
    assert json.loads(call("adopt", "--list", "--json"))["mode"] == "list"
    assert "adopted" in call("releases")
