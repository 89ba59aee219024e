"""Guards: a source that broke must not empty the sitemap."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sitemap_ops.errors import GuardError
from sitemap_ops.release.guards import WHOLE, GuardResult, SectionCount, check, check_sets, enforce


@dataclass(frozen=True)
class Guards:
    min_urls: int | None = 1
    max_drop: float | None = 0.2
    max_rejected: float | None = 0.05


OFF = Guards(None, None, None)


def count(entries: int, rejected: int = 0, rows: int | None = None) -> SectionCount:
    return SectionCount(entries + rejected if rows is None else rows, entries, rejected)


def failed(results: list[GuardResult]) -> list[tuple[str, str]]:
    return [(result.guard, result.scope) for result in results if not result.passed]


@pytest.mark.parametrize(("entries", "passes"), [(99, False), (100, True)])
def test_min_urls(entries: int, passes: bool) -> None:
    """PUB-09: fewer than min_urls stops; exactly as many do not."""
    results = check(Guards(min_urls=100), {"p": count(entries)}, None)
    assert failed(results) == ([] if passes else [("min_urls", WHOLE)])


@pytest.mark.parametrize(
    ("was", "now", "limit", "passes"),
    [
        (100, 80, 0.2, True),
        (100, 79, 0.2, False),
        (100, 71, 0.29, True),
        (10, 3, 0.7, True),
        (1_000_000, 799_999, 0.2, False),
        (100, 100, 0.0, True),
        (100, 99, 0.0, False),
        (100, 500, 0.0, True),
        (100, 1, 1.0, True),
    ],
)
def test_max_drop_is_exact_at_its_limit(was: int, now: int, limit: float, passes: bool) -> None:
    results = check(Guards(max_drop=limit), {"p": count(now)}, {"p": was})
    assert (("max_drop", WHOLE) not in failed(results)) is passes


@pytest.mark.parametrize(("rejected", "passes"), [(5, True), (6, False)])
def test_max_rejected_is_a_share_of_the_rows_read(rejected: int, passes: bool) -> None:
    results = check(Guards(), {"p": SectionCount(100, 100 - rejected, rejected)}, None)
    assert failed(results) == ([] if passes else [("max_rejected", WHOLE)])


def test_what_is_compared_is_said() -> None:
    """A section that is gone is in no sum (issue 4, its own baseline): then the sum is not called the whole site."""
    results = check(Guards(max_drop=0.2), {"b": count(20)}, {"a": 5000, "b": 20})
    (drop,) = [result for result in results if result.guard == "max_drop"]
    assert drop.told.startswith(
        "All sections that were there before, together, had 20 URLs and have 20 now (0.0% fewer)"
    )


def test_duplicates_are_no_rejects() -> None:
    assert failed(check(Guards(), {"p": SectionCount(rows=100, entries=50, rejected=0)}, None)) == []


def test_a_source_that_returns_nothing_stops_though_the_site_hardly_shrinks() -> None:
    """C-19: 10 of 1,000,010 URLs is no drop to the whole, but one section's source has broken."""
    results = check(Guards(), {"big": count(1_000_000), "small": count(0)}, {"big": 1_000_000, "small": 10})
    assert failed(results) == [("empty", "small")]
    (told,) = [result.told for result in results if not result.passed]
    assert told == "The section 'small' had 10 URLs and has none now, its source returned no rows"


def test_a_section_whose_rows_are_all_rejected_stops() -> None:
    results = check(OFF, {"p": count(0, rejected=10)}, {"p": 10}, {"p": Guards(None, 0.5, None)})
    assert failed(results) == [("empty", "p")]
    assert "none of its 10 rows is left" in results[-1].told


def test_a_section_may_be_allowed_to_empty() -> None:
    guards = {"news": Guards(None, 1.0, None)}
    assert failed(check(Guards(), {"news": count(0), "p": count(100)}, {"news": 5, "p": 100}, guards)) == []


def test_sections_have_their_own_limits() -> None:
    """A limit of one section fails alone, and one that it does not name is not set for it."""
    counts = {"a": count(50), "b": count(50)}
    results = check(OFF, counts, {"a": 100, "b": 100}, {"a": Guards(60, 0.4, None), "b": OFF})
    assert failed(results) == [("min_urls", "a"), ("max_drop", "a")]


def test_a_new_section_is_not_compared_and_hides_no_drop() -> None:
    """What one section gained does not make up for what another lost: new ones are in no sum."""
    results = check(Guards(), {"old": count(50), "new": count(1000)}, {"old": 100})
    assert failed(results) == [("max_drop", WHOLE)]
    assert "The section 'new' is new; it is compared from now on." in [result.told for result in results]


def test_a_removed_section_is_no_drop_and_is_told() -> None:
    """Taking a section out of the site file is a decision, not a fault."""
    results = check(Guards(), {"a": count(100)}, {"a": 100, "gone": 900})
    assert failed(results) == []
    assert "The section 'gone' is no longer in the site file; its 900 URLs leave." in [each.told for each in results]


def test_a_renamed_section_is_one_new_and_one_removed() -> None:
    results = check(Guards(), {"goods": count(100)}, {"products": 100})
    assert failed(results) == []
    assert [result.scope for result in results if result.guard == "baseline"] == ["goods", "products"]


def test_the_first_release_has_no_baseline() -> None:
    results = check(Guards(), {"a": count(1)}, None)
    assert [result.guard for result in results] == ["min_urls", "max_rejected"]


def test_nothing_read_is_no_division_by_zero() -> None:
    assert failed(check(Guards(), {"a": count(0)}, None)) == [("min_urls", WHOLE)]
    assert failed(check(OFF, {}, {})) == []


def test_a_guard_that_failed_stops_with_one_sentence() -> None:
    """It says what to look at, that nothing was published, and how to go on all the same."""
    results = check(Guards(), {"a": count(50, rejected=50)}, {"a": 100})
    with pytest.raises(GuardError) as caught:
        enforce(results)
    assert str(caught.value) == (
        "50 of 100 rows of the whole site were rejected (50.0%), max_rejected is 5.0%: nothing was published, the live"
        " site is as it was; look at the source and the rejects, and use --force (in Airflow the param force) if"
        " this is right. (1 more guard failed.)"
    )
    enforce(results, force=True)
    enforce([result for result in results if result.passed])


def test_file_sets_are_compared_too() -> None:
    """An audience's set that lost too much fails alone; one that is new, or not made any more, is told of."""
    results = check_sets(Guards(), {"yandex": 79, "baidu": 80, "text": 5}, {"yandex": 100, "baidu": 100, "old": 7})
    assert failed(results) == [("max_drop", "the file set 'yandex'")]
    assert [result.told for result in results if not result.passed] == [
        "The file set 'yandex' had 100 URLs and has 79 now (21.0% fewer), max_drop is 20.0%"
    ]
    assert [result.scope for result in results if result.guard == "baseline"] == ["text", "old"]
    assert check_sets(Guards(), {"yandex": 0}, None) == []
    assert failed(check_sets(OFF, {"yandex": 0}, {"yandex": 100})) == []
