"""report.html: what it says, that nothing in it can act, and that it needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from sitemap_ops.report import charts
from sitemap_ops.report.html import render_report, share, size, visible
from sitemap_ops.steps.releases import rollback
from tests.releases import CONNECTIONS, HOSTILE, run, small_site

Report = dict[str, Any]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a real run."""
    return run(small_site(tmp_path_factory.mktemp("site")), 0, 3)


def page(report: Report) -> Any:
    return html.document_fromstring(render_report(report))


def text_of(tree: Any) -> str:
    return re.sub(r"\s+", " ", " ".join(tree.xpath("//body//text()")))


def test_what_happened_is_on_the_page(report: Report) -> None:
    """PUB-02: the page says what was read, what became of it, why rows were rejected and which guards looked."""
    told = text_of(page(report))
    for expected in ("shop", "published", report["release"], "of 6 rows", "foreign-host", "url-scheme", "max_rejected"):
        assert expected in told
    assert page(report).xpath("//a/@href") == ["https://www.shop.example/sitemap.xml"]


def test_what_changed_is_on_the_page(tmp_path: Path) -> None:
    """PUB-02: a later release says how many URLs came, went and changed, and which files a run repaired or removed."""
    site = small_site(tmp_path)
    run(site, 0, 10)
    report = run(site, 1, 12)
    assert "URLs added 2 0 removed, 0 changed" in text_of(page(report))
    report |= {"repaired": ["a.xml"], "completed_previous": [], "pruned": {"keys": ["b.xml"] * 30, "held_back": 0}}
    told = text_of(page(report))
    assert "Repaired: a.xml" in told
    assert "and 10 more" in told
    assert "finished:" not in told


def test_values_of_rejected_rows_stay_text(report: Report) -> None:
    """Rejected values are hostile input: markup in them is shown, and what turns the writing direction is escaped."""
    assert HOSTILE in report["sections"]["pages"]["examples"]["foreign-host"][0]
    tree = page(report)
    assert tree.xpath("//script | //img | //iframe | //object | //@onerror | //@onload") == []
    assert "<script>alert(1)</script>" in text_of(tree)
    assert "\\u202e" in text_of(tree)
    assert "\u202e" not in render_report(report)


@settings(max_examples=50, deadline=None)
@given(text=st.text(min_size=1, max_size=40))
def test_no_text_changes_the_page_s_structure(report: Report, text: str) -> None:
    """Whatever any text of a report holds, the page has the same elements as with plain words."""
    assert skeleton(with_texts(report, text)) == skeleton(with_texts(report, "word"))


def with_texts(report: Report, text: str) -> Report:
    """The report with one text in all places that rows, sections and site files fill."""
    copy = json.loads(json.dumps(report))
    copy["run_id"] = text
    section = copy["sections"]["pages"]
    copy["sections"] = {text: section | {"examples": {code: [text] for code in section["examples"]}}}
    copy["findings"] = [{"rule": "P-1", "code": text, "level": "warning", "place": text, "advice": text}]
    copy["guards"] = [{"guard": text, "scope": text, "passed": False, "told": text}]
    copy["planned"] = [{"action": "added", "key": text, "entries": 1, "xml_bytes": 1}]
    copy["indexes"] = [f"javascript:{text}"]
    return copy


def skeleton(report: Report) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.tag, tuple(each.keys())) for each in page(report).iter() if isinstance(each.tag, str)]


def test_only_web_addresses_are_links(report: Report) -> None:
    """An index's URL that a browser would run is no link."""
    assert page(with_texts(report, "alert(1)")).xpath("//a") == []


def test_page_is_whole_in_itself(report: Report) -> None:
    """It fetches nothing: no script, no style, picture or font from elsewhere; its own policy allows its style only."""
    source = render_report(report)
    assert page(report).xpath("//script | //link | //@src | //@style") == []
    assert not re.search(r"url\(|@import", source)
    (policy,) = page(report).xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_light_dark_phone_and_paper(report: Report) -> None:
    """The page follows the reader's colours, has a layout for narrow screens and one for paper."""
    source = render_report(report)
    assert "color-scheme: light dark" in source
    assert "@media (max-width" in source
    assert "@media print" in source
    assert page(report).xpath("//meta[@name='viewport']")


def test_every_outcome_is_told(tmp_path: Path) -> None:
    """A plan, a stopped run and a forced one say so on top, and what the guard found."""
    site = small_site(tmp_path)
    assert "plan only" in text_of(page(run(site, 0, 10, plan_only=True)))
    first = run(site, 1, 10)
    stopped = text_of(page(run(site, 2, 1)))
    assert "stopped by a guard" in stopped
    assert "The live site is as it was" in stopped
    assert "max_drop" in stopped
    assert "published by force" in text_of(page(run(site, 3, 1, force=True)))
    assert "rolled back" in text_of(page(rollback(site, first["release"], CONNECTIONS)))


def test_every_table_can_be_reached_and_read(report: Report) -> None:
    """Tables have headings with a scope, and scroll from the keyboard where the screen is narrow."""
    tree = page(report)
    assert len(tree.xpath("//table")) >= 4
    for table in tree.xpath("//table"):
        assert table.xpath("ancestor::div[@role='region' and @aria-label and @tabindex='0']")
        assert not table.xpath(".//th[not(@scope)]")
    assert len(tree.xpath("//h1")) == 1


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (size(0), "0 B"), (size(999), "999 B"), (size(1_000), "1 kB"), (size(999_499), "999 kB"),
        (size(999_500), "1 MB"), (size(1_234_567), "1.23 MB"), (size(5e15), "5e+03 TB"),
        (share(0, 5), "0 %"), (share(1, 0), "0 %"), (share(1, 10_000), "< 0.1 %"), (share(1, 3), "33.3 %"),
        (share(99_999, 100_000), "> 99.9 %"), (share(5, 5), "100 %"),
        (visible("a\x00\u200b\ud800b\u00e9"), "a\\x00\\u200b\\ud800bé"), (visible("x" * 400), "x" * 300 + "…"),
    ],
)  # fmt: skip
def test_figures_and_values_as_people_read_them(shown: str, expected: str) -> None:
    """Units that fit, shares that never claim nothing or all, and nothing invisible."""
    assert shown == expected


@settings(max_examples=30, deadline=None)
@given(points=st.lists(st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 10**9)), max_size=12))
def test_charts_add_up(points: list[dict[str, int]]) -> None:
    """A bar's height is its figures' share of a round scale that all fit into; at most eight series, none is lost."""
    made = charts.chart("t", [str(n) for n in range(len(points))], points)
    assert len(made.series) <= charts.MAX_SERIES
    assert made.top % 2 == 0
    for place, point in enumerate(points):
        assert sum(values[place] for values in made.series.values()) == sum(point.values()) <= made.top
    bars = made.segments()
    for place, point in enumerate(points):
        middle = 100 / len(points) * (place + 0.5)
        height = sum(bar.height for bar in bars if bar.x + bar.width / 2 == pytest.approx(middle))
        assert height == pytest.approx(100 * sum(point.values()) / made.top)
    assert all(bar.y >= -0.001 and bar.y + bar.height <= 100.001 and bar.x + bar.width <= 100 for bar in bars)


def test_chart_keeps_named_series_in_their_order() -> None:
    """Kinds of change keep their colours, also where one of them is missing."""
    made = charts.chart("t", ["1"], [{"total": 9, "changed": 2}], colours={"added": 3, "changed": 1})
    assert made.series == {"added": [0], "changed": [2]}
    assert [bar.colour for bar in made.segments()] == [1]
