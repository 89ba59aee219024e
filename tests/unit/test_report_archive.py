"""What `state` keeps, read for people: runs in order, how a site stands, two releases compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitemap_ops.errors import TargetError
from sitemap_ops.report import urls
from sitemap_ops.report.archive import compare
from sitemap_ops.steps.releases import rollback
from tests.releases import CONNECTIONS, archive, audited, run, small_site


def test_site_without_a_run(tmp_path: Path) -> None:
    """Before the first run there is nothing to show, and that is no error."""
    standing = archive(small_site(tmp_path)).standing()
    assert (standing.release, standing.report, standing.live, standing.stopped) == (None, None, None, None)
    assert archive(small_site(tmp_path)).released(5) == []
    assert archive(small_site(tmp_path)).unreleased(5) == []


def test_runs_newest_first(tmp_path: Path) -> None:
    """Releases, and what was none, in the order of their instants; as many as are asked for."""
    site = small_site(tmp_path)
    run(site, 1, 10)
    run(site, 2, 11, plan_only=True)
    run(site, 3, 2)
    run(site, 4, 14)
    run(site, 5, 15)
    found = archive(site).released(2)
    assert [(each.outcome, each.entries) for each in found] == [("published", 16), ("published", 15)]
    assert found[0].rejected == {"foreign-host": 1, "url-scheme": 1}
    assert (found[0].rejects, found[0].rewritten, found[0].sections) == (2, 1, {"products": 15, "pages": 1})
    others = archive(site).unreleased(9)
    assert [(each.outcome, each.entries, each.failed) for each in others] == [
        ("stopped", 3, ("max_drop",)),
        ("planned", 12, ()),
    ]
    assert archive(site).unreleased(1) == others[:1]


def test_forced_and_rolled_back_releases(tmp_path: Path) -> None:
    """A release says how it came to be; after a rollback that one is live, and names what it put back."""
    site = small_site(tmp_path)
    first = run(site, 1, 10)
    run(site, 2, 2, force=True)
    rollback(site, first["release"], CONNECTIONS)
    found = archive(site).released(9)
    assert [each.outcome for each in found] == ["rolled back", "forced", "published"]
    standing = archive(site).standing()
    assert standing.release == found[0].release
    assert standing.report and standing.report["restores"] == first["release"]
    assert standing.live and standing.live.entries == 11


def test_release_without_a_report(tmp_path: Path) -> None:
    """A release whose report is gone, or that no run made, is listed with what the records say."""
    site = small_site(tmp_path)
    report = run(site, 1, 10)
    (tmp_path / "state/releases" / report["release"] / "report.json").unlink()
    (found,) = archive(site).released(9)
    assert (found.release, found.outcome, found.entries, found.shards["total"]) == (
        report["release"],
        "published",
        11,
        2,
    )
    assert archive(site).standing().report is None


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


def test_audits_newest_first(tmp_path: Path) -> None:
    """The audits that are kept, with how much each found; one by its name is whole."""
    site = small_site(tmp_path)
    name = audited(site)
    older = tmp_path / "state/audits/20251101T030000Z-bbbbbbbb.json"
    older.write_text((tmp_path / "state/audits" / f"{name}.json").read_text())
    found = archive(site).audits(9)
    assert [each.name for each in found] == [name, older.stem]
    assert (found[0].pages, found[0].files, found[0].totals["error"]) == (42, 1, 2)
    assert archive(site).audits(1) == found[:1]
    whole = archive(site).audit(name)
    assert whole and whole["totals"] == found[0].totals
    assert archive(site).audit("nothing") is None


def test_retried_run_is_read_anew(tmp_path: Path) -> None:
    """What is remembered of a report is not shown once a run that was tried again has left another."""
    site = small_site(tmp_path)
    report = run(site, 1, 10, plan_only=True)
    assert archive(site).unreleased(1)[0].entries == 11
    path = tmp_path / "state/plans" / report["release"] / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"entries": 1_234_567}))
    assert archive(site).unreleased(1)[0].entries == 1_234_567


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"schema": 2}', "not json"])
def test_damaged_report_is_told_by_its_place(tmp_path: Path, body: str) -> None:
    """A report that can't be read is a sentence with its place, not a traceback."""
    site = small_site(tmp_path)
    report = run(site, 1, 10)
    (tmp_path / "state/releases" / report["release"] / "report.json").write_text(body)
    with pytest.raises(TargetError, match=f"{report['release']}/report.json is no report"):
        archive(site).report(report["release"])


def test_manifest_of_a_release_is_the_committed_one(tmp_path: Path) -> None:
    """Of several attempts of a run each may have left a manifest: the one that the records name is the release's."""
    site = small_site(tmp_path)
    old, new = run(site, 1, 10), run(site, 2, 11)
    (committed,) = (tmp_path / "state/releases" / old["release"]).glob("manifest-*.json")
    for name in ("manifest-0000000000000000.json", "manifest-ffffffffffffffff.json"):
        committed.with_name(name).write_text("{}")
    found = archive(site).manifest(old["release"])
    assert found and sum(shard.entries for shard in found.shards) == 11
    assert [past.release for past in archive(site).kept()] == [new["release"], old["release"]]
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


def test_urls_of_two_releases_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which URLs came and went, as many as a page shows; where there is more, or too much to read, it is told."""
    site = small_site(tmp_path)
    reports = [run(site, 1, 3), run(site, 2, 5)]
    old, new = (archive(site).manifest(report["release"]) for report in reports)
    assert old and new
    found = urls.url_changes(archive(site), old, new, "main")
    assert [(change.loc, change.change) for change in found.changes] == [
        ("https://www.shop.example/p/3", "added"),
        ("https://www.shop.example/p/4", "added"),
    ]
    assert found.all
    assert urls.url_changes(archive(site), old, old, "main") == urls.UrlChanges([], all=True)
    monkeypatch.setattr(urls, "MAX_CHANGES", 1)
    assert urls.url_changes(archive(site), old, new, "main") == urls.UrlChanges(found.changes[:1], all=False)
    monkeypatch.setattr(urls, "MAX_BODIES", 1)
    assert urls.url_changes(archive(site), old, new, "main") == urls.UrlChanges([], all=False)
