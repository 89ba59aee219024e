"""In which order changed files are put: one that gains URLs before the one that loses them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sitemap_ops.release.order import Change, Range, in_order

PART = ("main", "pages")


def change(key: str, was: str | None, becomes: str | None, part: tuple[str, str] = PART) -> Change:
    """Ranges as `a-f`."""
    ranges = [Range(*text.split("-")) if text else None for text in (was, becomes)]
    return Change(key, part, *ranges)


def test_a_file_that_gains_comes_first() -> None:
    """DESIGN 7: c-d moves from 1 to 2, so 2 is put before 1; and the other way round."""
    assert in_order([change("1", "a-d", "a-b"), change("2", "e-h", "c-h")]) == [["2"], ["1"]]
    assert in_order([change("1", "a-b", "a-d"), change("2", "c-h", "e-h")]) == [["1"], ["2"]]


def test_what_moves_through_several_files() -> None:
    """A chain of moves is a chain of batches; what has nothing to do with it goes into the first."""
    moved = [change("1", "a-f", "a-b"), change("2", "g-h", "c-e"), change("3", "i-j", "f-j"), change("4", "x-y", "x-z")]
    assert [set(batch) for batch in in_order(moved)] == [{"3", "4"}, {"2"}, {"1"}]


def test_sections_and_sets_have_nothing_to_do_with_each_other() -> None:
    others = [change("1", "a-d", "a-b"), change("2", "e-h", "c-h", ("main", "news"))]
    assert [set(batch) for batch in in_order(others)] == [{"1", "2"}]


def test_unknown_ranges_wait_for_nothing() -> None:
    """Records of an older version do not say what a file held."""
    assert [set(batch) for batch in in_order([change("1", None, "a-b"), change("2", "c-d", None)])] == [{"1", "2"}]
    assert in_order([]) == []


def test_files_that_change_places_are_put_all_the_same() -> None:
    """Not pieces of one order, which no sharding makes: no order could do, but nothing may be left out."""
    assert [set(batch) for batch in in_order([change("1", "a-b", "c-d"), change("2", "c-d", "a-b")])] == [{"1", "2"}]


@given(
    st.integers(1, 6),
    st.lists(st.integers(0, 40), min_size=12, max_size=12),
    st.sets(st.integers(0, 40), min_size=1),
    st.sets(st.integers(0, 40), min_size=1),
)
def test_at_every_step_each_url_that_stays_is_in_a_file(
    files: int, cuts: list[int], old: set[int], new: set[int]
) -> None:
    """Whatever cuts move where, between files that stay: put one batch after the other, and no URL is ever in none."""

    def split(urls: set[int], borders: list[int]) -> dict[str, set[int]]:
        bounds = [-1, *sorted(borders)[: files - 1], 99]
        pieces = [{url for url in urls if low < url <= high} for low, high in pairwise(bounds)]
        return {str(number): piece for number, piece in enumerate(pieces) if piece}

    before, after = split(old, cuts[:6]), split(new, cuts[6:])
    both = before.keys() & after.keys()

    def spread(urls: set[int]) -> Range:
        return Range(f"{min(urls):02d}", f"{max(urls):02d}")

    now = dict(before) | {key: urls for key, urls in after.items() if key not in both}  # the union index lists them
    staying = old & new
    for batch in in_order([Change(key, PART, spread(before[key]), spread(after[key])) for key in sorted(both)]):
        for key in batch:
            now[key] = after[key]
            assert staying <= set().union(*now.values())
