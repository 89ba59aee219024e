"""What a validation gives: bounded, safe to show, in three forms."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sitemap_ops.engines.words import WORDS
from sitemap_ops.errors import UsageError
from sitemap_ops.reading.record import EXAMPLES
from sitemap_ops.rules import RULES, SEVERITY
from sitemap_ops.validate import exceeds, validate
from sitemap_ops.validate.output import to_json, to_junit, to_table
from tests.unit.validating import NOW, extended, index, keys, page, pages, said, shard, urlset

GOOD = pages("https://shop.example/a")
BAD = urlset(
    page(rest="<changefreq>weekly</changefreq><lastmod>2024-06-01</lastmod>"),
    page("https://shop.example/b", "<priority>2</priority>"),
)


def test_a_finding_says_where_what_and_what_to_do(tmp_path: Path) -> None:
    """Item 6: rule id, level, line, value, advice."""
    found = said(tmp_path, BAD).findings
    assert [(one.rule, one.code, one.level, one.line, one.value) for one in found] == [
        ("P-18", "child-order", "warning", 3, "<lastmod>"),
        ("P-16", "priority-value", "error", 4, "2"),
    ]
    assert all(one.message and one.advice and one.location == str(tmp_path / "sitemap.xml") for one in found)


def test_fifty_thousand_faults_stay_small(tmp_path: Path) -> None:
    """All are counted, the first few are kept."""
    found = said(tmp_path, urlset(*(page(f"https://shop.example/{n} x") for n in range(50_000))))
    assert found.totals()["error"] == 100_000
    assert len(found.findings) == 3 * EXAMPLES
    assert len(to_json(found)) < 20_000


def test_lines_are_right_however_far_down(tmp_path: Path) -> None:
    """libxml2 stops counting at 65,535."""
    entries = [page(f"https://shop.example/{n}", "\n") for n in range(45_000)]
    found = said(tmp_path, urlset(*entries, page("/relative")))
    assert [one.line for one in found.findings if one.code == "loc-not-absolute"] == [90_003]


def test_secrets_and_controls_are_not_shown(tmp_path: Path) -> None:
    """U-04: a password in a URL reaches no output; nor does what a terminal would obey."""
    found = said(tmp_path, pages("https://bob:s3cret@shop.example/\x7f", "https://shop.example/\u202egnp"))
    for form in (to_json, to_table, to_junit):
        assert "s3cret" not in form(found)
        assert "\x7f" not in form(found)
        assert "\u202e" not in form(found)


def test_exit_follows_the_chosen_level(tmp_path: Path) -> None:
    """Item 6: the exit code follows a chosen severity."""
    warned = said(tmp_path / "a", pages("https://shop.example/a#b"))
    assert [exceeds(warned, level) for level in ("error", "warning", "info")] == [False, True, True]
    clean = said(tmp_path / "b", GOOD)
    assert clean.worst is None
    assert not exceeds(clean, "info")


def test_json(tmp_path: Path) -> None:
    """Plain data: counts of all, examples of some."""
    told = json.loads(to_json(said(tmp_path, BAD, ["bing"])))
    assert (told["files"], told["urls"], told["worst"], told["engines"]) == (1, 2, "error", ["bing"])
    assert told["totals"] == {"error": 1, "warning": 2, "info": 0}
    assert told["counts"][0] == {
        "code": "priority-value",
        "rules": ["P-16", "P-15"],
        "level": "error",
        "count": 1,
        "places": 1,
        "known_as": {},
    }
    assert set(told["findings"][0]) == {"rule", "code", "level", "location", "line", "value", "message", "advice"}


def test_engines_own_words(tmp_path: Path) -> None:
    """G-63, Y-19: a finding is given the name under which the named engines report it."""
    found = said(tmp_path, urlset("<url/>"), ["google", "yandex", "bing"])
    kind = next(kind for kind in found.kinds() if kind.code == "loc-missing")
    assert kind.known_as(found.engines) == {"google": "Missing XML tag", "yandex": "Tag not found"}
    assert "(google: Missing XML tag) (yandex: Tag not found)" in to_table(found, width=300)


def test_words_are_of_known_codes() -> None:
    """A code that no rule has would never be shown."""
    codes = {key.partition(":")[0] for key in RULES}
    assert all(set(words) <= codes for words in WORDS.values())


def test_table(tmp_path: Path) -> None:
    """For people: the worst first, with place, value and advice; no markup of values, no colour."""
    told = to_table(said(tmp_path, BAD), width=300)
    assert told.index("P-16") < told.index("P-18")
    assert f"{tmp_path}/sitemap.xml:4 '2'" in told
    assert "1 file, 2 URLs; 1 error, 1 warning, 0 info" in told
    assert "\x1b" not in told
    assert "[red]" in to_table(said(tmp_path / "b", pages("https://shop.example/[red]x")), width=300)
    assert to_table(said(tmp_path / "c", GOOD)).endswith("Nothing to report.")


def test_junit(tmp_path: Path) -> None:
    """For CI: an error fails its case, a warning passes unless it was chosen to fail."""
    suite = ElementTree.fromstring(to_junit(said(tmp_path, BAD)))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["P-16 priority-value"]
    assert ElementTree.fromstring(to_junit(said(tmp_path, BAD), "warning")).get("failures") == "2"
    clean = ElementTree.fromstring(to_junit(said(tmp_path / "b", GOOD)))
    assert (clean.get("tests"), clean.get("failures")) == ("1", "0")


def test_every_rule_says_what_and_what_to_do() -> None:
    """One sentence each; a level for someone; ids of the rule book's form."""
    for key, rule in RULES.items():
        assert rule.what.endswith(".") and rule.advice.endswith("."), key
        assert rule.ids, key
        assert any(level in SEVERITY for level in [rule.level, *rule.engines.values()]), key


