"""Tracked lastmod: P-10, C-63."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from sitemap_ops.ordering import ENTRY_SCHEMA, SECTION
from sitemap_ops.tracking import FINGERPRINT, basis, fingerprints, track

SCHEMA = pa.schema([*ENTRY_SCHEMA, SECTION, FINGERPRINT])
BASES = [basis(["title"])]


def entries(*rows: tuple[str, int | None], lastmod: str | None = None) -> pa.Table:
    made = [
        {"loc": loc, "fingerprint": fingerprint, "section": 0, "lastmod": lastmod, "instant": 5 if lastmod else None}
        for loc, fingerprint in rows
    ]
    return pa.Table.from_pylist(made, SCHEMA)


def run(rows: pa.Table, before: pa.Table | None, as_of: int) -> tuple[dict[str, str | None], pa.Table]:
    dated, records = track(rows, before, BASES, as_of)
    return dict(zip(dated["loc"].to_pylist(), dated["lastmod"].to_pylist(), strict=True)), records


def test_no_lastmod_until_a_change_is_seen() -> None:
    """Issue 3.2: none on the first run, none while nothing changes, then the as_of of the run that saw the change."""
    first, records = run(entries(("a", 1), ("b", 1)), None, 86_400)
    assert first == {"a": None, "b": None}
    second, records = run(entries(("a", 1), ("b", 2)), records, 2 * 86_400)
    assert second == {"a": None, "b": "1970-01-03T00:00:00Z"}
    third, records = run(entries(("a", 1), ("b", 2), ("c", 9)), records, 3 * 86_400)
    assert third == {"a": None, "b": "1970-01-03T00:00:00Z", "c": None}
    assert records.column("added").to_pylist() == [None, None, 3 * 86_400]


def test_failed_release_leaves_nothing() -> None:
    """Issue 3.2: what a release that never went live saw is not remembered: the join is with the live one's records."""
    _, live = run(entries(("a", 1)), None, 1)
    run(entries(("a", 2)), live, 86_400)
    again, _ = run(entries(("a", 2)), live, 2 * 86_400)
    assert again == {"a": "1970-01-03T00:00:00Z"}


def test_the_sources_own_lastmod_stays() -> None:
    """Tracking fills what is missing; it never overrules a date that the source gives."""
    _, records = run(entries(("a", 1)), None, 1)
    dated, _ = run(entries(("a", 2), lastmod="1970-01-01"), records, 86_400)
    assert dated == {"a": "1970-01-01"}


def test_other_columns_are_no_change() -> None:
    """Naming other columns in `track` does not date every page of the site."""
    _, records = track(entries(("a", 1)), None, BASES, 1)
    dated, records = track(entries(("a", 2)), records, [basis(["title", "price"])], 86_400)
    assert dated["lastmod"].to_pylist() == [None]
    dated, _ = track(entries(("a", 3)), records, [basis(["title", "price"])], 2 * 86_400)
    assert dated["lastmod"].to_pylist() == ["1970-01-03T00:00:00Z"]


def test_untracked_sections_cost_and_say_nothing() -> None:
    """A section without `track` has no records, and its entries stay as they are."""
    dated, records = track(entries(("a", None)), None, BASES, 1)
    assert records.num_rows == 0
    assert dated["lastmod"].to_pylist() == [None]
    assert dated["added"].to_pylist() == [None]


def test_fingerprints() -> None:
    """Equal values, equal hash; a moved border between columns, a null or another value is a change."""
    rows = pd.DataFrame(
        {"title": ["ab", "a", "ab", None, "", "ab"], "price": ["c", "bc", "c", "c", "c", "d"]},
        dtype=pd.ArrowDtype(pa.string()),
    )
    first, moved, same, null, empty, other = fingerprints(rows, ["title", "price"]).to_pylist()
    assert first == same
    assert len({first, moved, null, empty, other}) == 5
