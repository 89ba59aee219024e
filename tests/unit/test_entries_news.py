"""The news extension: which rows are news at the run's instant, and in what form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.entries import Extension, parse_news
from sitemap_ops.tags import news_language
from tests.unit.extending import AS_OF, file_of, news_of, notes, series, table, texts

NS = "{http://www.google.com/schemas/sitemap-news/0.9}"
RECENT = "2024-06-15T10:00:00Z"


def published(*times: Any, **options: Any) -> Extension:
    rows = table({"title": [f"Title {at}" for at in range(len(times))]}).assign(published=series(times))
    return news_of(rows, **options)


def titled(*titles: str | None, **options: str) -> Extension:
    return news_of(table({"published": [RECENT] * len(titles)}).assign(title=series(titles)), **options)


def shown(extension: Extension) -> list[dict[str, str | None] | None]:
    """The news of each row as an XML parser reads it."""
    root = etree.fromstring(file_of(extension.columns["news"]))
    found = [{tag.tag.removeprefix(NS): tag.text for tag in url.iter(f"{NS}*") if not len(tag)} for url in root]
    return [tags or None for tags in found]


def test_an_article():
    """G-40: publication, publication_date and title, in the schema's order."""
    extension = titled("Tom & Jerry's <best>", name="The Post & Co", language="zh-cn")
    assert texts(extension.columns["news"]) == [
        "<news:news><news:publication><news:name>The Post &amp; Co</news:name>"
        "<news:language>zh-cn</news:language></news:publication>"
        f"<news:publication_date>{RECENT}</news:publication_date>"
        "<news:title>Tom &amp; Jerry&apos;s &lt;best&gt;</news:title></news:news>"
    ]
    assert notes(extension) == {}


class TestTwoDays:
    """G-41, C-77: by instant, 48 hours before the run at most; older rows stay entries, without the block."""

    @pytest.mark.parametrize(
        ("time", "is_news"),
        [
            ("2024-06-13T12:00:00Z", True),
            ("2024-06-13T11:59:59Z", False),
            ("2024-06-13T15:00:00+03:00", True),
            ("2024-06-13T14:59:59+03:00", False),
            ("2024-06-13T01:00:00-11:00", True),
            ("2024-06-13T13:00:00+03:00", False),
            ("2024-06-13", False),
            ("2024-06-14", True),
            ("2024-06-15T12:00:01Z", True),
            ("2024-06-16T12:00:00Z", True),
        ],
    )
    def test_by_instant(self, time: str, is_news: bool):
        """A zone moves the instant, not the cut-off; a date is 00:00 UTC; clocks may differ by a day (P-11)."""
        extension = published(time)
        assert [tags is not None for tags in shown(extension)] == [is_news]
        assert notes(extension) == ({} if is_news else {"news-too-old": [0]})

    def test_the_runs_fraction_of_a_second(self):
        """48 hours and half a second are more than 48 hours."""
        rows = table({"title": ["T"], "published": ["2024-06-13T12:00:00Z"]})
        spec = {"name": "N", "language": "en", "title": "title", "published": "published"}
        late = parse_news(rows, spec, timezone=None, as_of=AS_OF + timedelta(seconds=0.5))
        assert notes(late) == {"news-too-old": [0]}

    @pytest.mark.parametrize("time", ["2024-06-16T12:00:01Z", "15.06.2024", "0000-00-00", "yesterday", "2024-06"])
    def test_no_time(self, time: str):
        """G-45: what lies after the run by more than a day, or is no time, makes no news."""
        extension = published(RECENT, time)
        assert shown(extension)[1] is None
        assert notes(extension) == {"news-date": [1]}

    def test_naive_times_are_in_the_sections_zone(self):
        """C-58: with the zone of the site file a naive time is an instant, and is written as one."""
        extension = published("2024-06-13 15:00", "2024-06-13 14:59", timezone="Europe/Istanbul")
        assert [tags and tags["publication_date"] for tags in shown(extension)] == ["2024-06-13T15:00:00+03:00", None]

    def test_naive_times_without_a_zone(self):
        """P-09: they are published as their date, count as its first instant, and are counted."""
        extension = published("2024-06-14 10:00", "2024-06-13 23:00")
        assert [tags and tags["publication_date"] for tags in shown(extension)] == ["2024-06-14", None]
        assert notes(extension) == {"news-date-only": [0], "news-too-old": [1]}

    def test_typed_times(self):
        """Times of a database are what they are; a null is none."""
        extension = published(datetime(2024, 6, 14, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC), None)
        assert [tags and tags["publication_date"] for tags in shown(extension)] == ["2024-06-14T00:00:00Z", None, None]
        assert notes(extension) == {"news-too-old": [1], "news-missing-tag": [2]}


