"""changefreq, priority, and whether lastmods tell pages apart."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sitemap_ops.columns import column
from sitemap_ops.entries import DROPPED, NOTES, LastmodSpread, parse_changefreq, parse_priority
from sitemap_ops.entries.changefreq import TRANSLATIONS, VALUES

AS_OF = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)


def pairs(result: pd.DataFrame) -> list[tuple[str | None, str | None]]:
    return [tuple(None if pd.isna(item) else item for item in row) for row in result.itertuples(index=False)]


def changefreq(*values: object) -> list[tuple[str | None, str | None]]:
    return pairs(parse_changefreq(pd.Series(list(values), dtype=object)))


def priority(*values: str | None) -> list[tuple[str | None, str | None]]:
    return pairs(parse_priority(column(list(values), pa.string())))


def test_the_seven_values_are_kept():
    """P-13: always hourly daily weekly monthly yearly never, with nothing to say."""
    assert changefreq(*VALUES) == [(value, None) for value in VALUES]


@pytest.mark.parametrize("text", ["Monthly", " monthly ", "MONTHLY", "monthly\n", "\ufeffmonthly"])
def test_case_and_blanks_are_repaired_and_counted(text):
    """P-13: the same word in other letters is written as it has to be."""
    assert changefreq(text) == [("monthly", "changefreq-normalised")]


@pytest.mark.parametrize("text", ["DAİLY", "daıly", "Dai\u0307ly", "DAILY"])
def test_turkish_case_rules_do_not_hide_english_words(text):
    """P-13: a Turkish program's upper case of daily is DAİLY, its lower case of DAILY daıly."""
    assert changefreq(text) == [("daily", "changefreq-normalised")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("her ay", "monthly"), ("her hafta", "weekly"), ("haftalık", "weekly"), ("günlük", "daily")),
        *(
            ("HAFTALIK", "weekly"),
            ("YILLIK", "yearly"),
            ("AYLIK", "monthly"),
            ("SAATLİK", "hourly"),
            ("Günlük", "daily"),
        ),
        *(
            ("her  gün", "daily"),
            ("her yıl", "yearly"),
            ("her zaman", "always"),
            ("asla", "never"),
            ("haftalik", "weekly"),
        ),
        *(("ежедневно", "daily"), ("Еженедельно", "weekly"), ("ЕЖЕМЕСЯЧНО", "monthly"), ("ежегодно", "yearly")),
        *(("ежечасно", "hourly"), ("всегда", "always"), ("никогда", "never")),
        *(("täglich", "daily"), ("WÖCHENTLICH", "weekly"), ("hebdomadaire", "weekly"), ("cada año", "yearly")),
    ],
)
def test_known_translations_are_put_back_into_english(text, value):
    """P-15, issue 2 item 4: her ay, her hafta, haftalık, ежедневно and their like; counted, whatever their case."""
    assert changefreq(text) == [(value, "changefreq-translated")]


def test_no_word_translates_two_ways():
    """The table of translations is a function: each word has one value, and none is an English value already."""
    words = [word for many in TRANSLATIONS.values() for word in many]
    assert sorted(changefreq(*words)) == sorted(
        (value, "changefreq-translated") for value, many in TRANSLATIONS.items() for _ in many
    )
    assert set(TRANSLATIONS) == set(VALUES)


@pytest.mark.parametrize("value", ["biweekly", "often", "1", 7, "daily weekly", "dailyy", "gün", "\ud800", b"daily"])
def test_unknown_values_lose_the_tag(value):
    """P-13, C-53: anything else is dropped and counted; the row stays."""
    assert changefreq(value) == [(None, "changefreq-value")]


@pytest.mark.parametrize("value", [None, "", "  ", "NaN", "None", float("nan"), pd.NaT])
def test_missing_changefreq_is_silent(value):
    """C-59: a missing value is none, and nothing to count."""
    assert changefreq(value) == [(None, None)]


@pytest.mark.parametrize("text", ["0.0", "0.1", "0.5", "0.9", "1.0"])
def test_canonical_priorities_are_kept(text):
    """P-16: 0.0 to 1.0 with one decimal."""
    assert priority(text) == [(text, None)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            (".5", "0.5"),
            ("0.", "0.0"),
            ("+0.5", "0.5"),
            ("-0.0", "0.0"),
            (" 0.5 ", "0.5"),
            ("1", "1.0"),
            ("00.50", "0.5"),
        ),
        *(("0.25", "0.3"), ("0.35", "0.4"), ("0.45", "0.5"), ("0.85", "0.9"), ("0.95", "1.0"), ("0.04", "0.0")),
        *(("0.05", "0.1"), ("0.0499999999999999999999999999999999999", "0.0"), ("1.000", "1.0")),
    ],
)
def test_other_spellings_are_written_with_one_decimal(text, value):
    """P-16: rounded half up on the decimal digits, and counted."""
    assert priority(text) == [(value, "priority-noncanonical")]


