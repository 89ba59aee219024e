"""Global order and duplicates: the same for every order of the input, and exactly DESIGN 5's survivor."""

from __future__ import annotations

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops import ordering
from sitemap_ops.columns import frame
from sitemap_ops.ordering import ENTRY_SCHEMA, SECTION, distinct, key_ranges, write_run
from sitemap_ops.render.xml import render_entries

SCHEMA = ENTRY_SCHEMA.append(SECTION)

entry = st.fixed_dictionaries(
    {
        "loc": st.sampled_from([f"https://a.example/{path}" for path in ("", "a", "a&b", "b", "c/d", "e", "f", "g")]),
        "lastmod": st.just("2024-01-01") | st.none(),
        "instant": st.integers(-2, 2) | st.none(),
        "changefreq": st.sampled_from(["daily", "weekly", None]),
        "priority": st.sampled_from(["0.1", "0.9", None]),
        "section": st.integers(0, 2),
    }
)
entries = st.lists(entry, max_size=40)


def as_table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def rendered(row: dict[str, object]) -> bytes:
    _, data = render_entries(frame(as_table([row])))
    return data.tobytes()


def expected(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    """DESIGN 5, a row at a time: earlier section, newest lastmod (none last), smallest rendered bytes."""

    def rank(row: dict[str, object]) -> tuple[object, ...]:
        instant = row["instant"]
        return (row["section"], instant is None, -instant if isinstance(instant, int) else 0, rendered(row))

    by_loc = itertools.groupby(sorted(rows, key=lambda row: str(row["loc"])), key=lambda row: row["loc"])
    return [
        (loc, survivor["section"], rendered(survivor)) for loc, group in by_loc for survivor in [min(group, key=rank)]
    ]


def found(table: pa.Table) -> list[tuple[object, ...]]:
    return [(row["loc"], row["section"], rendered(row)) for row in table.to_pylist()]


@given(entries, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_survivors(rows: list[dict[str, object]], random) -> None:  # type: ignore[no-untyped-def]
    """One whole row survives of each loc, the one DESIGN 5 says, for every order of the input."""
    want = expected(rows)
    assert found(distinct(as_table(rows))) == want
    random.shuffle(rows)
    assert found(distinct(as_table(rows))) == want


@given(st.lists(entries, min_size=1, max_size=4), st.integers(1, 12), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_runs_and_ranges(sources: list[list[dict[str, object]]], range_rows: int, group: int) -> None:
    """However rows are spread over runs and ranges, the ranges are apart, ascending, and hold what one sort gives."""
    rows = [row | {"section": section} for section, source in enumerate(sources) for row in source]
    with TemporaryDirectory() as folder:
        runs = []
        for section, source in enumerate(sources):
            path = Path(folder) / f"{section}.arrow"
            written = distinct(as_table([row | {"section": 0} for row in source])).select(ENTRY_SCHEMA.names)
            original, ordering.BATCH_ROWS = ordering.BATCH_ROWS, group
            try:
                write_run(written, path)
            finally:
                ordering.BATCH_ROWS = original
            runs.append((section, path))
        ranges = [distinct(each.rows) for each in key_ranges(runs, range_rows)]
    assert [row for each in ranges for row in found(each)] == expected(rows)


def test_ranges_of_many_alike_runs_are_even(tmp_path: Path) -> None:
    """DESIGN 2, bounded memory: however many runs there are, a range is about as large as asked for."""
    runs = []
    for number in range(40):
        locs = [f"https://a.example/{place:06}-{number:02}" for place in range(0, 20_000, 2)]
        entries = pa.table({"loc": locs}).select(["loc"])
        for name in ENTRY_SCHEMA.names[1:]:
            entries = entries.append_column(name, pa.nulls(len(locs), ENTRY_SCHEMA.field(name).type))
        runs.append((0, tmp_path / f"{number}.arrow"))
        write_run(entries, runs[-1][1])
    sizes = [each.rows.num_rows for each in key_ranges(runs, 40_000)]
    assert sum(sizes) == 400_000
    assert max(sizes) < 80_000