def test_rows_that_are_no_news():
    """A row with neither title nor time is a page like others, and nothing is said about it."""
    rows = table({"title": [None, "", "T", "", "T"], "published": [None, "", None, RECENT, RECENT]})
    extension = news_of(rows)
    assert [tags is not None for tags in shown(extension)] == [False] * 4 + [True]
    assert notes(extension) == {"news-missing-tag": [2, 3]}


@pytest.mark.parametrize(
    ("title", "written", "code"),
    [
        (" A\n title\u200b ", "A title", None),
        ("Sun \U0001f31e", "Sun \U0001f31e", None),
        ("a\x00b\x1bc", "abc", "text-control-char"),
        ("half \ud83c", "half \ufffd", "text-replacement-char"),
        ("\x01", None, "news-missing-tag"),
        ("We're live", "We're live", None),
    ],
)
def test_titles(title: str, written: str | None, code: str | None):
    """C-42, C-43, C-45: what XML can't hold is taken out and counted; what is left empty is no title."""
    extension = titled("Other", title)
    assert (shown(extension)[1] or {}).get("title") == written
    assert {found for found, rows in notes(extension).items() if 1 in rows} >= ({code} if code else set())


@pytest.mark.parametrize(
    ("language", "written"),
    [
        *(("tr", "tr"), ("gsw", "gsw"), ("zh-cn", "zh-cn"), ("zh-tw", "zh-tw"), ("zh", "zh")),
        *(("EN", "en"), ("en-US", "en"), ("pt_BR", "pt"), ("zh_TW", "zh-tw"), ("zh-Hans", "zh-cn")),
        *(("zh-Hant-HK", "zh-tw"), ("zh-HK", "zh")),
        *(("turkish", None), ("jp", None), ("", None), ("e", None), ("en US", None), ("en-", None), ("ｅｎ", None)),
    ],
)  # fmt: skip
def test_languages(language: str, written: str | None):
    """G-44: ISO 639 codes; of a longer one the language, for Chinese with its script; what is none makes no news."""
    rows = table({"title": ["A", "B"], "published": [RECENT] * 2, "lang": ["en", language]})
    extension = news_of(rows, language="{lang}")
    assert (shown(extension)[1] or {}).get("language") == written
    codes = set(notes(extension))
    if written is None:
        assert codes == ({"news-language"} if language else {"news-missing-tag"})
    else:
        assert codes == (set() if written == language else {"news-language-normalised"})
        assert news_language(written) == written


@pytest.mark.parametrize(
    ("name", "written", "code"),
    [
        ("The Post", "The Post", None),
        ("The Post (subscription)", "The Post", "news-name-parentheses"),
        ("The Post (a) (b) ", "The Post", "news-name-parentheses"),
        ("The (Old) Post", "The (Old) Post", "news-name-parentheses"),
        ("(beta)", None, "news-name-parentheses"),
        ("", None, "news-missing-tag"),
    ],
)
def test_names(name: str, written: str | None, code: str | None):
    """G-45: the name as on the articles, without what stands in parentheses at its end."""
    rows = table({"title": ["A", "B"], "published": [RECENT] * 2, "paper": ["Other", name]})
    extension = news_of(rows, name="{paper}")
    assert (shown(extension)[1] or {}).get("name") == written
    assert {found for found, rows in notes(extension).items() if rows == [1]} >= ({code} if code else set())


def test_index_is_kept():
    """Fragments stand at the rows' own index, notes are positions; no rows are no trouble."""
    rows = table({"title": ["A", None], "published": ["2024-01-01", None]}).set_axis([5, 9])
    extension = news_of(rows)
    assert extension.columns.index.tolist() == [5, 9]
    assert notes(extension) == {"news-too-old": [0]}
    assert texts(news_of(rows.iloc[:0]).columns["news"]) == []
