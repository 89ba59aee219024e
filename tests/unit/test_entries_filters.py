from __future__ import annotations

from datetime import UTC, date, datetime

import pandas as pd
import pyarrow as pa
import pytest

from sitemap_ops.columns import column, frame
from sitemap_ops.entries import FILTERS, filtered, non_canonical

AS_OF = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)


def out(values, *, kind: str, **options) -> list[bool]:
    """Which values of one filter column take their row out."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    reasons = filtered(frame(pa.table({"c": array})), as_of=AS_OF, **{kind: "c"}, **options)
    expected = {"status": "http-status", "robots": "noindex", "published": "unpublished"}[kind]
    assert set(reasons.dropna()) <= {expected} <= set(FILTERS)
    return reasons.notna().tolist()


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["200", "301", "404", "", None, " 200 "]),
        pa.array(["200 OK", "301 Moved", "2000", " ", None, "200.0"]),
        pa.array([200, 301, 503, None, None, 200]),
        pa.array([200.0, 301.0, 0.0, None, None, 200.0]),
    ],
)
def test_status(values):
    """C-95: all but 200 are out; a page that was never fetched stays."""
    assert out(values, kind="status") == [False, True, True, False, False, False]


@pytest.mark.parametrize(
    ("directives", "is_out"),
    [
        *(("noindex", True), ("NOINDEX, nofollow", True), ("follow,noindex", True), ("none", True), ("None", True)),
        *(("googlebot: noindex", True), ("bingbot: none, x", True), ("nofollow; none", True)),
        *(("index, follow", False), ("all", False), ("nofollow", False), ("noimageindex", False), ("", False)),
        *(("max-image-preview:none", False), ("max-image-preview: none, noarchive", False), (None, False)),
        *(("max-image-preview:none, none", True), ("nonesuch", False)),
    ],
)
def test_robots(directives, is_out):
    """C-95: noindex and none, in any case, alone, in a list or for one robot; no other directive that looks alike."""
    assert out(pa.array([directives], pa.string()), kind="robots") == [is_out]


@pytest.mark.parametrize(
    ("value", "is_out"),
    [
        *(("true", False), ("TRUE", False), ("1", False), ("yes", False), ("published", False), ("", False)),
        *(("false", True), ("0", True), ("no", True), ("draft", True), ("pending", True)),
        *(("2024-03-07", False), ("2026-12-01T06:30:00Z", False), ("2026-12-01T06:30:01Z", True), ("2099-01-01", True)),
        *(("2026-12-01", False), ("2026-12-02", True), ("1960-01-01", False), (None, False)),
    ],
)
def test_published(value, is_out):
    """C-95: not published, or not yet: to the second, with no tolerance."""
    assert out(pa.array([value], pa.string()), kind="published") == [is_out]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, False, None]),
        pa.array([1, 0, None]),
        pa.array([1.0, 0.0, None]),
        pa.array([date(2026, 12, 1), date(2026, 12, 2), None]),
        pa.array([datetime(2026, 12, 1, 6, 30), datetime(2026, 12, 1, 6, 31), None]),  # noqa: DTZ001
    ],
)
def test_published_typed(values):
    """Booleans, numbers, dates and times say the same as their text; null says nothing."""
    assert out(values, kind="published") == [False, True, False]


def test_published_times_take_the_configured_zone():
    """09:00 in Istanbul is before 06:30 UTC, 10:00 is not."""
    values = pa.array(["2026-12-01 09:00", "2026-12-01 10:00"])
    assert out(values, kind="published", timezone="Europe/Istanbul") == [False, True]
    assert out(values, kind="published") == [True, True]


def test_the_first_reason_is_given():
    """One reason a row, in the order of FILTERS; the index is kept."""
    rows = frame(pa.table({"s": ["301", "200", "200"], "r": ["noindex", "none", None], "p": [False, False, True]}))
    reasons = filtered(rows.set_axis([4, 5, 6]), as_of=AS_OF, status="s", robots="r", published="p")
    assert reasons.fillna("").to_dict() == {4: "http-status", 5: "noindex", 6: ""}
    assert filtered(rows, as_of=AS_OF).isna().all()


def test_non_canonical():
    """C-95, G-03: out where another URL is named as canonical, also one that the policy refuses; blank says nothing."""
    locs = column(["https://a.example/1"] * 5).set_axis(range(2, 7))
    stated = column(["https://A.example/1", "/2", "", None, "https://other.example/1"]).set_axis(locs.index)
    canonicals = column(["https://a.example/1", "https://a.example/2", None, None, None]).set_axis(locs.index)
    reasons = non_canonical(locs, stated, canonicals)
    assert reasons.fillna("").to_dict() == {2: "", 3: "non-canonical", 4: "", 5: "", 6: "non-canonical"}
    assert "non-canonical" in FILTERS
    assert isinstance(reasons.dtype, pd.ArrowDtype)
