"""Cases B6, end to end: lastmod."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.building import HOME, Built, build

LASTMODS = {
    "naive": ("2018-02-21T13:31:28", "2018-02-21"),
    "aware": ("2018-02-21T13:31:28+03:00", "2018-02-21T13:31:28+03:00"),
    "fraction": ("2018-02-21T13:31:59.752706Z", "2018-02-21T13:31:59Z"),
    "nanoseconds": ("2018-02-21T13:31:59.000000001Z", "2018-02-21T13:31:59Z"),
    "joined": ("20180221", "2018-02-21"),
    "unpadded": ("2018-2-1", "2018-02-01"),
    "ambiguous": ("02.03.18", None),
    "words": ("21 şubat 2018 öğleden sonra", None),
    "old": ("1940-12-22", None),
    "date": ("2018-02-21", "2018-02-21"),
    **{f"missing-{value.strip('<>') or 'blank'}": (value, None) for value in ("NaT", "nan", "None", "<NA>", "")},
}


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Built:
    rows = [{"url": f"/{name}", "day": text} for name, (text, _) in LASTMODS.items()]
    return build(tmp_path_factory.mktemp("dated"), rows, section=", lastmod: day")


@pytest.mark.parametrize("name", LASTMODS)
def test_lastmod(name: str, dated: Built) -> None:
    """C-55, C-57, C-58, C-59, C-61: each time in one of two forms that every reader takes, or no tag at all."""
    assert dated.entries[f"{HOME}/{name}"].get("lastmod") == LASTMODS[name][1]


def test_zone(tmp_path: Path, dated: Built) -> None:
    """C-55: a naive time is its date, and counted, until the site file names its zone."""
    assert dated.report["changed"]["lastmod-timezone"] == 1
    built = build(tmp_path, [{"url": "/a", "day": "2018-02-21T13:31:28"}], section=", lastmod: day, lastmod_timezone: Europe/Istanbul")  # fmt: skip  # noqa: E501
    assert built.entries[f"{HOME}/a"]["lastmod"] == "2018-02-21T13:31:28+03:00"


def test_missing_is_never_text(dated: Built) -> None:
    """C-59: the output holds no NaT, nan, None or <NA>; C-63: what is absent stays absent."""
    assert not re.search(r"<lastmod>\s*(NaT|nan|None|&lt;NA&gt;)?\s*</lastmod>", dated.body())


def test_what_was_dropped_is_counted(dated: Built) -> None:
    """C-58, C-61: no text is passed through; what can't be used is counted by its reason."""
    assert dated.report["changed"]["lastmod-before-1970"] == 1
    assert dated.report["changed"]["lastmod-format"] >= 1


def test_all_rows_say_now(tmp_path: Path) -> None:
    """C-63: a column that holds the time of the reading, for every row, is warned of."""
    rows = [{"url": f"/{n}", "day": "2026-11-30T03:00:00Z"} for n in range(200)]
    findings = build(tmp_path, rows, section=", lastmod: day").report["findings"]
    assert "lastmod-uniform" in {each["code"] for each in findings}


def test_index_lastmod(tmp_path: Path) -> None:
    """C-64: the index dates a shard by when its bytes last changed: not by a run that changed nothing, but by a row
    that is gone."""
    rows = [{"url": f"/{n}", "day": "2026-01-01"} for n in range(10)]
    stamps = []
    for day, kept in ((1, rows), (2, rows), (3, rows[1:])):
        build(tmp_path, kept, section=", lastmod: day", day=day)
        stamps += re.findall("<lastmod>(.*?)</lastmod>", (tmp_path / "public/sitemap.xml").read_text())
    assert stamps == [f"2026-11-0{day}T03:00:00+00:00" for day in (1, 1, 3)]
