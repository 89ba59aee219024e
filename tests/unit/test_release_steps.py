"""The steps around a release: the fence that a run carries, retries, guards of sets, the report, the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.errors import ConflictError, GuardError, TargetError, UsageError
from sitemap_ops.site import Site
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from sitemap_ops.steps.releases import adopt, rebuild_state, releases, rollback
from sitemap_ops.storage.folder import FolderStore
from tests.stepping import AS_OF, CONNECTIONS, TWO_SECTIONS, files_of, locs, make_site, run_all

ENGINE_SET = "engine_sets: [yandex]\n"
STATE = ".sitemap-ops/shop"


def begin(site: Site, day: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run up to its publish step."""
    run = prepare(site, run_id=f"run-{day}", as_of=AS_OF.replace(day=day))
    parts = [extract(site, run, section.name, CONNECTIONS) for section in site.sections]
    return run, assemble(site, run, parts, CONNECTIONS)


def test_the_fence_is_read_when_a_run_begins(tmp_path: Path) -> None:
    """DESIGN 7: a run that began before a newer release loses, though its content is the same and it publishes last."""
    site = make_site(tmp_path)
    run, assembled = begin(site, 1)
    assert run["fence"] == {"epoch": 0, "etag": None, "release": None}
    newer = run_all(site, day=2)
    with pytest.raises(ConflictError, match=rf"was given up: release {newer['release']} \(epoch 1\) is live"):
        publish(site, run, assembled, CONNECTIONS)
    assert [each["release"] for each in releases(site, CONNECTIONS)] == [newer["release"]]


