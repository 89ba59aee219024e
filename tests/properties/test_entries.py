"""What holds for any value: the forms of what is published, independence of neighbours, agreement with Python's own."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.columns import column, frame
from sitemap_ops.entries import (
    DROPPED,
    NOTES,
    fill_template,
    filtered,
    parse_changefreq,
    parse_lastmod,
    parse_priority,
)
from sitemap_ops.entries.changefreq import VALUES

AS_OF = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)
TWO_FORMS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?")
ZONES = (None, "Europe/Berlin", "America/St_Johns", "Pacific/Apia")

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
two_digits = st.integers(0, 99).map("{:02d}".format)
date_like = st.builds(
    "{}{}{}{}{}{}{}".format,
    st.sampled_from(["", " ", "Thu, "]),
    st.integers(0, 2105).map("{:04d}".format) | st.sampled_from(["24", "12024"]),
    st.sampled_from(["-", "-", "/", ""]),
    two_digits | st.integers(1, 12).map("{:02d}".format) | st.sampled_from(["3", ""]),
    st.sampled_from(["-", "-", "/", ""]),
    two_digits | st.integers(1, 28).map("{:02d}".format) | st.sampled_from(["7", ""]),
    st.sampled_from(["", "", "T", " ", "t"]),
)
clock_like = st.builds(
    "{}:{}{}{}".format,
    two_digits | st.integers(0, 23).map("{:02d}".format),
    two_digits | st.integers(0, 59).map("{:02d}".format),
    st.sampled_from(["", ":00", ":59", ":60", ":30.5", ":59.999999999", ":1"]),
    st.sampled_from(["", "Z", "z", " UTC", "+03:00", "-0530", "+14", "+15:00", "-00:00", " PM"]),
)
lastmod_text = unicode_text | date_like | st.builds("{}{}".format, date_like, clock_like)


def parse(texts, **options) -> pd.DataFrame:
    options = {"timezone": None, "coarse_dates": "drop", "as_of": AS_OF} | options
    return parse_lastmod(column(texts, pa.string()), **options)


@settings(deadline=None)
@given(st.lists(lastmod_text | st.none(), max_size=12), st.sampled_from(ZONES))
def test_any_text_gives_one_of_the_two_forms_or_none(texts, zone):
    """P-08: nothing else is ever published; the instant is Python's own of the same text; a dropped tag is counted."""
    result = parse(texts, timezone=zone)
    for lastmod, instant, note in result.itertuples(index=False):
        if pd.isna(lastmod):
            assert pd.isna(instant)
            assert pd.isna(note) or note in DROPPED
        else:
            assert TWO_FORMS.fullmatch(lastmod)
            moment = datetime.fromisoformat(lastmod)
            assert instant == int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
            assert 0 <= instant <= AS_OF.timestamp() + 86_400
            assert pd.isna(note) or note in set(NOTES) - DROPPED


@settings(max_examples=50, deadline=None)
@given(st.lists(lastmod_text | st.none(), max_size=12), st.sampled_from(ZONES), st.integers(0, 12))
def test_a_row_does_not_depend_on_its_neighbours(texts, zone, cut):
    """Chunks of any size, or single rows, give the same columns; what is published is kept when it comes back."""
    whole = parse(texts, timezone=zone)
    chunks = [parse(texts[:cut], timezone=zone), parse(texts[cut:], timezone=zone)]
    pd.testing.assert_frame_equal(whole, pd.concat(chunks, ignore_index=True))
    again = parse_lastmod(whole["lastmod"], timezone=zone, coarse_dates="drop", as_of=AS_OF)
    pd.testing.assert_series_equal(again["lastmod"], whole["lastmod"])
    assert again["note"].isna().all()


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1970, 1, 2), datetime(2026, 11, 30))  # noqa: DTZ001