@pytest.mark.parametrize(
    ("text", "value"), [("0,8", "0.8"), ("0,3", "0.3"), ("1,0", "1.0"), (",5", "0.5"), ("0,85", "0.9")]
)
def test_a_decimal_comma_is_the_point(text, value):
    """P-15, C-51: 0,8 can only mean 0.8: read so, counted."""
    assert priority(text) == [(value, "priority-comma")]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1.1",
            "-0.1",
            "1.04",
            "1.00001",
            "-0.00001",
            "5e-1",
            "NaN",
            "inf",
            "normal",
            "high",
            "0,8,0",
            "0.8.0",
            "0.8%",
        ),
        *("½", "٠.٥", "0 .5", "--0.5", ".", ",", "+", "1,1", "0_5", "9" * 5_000, "10", "0x1"),
    ],
)
def test_what_is_no_priority_loses_the_tag(text):
    """P-16, C-53: out of range, exponent, NaN, words: dropped, counted; the row stays."""
    assert priority(text) == [(None, "priority-value")]


def test_missing_priority_is_silent():
    """C-59: empty, null and their spellings."""
    assert priority(None, "", " ", "None", "<NA>", "null") == [(None, None)] * 6
    assert pairs(parse_priority(pd.Series([np.nan, 0.5]))) == [(None, None), ("0.5", None)]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([0.8, 1, 0, 0.25, 1.5, None]),
        pa.array([0.8, 1, 0, 0.25, 1.5, None], pa.float32()),
        pa.array([Decimal("0.80"), 1, 0, Decimal("0.25"), Decimal("1.5"), None], pa.decimal128(5, 2)),
    ],
)
def test_typed_numbers(array):
    """C-51: numbers are formatted without the locale; only what rounding changed is counted."""
    assert pairs(parse_priority(column(array))) == [
        *(("0.8", None), ("1.0", None), ("0.0", None)),
        *(("0.3", "priority-noncanonical"), (None, "priority-value"), (None, None)),
    ]


def test_typed_oddities():
    """Exponents of typed numbers are the writer's, not the site's; infinities and booleans are no priorities."""
    assert pairs(parse_priority(column([1e-7, float("inf")], pa.float64()))) == [
        ("0.0", "priority-noncanonical"),
        (None, "priority-value"),
    ]
    assert pairs(parse_priority(column([1, 0, 2], pa.int8()))) == [
        ("1.0", None),
        ("0.0", None),
        (None, "priority-value"),
    ]
    assert pairs(parse_priority(column([True], pa.bool_()))) == [(None, "priority-value")]


def test_each_code_has_a_meaning_and_dropped_ones_have_no_tag():
    """NOTES names every code; DROPPED are those whose rows have no tag."""
    for result in (parse_changefreq(column(["x", "her ay", "Daily"])), parse_priority(column(["x", "0,8", "1"]))):
        assert set(result["note"]) <= set(NOTES)
        assert (result.iloc[:, 0].isna() == result["note"].isin(DROPPED)).all()


def test_index_is_kept():
    """Results stand at the rows' own index."""
    for parse in (parse_changefreq, parse_priority):
        assert parse(column(["0.5", None]).set_axis([5, 9])).index.tolist() == [5, 9]


def spread(*chunks: list[int | None]) -> LastmodSpread:
    whole = LastmodSpread()
    for chunk in chunks:
        whole.update(pa.array(chunk, pa.int64()))
    return whole


def test_one_stamp_for_nearly_all_is_uniform():
    """P-10, C-63: 95 % of 100 entries and more with one identical time; fewer, or fewer entries, is nothing to say."""
    assert spread([7] * 95 + list(range(1000, 1005))).uniform(AS_OF)
    assert not spread([7] * 94 + list(range(1000, 1006))).uniform(AS_OF)
    assert not spread([7] * 99).uniform(AS_OF)
    assert not spread([7] * 95 + [None] * 6).uniform(AS_OF)
    assert not spread([]).uniform(AS_OF)


def test_now_for_every_url_is_uniform():
    """C-63: times at or after the run's own instant were written by the reading, however they differ."""
    now = int(AS_OF.timestamp())
    assert spread(list(range(now, now + 200))).uniform(AS_OF)
    assert not spread([now - 1, *range(now, now + 200)]).uniform(AS_OF)
    assert not spread([now - 1], list(range(now, now + 200))).uniform(AS_OF)
    assert not spread(list(range(now, now + 200)), [now - 1]).uniform(AS_OF)
    assert not spread([*range(now, now + 200), *([None] * 100)]).uniform(AS_OF)


def test_the_share_is_exact_with_a_thousand_stamps():
    """P-10: 19,000 of 20,000 are 95 %, 18,999 are not."""
    others = list(range(10, 1_010))
    assert spread(others, [7] * 19_000).uniform(AS_OF)
    assert not spread(others, [7] * 18_999, [8]).uniform(AS_OF)


def test_spread_streams_and_merges():
    """The answer is that of all entries together, with far more stamps than counters, at either end."""
    rng = np.random.default_rng(7)
    others = rng.integers(10**9, 2 * 10**9, 40_000)
    for share, uniform in ((0.96, True), (0.94, False)):
        stamps = rng.permutation(np.concatenate([np.full(int(40_000 * share / (1 - share)), 5), others]))
        chunks = np.array_split(stamps, 9)
        assert spread(*chunks).uniform(AS_OF) is uniform
        merged = spread(*chunks[:2])
        merged.merge(spread(*chunks[2:]))
        merged.merge(LastmodSpread())
        assert merged.uniform(AS_OF) is uniform