def test_a_run_from_before_a_rollback_loses(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    first = run_all(site, day=1)
    run, assembled = begin(site, 2)
    rollback(site, first["release"], CONNECTIONS)
    with pytest.raises(ConflictError, match="was given up"):
        publish(site, run, assembled, CONNECTIONS)


def test_a_retry_after_the_commit_completes_and_reports_as_the_first_attempt_would(tmp_path: Path) -> None:
    """Issue 4, item 6: killed after its commit, the publish step is run again by Airflow: it goes on from there."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n")
    run, assembled = begin(site, 2)
    first = publish(site, run, assembled, CONNECTIONS)
    state, target = FolderStore(tmp_path / STATE), FolderStore(tmp_path / "public")
    public = files_of(tmp_path)
    state.delete(["projected.json", f"releases/{run['release']}/report.json"])
    target.delete(["shop-pages-0000000000000000.xml.gz"])  # as if it had been cut off before
    again = publish(site, run, assembled, CONNECTIONS)
    assert files_of(tmp_path) == public
    same = ("release", "epoch", "entries", "shards", "planned", "guards", "rejected", "sections")
    assert {key: again[key] for key in same} == {key: first[key] for key in same}
    assert (tmp_path / STATE / "releases" / run["release"] / "report.json").exists()
    assert [each["epoch"] for each in releases(site, CONNECTIONS)] == [2, 1]


def test_a_run_that_a_guard_stops_finishes_what_was_cut_off(tmp_path: Path) -> None:
    """Finishing the committed release is right in any case; a plan writes nothing public at all."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    whole = files_of(tmp_path)
    FolderStore(tmp_path / STATE).delete(["projected.json"])
    (tmp_path / "public/sitemap.xml").unlink()
    (tmp_path / "pages.csv").write_text("url\n")
    (tmp_path / "products.csv").write_text("slug,changed\n")
    run_all(site, day=2, plan_only=True)
    assert "sitemap.xml" not in files_of(tmp_path)
    with pytest.raises(GuardError):
        run_all(site, day=3)
    assert files_of(tmp_path) == whole


def test_a_set_that_vanishes_stops_the_publish(tmp_path: Path) -> None:
    """Guards look at each file set: an engine's files must not be emptied while the sections look well."""
    long = "x" * 1_030  # more than Yandex takes in a path
    site = make_site(tmp_path, ENGINE_SET + TWO_SECTIONS, pages="url\n/a\n/b\n/c\n", products="slug,changed\nred,\n")
    run_all(site, day=1)
    (tmp_path / "pages.csv").write_text(f"url\n/{long}1\n/{long}2\n/{long}3\n")
    with pytest.raises(GuardError, match=r"The file set 'yandex' had 4 URLs and has 1 now \(75.0% fewer\)"):
        run_all(site, day=2)
    assert run_all(site, day=3, force=True)["forced"]


def test_a_set_that_comes_and_goes_is_told_of(tmp_path: Path) -> None:
    """A new set has no baseline and says so, one that is not made any more says that its files leave: no drop."""
    run_all(make_site(tmp_path), day=1)
    told = [guard["told"] for guard in run_all(make_site(tmp_path, ENGINE_SET + TWO_SECTIONS), day=2)["guards"]]
    assert "The file set 'yandex' is new; it is compared from now on." in told
    report = run_all(make_site(tmp_path), day=3)
    assert "The file set 'yandex' is not made any more; its files leave." in [each["told"] for each in report["guards"]]
    assert report["indexes_removed"] == ["sitemap-yandex.xml"]
    assert "sitemap-yandex.xml" not in files_of(tmp_path)


def test_the_report_tells_churn_epoch_repairs_and_what_was_pruned(tmp_path: Path) -> None:
    """Issue 4, item 2: entries changed, shards rewritten, bytes uploaded."""
    site = make_site(tmp_path)
    first = run_all(site, day=1)
    assert (first["epoch"], first["churn"]["entries"], first["churn"]["shards_rewritten"]) == (1, None, 2)
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n")
    (tmp_path / "products.csv").write_text("slug,changed\nred,2026-10-01\nblue,2026-10-03\n")
    report = run_all(site, day=2)
    assert report["churn"]["entries"] == {"added": 1, "removed": 0, "changed": 1}
    assert report["churn"]["bytes_uploaded"] == report["bytes"]["uploaded"] > 0
    (tmp_path / "public/shop-pages-0000000000000000.xml.gz").write_bytes(b"damaged")
    (tmp_path / "public/sitemap.xml").unlink()
    report = run_all(site, day=3)
    assert report["repaired"] == ["shop-pages-0000000000000000.xml.gz", "sitemap.xml"]
    assert report["churn"]["entries"] == {"added": 0, "removed": 0, "changed": 0}
    assert report["pruned"] == {"keys": [], "held_back": 0}
    assert report["completed_previous"] == []


def test_a_sweep_that_is_refused_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy may forbid to look for what killed runs left: the release is good, and the report says what stays."""

    def refuse(store: FolderStore) -> int:
        raise TargetError(f"refused to clean up {store.uri} (403).")

    monkeypatch.setattr(FolderStore, "sweep", refuse)
    report = run_all(make_site(tmp_path), day=1)
    (finding,) = [each for each in report["findings"] if each["code"] == "not-swept"]
    assert (report["outcome"], finding["level"]) == ("published", "warning")
    assert all(f"{tmp_path}/{folder}" in finding["place"] for folder in ("public", ".sitemap-ops"))
    assert "refused to clean up" in finding["advice"]


def test_releases_rollback_and_what_follows(tmp_path: Path) -> None:
    """Issue 4: releases are listed with what they hold; a rollback is one, with a report of the same shape."""
    site = make_site(tmp_path)
    reports = [run_all(site, day=1)]
    before = files_of(tmp_path)
    (tmp_path / "pages.csv").write_text("url\n/\n/new\n/more\n")
    reports.append(run_all(site, day=2))
    back = rollback(site, reports[0]["release"], CONNECTIONS)
    assert files_of(tmp_path) == before
    listed = releases(site, CONNECTIONS)
    assert [(each["release"], each["epoch"], each["entries"], each["current"]) for each in listed] == [
        (back["release"], 3, 3, True),
        (reports[1]["release"], 2, 5, False),
        (reports[0]["release"], 1, 3, False),
    ]
    assert [(each["outcome"], each["restores"], each["rejected"]) for each in listed] == [
        ("rolled back", reports[0]["release"], 1),
        ("published", None, 0),
        ("published", None, 1),
    ]
    assert set(back) >= set(reports[0]) - {"files", "churn", "robots_txt"}
    kept = json.loads((tmp_path / STATE / "releases" / back["release"] / "report.json").read_text())
    assert kept == back
    assert run_all(site, day=4)["entries"] == 5
    assert "https://a.example/more" in locs(tmp_path)
    with pytest.raises(UsageError, match="has no release 'x'"):
        rollback(site, "x", CONNECTIONS)


def test_staging_of_runs_that_were_cut_off_is_swept_up(tmp_path: Path) -> None:
    """Issue 4, item 6: temporary files are cleaned up, a killed run's too, once nobody can be about to try it again."""
    site = make_site(tmp_path)
    killed, recent = begin(site, 1)[0], begin(site, 29)[0]
    (tmp_path / "work/shop/mine").mkdir()
    (tmp_path / "work/shop/mine/notes.txt").write_text("kept")
    run = begin(site, 30)[0]
    cleanup(site, run, CONNECTIONS)
    left = {path.name for path in (tmp_path / "work/shop").iterdir()}
    assert left == {"mine", recent["release"]}
    assert killed["release"] not in left


def test_a_forced_release_is_listed_as_such(tmp_path: Path) -> None:
    """`force` is recorded with the release, and holds for its run alone."""
    site = make_site(tmp_path)
    run_all(site, day=1)
    (tmp_path / "pages.csv").write_text("url\n")
    run_all(site, day=2, force=True)
    (tmp_path / "products.csv").write_text("slug,changed\nred,\n")
    with pytest.raises(GuardError):
        run_all(site, day=3)
    assert [each["outcome"] for each in releases(site, CONNECTIONS)] == ["forced", "published"]


def test_a_lost_state(tmp_path: Path) -> None:
    """Issue 4, item 4: rebuilt from the target with one command; the next build uploads nothing."""
    site = make_site(tmp_path, ENGINE_SET + TWO_SECTIONS)
    run_all(site, day=1)
    before = files_of(tmp_path)
    FolderStore(tmp_path / STATE).delete([each.key for each in FolderStore(tmp_path / STATE).list()])
    with pytest.raises(TargetError, match="rebuild-state"):
        run_all(site, day=2)
    live = rebuild_state(site, CONNECTIONS)
    assert (live["entries"], live["sections"]) == (3, {"products": 2, "pages": 1})
    assert live["indexes"] == ["sitemap.xml", "sitemap-yandex.xml"]
    assert run_all(site, day=3)["bytes"]["uploaded"] == 0
    assert files_of(tmp_path) == before


def test_a_target_that_has_an_index(tmp_path: Path) -> None:
    """DESIGN 7: what becomes of it has to be said once; then builds go on from there."""
    site = make_site(tmp_path)
    (tmp_path / "public").mkdir()
    index = '<?xml version="1.0"?><sitemapindex><sitemap><loc>https://a.example/old.xml</loc></sitemap></sitemapindex>'
    (tmp_path / "public/sitemap.xml").write_text(index)
    old = '<?xml version="1.0"?><urlset><url><loc>https://a.example/o</loc></url></urlset>'
    (tmp_path / "public/old.xml").write_text(old)
    with pytest.raises(TargetError, match="say what becomes of it with adopt"):
        run_all(site, day=1)
    assert adopt(site, "list", CONNECTIONS)["files"] == ("https://a.example/old.xml",)
    run_all(site, day=2)
    assert "old.xml" in files_of(tmp_path)["sitemap.xml"].decode()
    assert releases(site, CONNECTIONS)[1]["outcome"] == "adopted"