@settings(deadline=None)
@given(st.lists(st.tuples(moments, offsets), max_size=20))
def test_iso_times_are_read_exactly(pairs):
    """P-08, C-57: every ISO text keeps its offset and whole second; a clean one every letter."""
    times = [moment.replace(tzinfo=zone) for moment, zone in pairs]
    result = parse([time.isoformat(sep=" ") for time in times])
    assert result["instant"].tolist() == [int(time.timestamp() // 1) for time in times]
    clean = [time.isoformat(timespec="seconds") for time in times]
    assert [text.replace("Z", "+00:00") for text in result["lastmod"]] == clean
    assert parse(clean)["lastmod"].tolist() == clean


@settings(deadline=None)
@given(
    st.lists(moments, min_size=1, max_size=20),
    st.sampled_from(
        ["Europe/Istanbul", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran"]
    ),
)
def test_naive_times_agree_with_zoneinfo(times, zone):
    """C-55: text and typed times alike are what zoneinfo makes of them, with the offset in force at that instant."""
    wanted = [time.replace(tzinfo=ZoneInfo(zone), microsecond=0).astimezone(UTC) for time in times]
    typed = parse_lastmod(column(times, pa.timestamp("us")), timezone=zone, coarse_dates="drop", as_of=AS_OF)
    text = parse([time.isoformat() for time in times], timezone=zone)
    for result in (typed, text):
        assert result["instant"].tolist() == [int(time.timestamp()) for time in wanted]
        for lastmod, instant in zip(result["lastmod"], wanted, strict=True):
            assert datetime.fromisoformat(lastmod).utcoffset() == instant.astimezone(ZoneInfo(zone)).utcoffset()


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), max_size=10), st.sampled_from(["s", "ms", "us", "ns"]))
def test_any_timestamp_is_one_of_the_two_forms_or_none(values, unit):
    """No value of a database makes a traceback, in any unit, naive or not."""
    for zone, type_ in (
        (None, pa.timestamp(unit)),
        ("Europe/Istanbul", pa.timestamp(unit)),
        (None, pa.timestamp(unit, "UTC")),
    ):
        result = parse_lastmod(
            column(pa.array(values, pa.int64()).cast(type_)), timezone=zone, coarse_dates="keep", as_of=AS_OF
        )
        assert all(pd.isna(text) or TWO_FORMS.fullmatch(text) for text in result["lastmod"])


any_object = (
    st.text(st.characters()) | st.none() | st.floats() | st.integers() | st.booleans() | st.binary() | st.decimals()
)


@settings(deadline=None)
@given(st.lists(any_object, max_size=10))
def test_any_objects_give_values_or_none(values):
    """P-13, P-16: only the seven words, only 0.0 to 1.0, whatever came (surrogates too); never a traceback."""
    objects = pd.Series(values, dtype=object)
    assert set(parse_changefreq(objects)["changefreq"].dropna()) <= set(VALUES)
    priorities = set(parse_priority(objects)["priority"].dropna())
    assert priorities <= {f"{tenth // 10}.{tenth % 10}" for tenth in range(11)}
    parse_lastmod(objects, timezone=None, coarse_dates="keep", as_of=AS_OF)
    filtered(pd.DataFrame({"c": objects}), as_of=AS_OF, status="c", robots="c", published="c")


@settings(deadline=None)
@given(st.decimals(0, 1, places=4))
def test_priority_is_rounded_half_up(number):
    """P-16: on the decimal digits."""
    wanted = str(number.quantize(Decimal("0.1"), ROUND_HALF_UP))
    assert parse_priority(column([f"{number:f}"]))["priority"].tolist() == [wanted]


@settings(max_examples=200, deadline=None)
@given(unicode_text | st.text(".%2eE/ \u200b", max_size=8), unicode_text)
def test_values_in_a_template_are_data(path, query):
    """U-28: whatever the values, the path keeps its folder and the query its one parameter."""
    loc = fill_template("/p/{path}?q={query}", frame(pa.table({"path": [path], "query": [query]})))[0]
    if pd.isna(loc):
        return
    head, _, tail = loc.partition("?")
    assert head.startswith("/p/")
    assert tail.startswith("q=")
    assert not set("#") & set(loc)
    assert not set("&+") & set(tail)
    if "%" not in path + query:
        assert unquote(head) == f"/p/{path}"
        assert unquote(tail) == f"q={query}"
    segments = [segment.strip().strip("\u200b").replace("%2e", ".").replace("%2E", ".") for segment in head.split("/")]
    assert not {".", ".."} & set(segments)
    assert urlsplit(f"https://a.example{loc}").netloc == "a.example"
