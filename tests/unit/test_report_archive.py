"""What `state` keeps, read for people: runs in order, how a site stands, two releases compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitemap_ops.errors import TargetError
from sitemap_ops.report.archive import compare
from tests.releases import archive, run, small_site


def test_site_without_a_run(tmp_path: Path) -> None:
    """Before the first run there is nothing to show, and that is no error."""
    standing = archive(small_site(tmp_path)).standing()
    assert (standing.release, standing.report, standing.live, standing.stopped) == (None, None, None, None)
    assert archive(small_site(tmp_path)).outcomes(5) == []


def test_runs_newest_first(tmp_path: Path) -> None:
    """All runs, whatever became of them, in the order of their instants; as many as are asked for."""
    site = small_site(tmp_path)
    run(site, 1, 10)
    run(site, 2, 11, plan_only=True)
    run(site, 3, 2)
    found = archive(site).outcomes(9)
    assert [each.outcome for each in found] == ["stopped", "planned", "published"]
    assert [each.entries for each in found] == [3, 12, 11]
    assert found[0].failed == ("max_drop",)
    assert found[2].rejected == {"foreign-host": 1, "url-scheme": 1}
    assert (found[2].rejects, found[2].rewritten, found[2].sections) == (2, 2, {"products": 10, "pages": 1})
    assert [each.release for each in archive(site).outcomes(1)] == [found[0].release]
    assert [each.outcome for each in archive(site).outcomes(9, folders=("releases",))] == ["published"]


def test_a_stopped_run_is_told_until_one_publishes(tmp_path: Path) -> None:
    """The live release stays the site's; what stopped a run is shown as long as no later run published."""
    site = small_site(tmp_path)
    live = run(site, 1, 10)
    assert archive(site).standing().stopped is None
    run(site, 2, 2)
    standing = archive(site).standing()
    assert standing.release == live["release"]
    assert standing.live and standing.live.entries == 11
    assert standing.stopped and standing.stopped.run_id == "scheduled__day-2"
    run(site, 3, 11)
    assert archive(site).standing().stopped is None


def test_retried_run_is_read_anew(tmp_path: Path) -> None:
    """What is kept in memory of a report is not shown once the report is another."""
    site = small_site(tmp_path)
    report = run(site, 1, 10)
    assert archive(site).outcomes(1)[0].entries == 11
    path = tmp_path / "state/releases" / report["release"] / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"entries": 1_234_567}))
    assert archive(site).outcomes(1)[0].entries == 1_234_567


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"schema": 2}', "not json"])
def test_damaged_report_is_told_by_its_place(tmp_path: Path, body: str) -> None:
    """A report that can't be read is a sentence with its place, not a traceback."""
    site = small_site(tmp_path)
    report = run(site, 1, 10)
    (tmp_path / "state/releases" / report["release"] / "report.json").write_text(body)
    with pytest.raises(TargetError, match=f"{report['release']}/report.json is no report"):
        archive(site).report(report["release"])


def test_manifest_of_a_release_is_the_committed_one(tmp_path: Path) -> None:
    """Of several attempts of a run each left a manifest: the one in the chain is the release's."""
    site = small_site(tmp_path)
    old, new = run(site, 1, 10), run(site, 2, 11)
    (committed,) = (tmp_path / "state/releases" / old["release"]).glob("manifest-*.json")
    for name in ("manifest-0000000000000000.json", "manifest-ffffffffffffffff.json"):
        committed.with_name(name).write_text(committed.read_text().replace('"entries": 10', '"entries": 9'))
    found = archive(site).manifest(old["release"])
    assert found is not None
    assert sum(shard.entries for shard in found.shards) == 11
    assert archive(site).manifest(new["release"]) is not None
    assert archive(site).manifest("20200101T000000Z-00000000") is None


@pytest.mark.parametrize("keys", ["", "names: immutable\n"])
def test_two_releases_compared(tmp_path: Path, keys: str) -> None:
    """A file that changed is one change, also under immutable names, where its name changed too."""
    site = small_site(tmp_path, keys)
    reports = [run(site, 1, 10), run(site, 2, 12)]
    old, new = (archive(site).manifest(report["release"]) for report in reports)
    assert old and new
    (change,) = compare(old, new)
    assert (change.action, change.entries) == ("changed", 2)
    assert change.key.startswith("shop-products-")
    assert compare(new, new) == []


def test_added_and_removed_files(tmp_path: Path) -> None:
    """A section that comes is added files; seen the other way, removed ones."""
    site = small_site(tmp_path)
    reports = [run(site, 1, 0, force=True), run(site, 2, 3)]
    old, new = (archive(site).manifest(report["release"]) for report in reports)
    assert old and new
    assert [(change.action, change.entries) for change in compare(old, new)] == [("added", 3)]
    assert [(change.action, change.entries) for change in compare(new, old)] == [("removed", -3)]
