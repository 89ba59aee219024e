"""The command `diff`, over releases that were built by the command `build`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.cli import main

SITE = """\
site: shop
base_url: https://www.example.com/
target: public
state: private
work: work
formats: [xml, txt]
guards: {max_drop: 1}
sections:
  - name: pages
    source: {type: csv, path: pages.csv}
    lastmod: lastmod
  - name: products
    source: {type: csv, path: products.csv}
"""
FIRST = {"pages": {"/a?x=1&y=2": "2026-01-01", "/b": "2026-01-01", "/c": ""}, "products": {"/p1": "", "/p2": ""}}
SECOND = {"pages": {"/a?x=1&y=2": "2026-02-02", "/b": "2026-01-01", "/d'": ""}, "products": {"/p1": "", "/p2": ""}}
ORIGIN = "https://www.example.com"


@pytest.fixture
def site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A site with two releases."""
    path = tmp_path / "shop.yaml"
    path.write_text(SITE)
    for inventory in (FIRST, SECOND):
        for section, rows in inventory.items():
            with (tmp_path / f"{section}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([("loc", "lastmod"), *rows.items()])
        assert main(["build", str(path)]) == 0
    capsys.readouterr()
    return path


def releases(site: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Their ids, the live one first."""
    assert main(["releases", str(site), "--json"]) == 0
    return [each["release"] for each in json.loads(capsys.readouterr().out)]


def diff(site: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["diff", str(site), *arguments]) == 0
    return capsys.readouterr().out


def as_json(site: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(diff(site, capsys, *arguments, "--json"))
    return found


def test_what_came_went_and_changed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """DESIGN 8: as a table; URLs as they are, not as XML escapes them."""
    new, old = releases(site, capsys)
    assert diff(site, capsys, old, "current").splitlines() == [
        f"changed  pages  {ORIGIN}/a?x=1&y=2",
        f"removed  pages  {ORIGIN}/c",
        f"added    pages  {ORIGIN}/d'",
        f"shop, set main, {old} to {new}: 1 added, 1 removed, 1 changed",
    ]


def test_as_json(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """... and as one document; backwards, what came went."""
    new, old = releases(site, capsys)
    assert as_json(site, capsys, new, old) == {
        "site": "shop",
        "set": "main",
        "old": new,
        "new": old,
        "changes": [
            {"section": "pages", "loc": f"{ORIGIN}/a?x=1&y=2", "change": "changed"},
            {"section": "pages", "loc": f"{ORIGIN}/c", "change": "added"},
            {"section": "pages", "loc": f"{ORIGIN}/d'", "change": "removed"},
        ],
        "counts": {"added": 1, "removed": 1, "changed": 1},
    }


def test_nothing_changed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(site, capsys, "current", "current")
    assert (found["changes"], found["counts"]) == ([], {"added": 0, "removed": 0, "changed": 0})


def test_a_limit_shows_less_and_counts_all(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, old = releases(site, capsys)
    lines = diff(site, capsys, old, "current", "--limit", "1").splitlines()
    assert lines[1] == "... and 2 more"
    assert lines[2].endswith("1 added, 1 removed, 1 changed")
    found = as_json(site, capsys, old, "current", "--limit", "0")
    assert (found["changes"], sum(found["counts"].values())) == ([], 3)


def test_another_set(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A text set has locs alone, so a new lastmod is no change there."""
    _, old = releases(site, capsys)
    found = as_json(site, capsys, old, "current", "--set", "txt")
    assert found["counts"] == {"added": 1, "removed": 1, "changed": 0}
    assert {change["loc"] for change in found["changes"]} == {f"{ORIGIN}/c", f"{ORIGIN}/d'"}


def test_what_the_target_lost_is_in_state(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bodies of kept releases are in `state`; a body that is missing there is read from the target."""
    _, old = releases(site, capsys)
    before = as_json(site, capsys, old, "current")
    for file in (site.parent / "public").iterdir():
        file.unlink()
    assert as_json(site, capsys, old, "current") == before


def test_a_body_that_is_nowhere_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, old = releases(site, capsys)
    for folder in ("public", "private/bodies"):
        for file in (site.parent / folder).iterdir():
            file.unlink()
    assert main(["diff", str(site), old, "current"]) == 1
    assert "The body of shop-pages-0000000000000000.xml.gz is neither in file://" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere", "current"], "Release 'nowhere' of shop is not kept: the command `releases` lists those that are"),
        (["current", "current", "--set", "fresh"], "Neither release has a file set 'fresh': they have main, txt."),
    ],
)
def test_mistakes(site: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    """Exit code 2, one sentence, no traceback."""
    assert main(["diff", str(site), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_limit_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["diff", "shop.yaml", "a", "b", "--limit", "-1"])
    assert left.value.code == 2
    assert "'-1' is not a whole number" in capsys.readouterr().err


def test_before_the_first_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shop.yaml").write_text(SITE)
    assert main(["diff", str(tmp_path / "shop.yaml"), "current", "current"]) == 2
    assert "has no release yet: build it first" in capsys.readouterr().err