def test_nothing_there(tmp_path: Path) -> None:
    """A wrong path, an empty folder or an unknown engine is the caller's mistake."""
    with pytest.raises(UsageError, match="There is no file"):
        validate(tmp_path / "gone.xml")
    with pytest.raises(UsageError, match="ftp:// can't be read: name a path, an s3:// or an http"):
        validate("ftp://shop.example/sitemap.xml")
    with pytest.raises(UsageError, match="no sitemap"):
        validate(tmp_path)
    with pytest.raises(UsageError, match="Did you mean 'yandex'"):
        validate(tmp_path, engines=["yandx"])


def test_a_folder_is_judged_once(tmp_path: Path) -> None:
    """What an index lists and what lies beside it are one set; robots.txt and its like are no sitemaps."""
    files = {"sitemap.xml": index(shard("a.xml"), shard("b/c.xml")), "a.xml": GOOD, "b/c.xml": pages("https://shop.example/c"),
             "robots.txt": b"Sitemap: https://shop.example/sitemap.xml", "humans.txt": b"us"}  # fmt: skip
    found = said(tmp_path, files)
    assert (found.files, found.urls, keys(found)) == (3, 2, set())
    alone = validate(tmp_path / "sitemap.xml", now=NOW)
    assert (alone.files, alone.urls, keys(alone)) == (3, 2, set())


def test_where_the_files_are_served(tmp_path: Path) -> None:
    """C-22, C-24: base_url is where the folder is served; further hosts of the site can be named (P-47)."""
    (tmp_path / "sitemap.xml").write_bytes(pages("https://shop.example/a", "https://shop.example.de/a"))
    found = validate(tmp_path, base_url="https://shop.example/", now=NOW)
    assert keys(found) == {"foreign-host"}
    assert (
        keys(validate(tmp_path, base_url="https://shop.example/", hosts=["https://shop.example.de"], now=NOW)) == set()
    )


def test_file_sets_repeat_urls_by_design(tmp_path: Path) -> None:
    """P-53: text, an engine's own set, news and fresh hold URLs of the main set; within each, a URL twice is told."""
    again = pages("https://shop.example/a")
    sets = {
        f"shop-pages-2{middle}": again for middle in (".yandex.xml.gz", ".fresh.xml.gz", ".news.xml", ".naver.xml.gz")
    }
    files = {"shop-pages-1.xml.gz": again, "shop-pages-1.txt": b"https://shop.example/a\n", **sets}
    assert "duplicate-loc" not in keys(said(tmp_path / "each", files))
    for name in files:
        twice = {**files, name.replace("shop-pages", "shop-more"): files[name]}
        found = [one for one in said(tmp_path / name, twice).findings if one.code == "duplicate-loc"]
        assert len(found) == 1, name


def test_alternates_are_found_in_any_set(tmp_path: Path) -> None:
    """G-52: a page whose other language is listed in another set's file is one that a sitemap lists."""
    link = '<xhtml:link rel="alternate" hreflang="{}" href="https://shop.example/{}"/>'
    both = link.format("tr", "tr") + link.format("en", "en")
    files = {
        "a.xml": extended(both, loc="https://shop.example/tr"),
        "a.fresh.xml": extended(both, loc="https://shop.example/en"),
    }
    assert not [key for key in keys(said(tmp_path, files)) if key.startswith("hreflang-not-reciprocal")]


def test_duplicates_over_many_files(tmp_path: Path) -> None:
    """P-53: the later file in listing order is told, whichever was read first, with line and value."""
    files = {f"{n:02}.xml": pages(*(f"https://shop.example/{n}-{m}" for m in range(200))) for n in range(30)}
    files["29.xml"] = pages("https://shop.example/new", "https://shop.example/3-7")
    found = [one for one in said(tmp_path, files).findings if one.code == "duplicate-loc"]
    assert [(one.location, one.line, one.value) for one in found] == [
        (str(tmp_path / "29.xml"), 4, "https://shop.example/3-7")
    ]
