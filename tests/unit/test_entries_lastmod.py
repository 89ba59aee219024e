from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

from sitemap_ops.columns import column
from sitemap_ops.entries import DROPPED, NOTES, parse_lastmod
from sitemap_ops.errors import UsageError
from tests.services.shared import shared

AS_OF = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)
TWO_FORMS = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d))?")


def parse(values, timezone=None, coarse_dates="drop", type_=None) -> pd.DataFrame:
    series = values if isinstance(values, pd.Series) else column(values, type_ or pa.string())
    return parse_lastmod(series, timezone=timezone, coarse_dates=coarse_dates, as_of=AS_OF)


def one(value, **options) -> tuple[str | None, str | None]:
    """lastmod and note of a single value."""
    row = parse([value], **options).iloc[0]
    return tuple(None if pd.isna(item) else item for item in (row["lastmod"], row["note"]))


def instant(value, **options) -> int:
    return int(parse([value], **options)["instant"].iloc[0])


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-07",
        "2024-02-29",
        "1970-01-01",
        "2024-03-07T12:00:59Z",
        "2024-03-07T12:00:59+03:00",
        "2024-03-07T12:00:59-09:30",
        "2024-03-07T23:59:59+14:00",
        "2024-03-07T00:00:00-00:00",
    ],
)
def test_the_two_forms_are_kept_letter_for_letter(text):
    """P-08: what every reader accepts is published as it came, its offset too, and nothing is said about it."""
    assert one(text) == (text, None)
    assert instant(text) == int(datetime.fromisoformat(text if "T" in text else f"{text}T00:00:00Z").timestamp())


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("2024-03-07T12:00Z", "2024-03-07T12:00:00Z"),
        ("2024-03-07T12:00+03:00", "2024-03-07T12:00:00+03:00"),
        ("2024-03-07 12:00:00Z", "2024-03-07T12:00:00Z"),
        ("2024-03-07 12:00:00 +03:00", "2024-03-07T12:00:00+03:00"),
        ("2024-03-07T12:00:00+0300", "2024-03-07T12:00:00+03:00"),
        ("2024-03-07 12:00:00+03", "2024-03-07T12:00:00+03:00"),
        ("2024-03-07 12:00:00-05", "2024-03-07T12:00:00-05:00"),
        ("2024-03-07t12:00:00z", "2024-03-07T12:00:00Z"),
        ("2024-03-07 12:00:00 UTC", "2024-03-07T12:00:00Z"),
        ("2024-03-07 12:00:00 gmt", "2024-03-07T12:00:00Z"),
        ("2024/03/07 9:05:00+03:00", "2024-03-07T09:05:00+03:00"),
        ("2024-3-7", "2024-03-07"),
        ("20240307", "2024-03-07"),
        ("20240307T120000Z", "2024-03-07T12:00:00Z"),
        ("20240307120000+0300", "2024-03-07T12:00:00+03:00"),
        ("1709812859", "2024-03-07T12:00:59Z"),
        ("1709812859999", "2024-03-07T12:00:59Z"),
        ("1709812859.75", "2024-03-07T12:00:59Z"),
        ("Thu, 07 Mar 2024 12:00:00 GMT", "2024-03-07T12:00:00Z"),
        ("7 Mar 2024 12:00:00 -0330", "2024-03-07T12:00:00-03:30"),
        (" 2024-03-07\n", "2024-03-07"),
        ("\ufeff2024-03-07T12:00:00Z\xa0", "2024-03-07T12:00:00Z"),
    ],
)
def test_forms_with_one_meaning_are_rewritten_and_counted(text, published):
    """C-58, P-08: text in a form of the declared list is written in one of the two forms, never passed through."""
    assert one(text) == (published, "lastmod-normalised")
    assert instant(text) == instant(published)


@pytest.mark.parametrize(
    "text",
    [
        *("07.03.2024", "03/07/2024", "7-3-2024", "24-03-07", "March 7, 2024", "2024-03/07", "2024.03.07"),
        *("2023-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-03-00", "2024-02-30T12:00:00Z"),
        *("2024-03-07T24:00:00Z", "2024-03-07T12:60:00Z", "2024-03-07T12:00:60Z", "2024-03-07T12:00:61+03:00"),
        *("2024-03-07T12:00:00+14:01", "2024-03-07T12:00:00-23:00", "2024-03-07T12:00:00+03:60"),
        *(
            "2024-03-07T12:00:00+3",
            "2024-03-07T12:00:00+03:00:00",
            "2024-03-07T12:00:00 EST",
            "2024-03-07T12Z",
            "2024-01-01+15:00",
        ),
        *("2024-03-07 09:05 PM", "2024-03-07T", "2024-03-07T12:00:00.Z", "2024-03-07T12:00.5Z", "2024-03-07-05"),
        *("10000-01-01", "-0044-03-15", "12024-03-07", "٢٠٢٤-٠٣-٠٧", "2024-03-07 2024-03-08", "2024-3"),
        *("123", "170981285", "17098128590", "1.7e9", "2024-W10", "2024-067", "now", "0", "true", "\x00", "é" * 10),
        *("2024-03-07x12:00:00Z", "2024-03-07Tx2:00:00Z", "2024-03-07T12:00:00\u221203:00", "é024-03-07"),
    ],
)
def test_what_is_no_single_date_loses_its_tag(text):
    """P-07, P-08, C-58: no real date, or more than one reading: no lastmod, counted; never a guess."""
    assert one(text) == (None, "lastmod-format")
    assert parse([text])["instant"].isna().all()


@pytest.mark.parametrize("text", [None, "", "   ", "NaT", "nan", "NaN", "None", "<NA>", "null", "NULL", "N/A", "\\N"])
def test_missing_values_written_as_text_are_missing(text):
    """C-59: NaT, nan, None and their like are no lastmod, and nothing to count; C-63: absent stays absent."""
    assert one(text) == (None, None)


@pytest.mark.parametrize(
    "text", ["0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00Z", "0000/00/00", "00000000"]
)
def test_zero_dates_are_none_and_counted(text):
    """Issue 3 item 2: the databases' zero dates are no dates."""
    assert one(text) == (None, "lastmod-zero")


@pytest.mark.parametrize(
    "text", ["1940-12-22", "1969-12-31", "0001-01-01", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00+03:00"]
)
def test_dates_before_1970_are_dropped(text):
    """C-61: well-formed but before 1970-01-01, by instant."""
    assert one(text) == (None, "lastmod-before-1970")


def test_future_has_a_day_of_tolerance():
    """P-11: up to 24 hours after the run is a clock's error; a second more can't be true."""
    assert one("2026-12-02T06:30:00Z") == ("2026-12-02T06:30:00Z", None)
    assert one("2026-12-02T06:30:01Z") == (None, "lastmod-future")
    assert one("2026-12-02T09:30:00+03:00") == ("2026-12-02T09:30:00+03:00", None)
    assert one("2026-12-02") == ("2026-12-02", None)
    assert one("2099-01-01") == (None, "lastmod-future")


@pytest.mark.parametrize("text", ["2018-02-21T13:31:28", "2018-02-21 13:31:28", "2018-02-21 13:31", "20180221T133128"])
def test_a_time_without_a_zone_is_published_as_its_date(text):
    """C-55, P-09: without a configured zone a naive time is its date only."""
    assert one(text) == ("2018-02-21", "lastmod-timezone")
    assert instant(text) == instant("2018-02-21")


@pytest.mark.parametrize("text", ["2024-01-01Z", "2024-01-01+03:00"])
def test_a_zone_without_a_time_is_published_as_the_date(text):
    """P-09: a zone may not stand without a time; the day is what was said."""
    assert one(text) == ("2024-01-01", "lastmod-timezone")


def test_a_time_without_a_zone_takes_the_configured_one():
    """C-55: with lastmod_timezone a naive time carries that zone's offset at that instant; others are as they were."""
    table = {
        "2018-02-21T13:31:28": "2018-02-21T13:31:28+01:00",
        "2018-07-21 13:31:28": "2018-07-21T13:31:28+02:00",
        "2018-07-21": "2018-07-21",
        "2018-07-21T13:31:28Z": "2018-07-21T13:31:28Z",
        "2018-07-21T13:31:28-05:00": "2018-07-21T13:31:28-05:00",
    }
    assert parse(list(table), timezone="Europe/Berlin")["lastmod"].tolist() == list(table.values())


@pytest.mark.parametrize(
    ("zone", "reading", "published"),
    [
        ("Europe/Berlin", "2024-03-31 01:59:59", "2024-03-31T01:59:59+01:00"),
        ("Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31T03:30:00+02:00"),
        ("Europe/Berlin", "2024-03-31 03:00:00", "2024-03-31T03:00:00+02:00"),
        ("Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27T02:30:00+02:00"),
        ("Europe/Berlin", "2024-10-27 03:00:00", "2024-10-27T03:00:00+01:00"),
        ("America/Havana", "2024-03-10 00:30:00", "2024-03-10T01:30:00-04:00"),
        ("Pacific/Apia", "2011-12-30 12:00:00", "2011-12-31T12:00:00+14:00"),
        ("Asia/Kathmandu", "2024-03-31 02:30:00", "2024-03-31T02:30:00+05:45"),
        ("Africa/Monrovia", "1971-06-01 12:00:00", "1971-06-01T12:44:30Z"),
        ("UTC", "2024-03-31 02:30:00", "2024-03-31T02:30:00Z"),
    ],
)
def test_hours_when_the_clocks_change_are_settled_by_rule(zone, reading, published):
    """A reading that came twice is the first; one that never came is read by the clock before; typed times likewise."""
    assert one(reading, timezone=zone)[0] == published
    typed = pa.array([datetime.fromisoformat(reading)], pa.timestamp("us"))
    assert parse(column(typed), timezone=zone)["lastmod"].tolist() == [published]


@pytest.mark.parametrize("zone", ["Europe/Istambul", "EST5", "../etc/passwd", "Europe", ""])
def test_an_unknown_zone_is_a_usage_error(zone):
    """The message names the zone, and the nearest where there is one."""
    with pytest.raises(UsageError, match=re.escape(repr(zone))) as error:
        parse(["2024-01-01"], timezone=zone)
    if zone == "Europe/Istambul":
        assert "'Europe/Istanbul'" in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "2019-12-27T15:24:59.752706Z",
        "2019-12-27 15:24:59.000000001+00:00",
        "2019-12-27T15:24:59,999Z",
        "2019-12-27 15:24:59.9999999 Z",
    ],
)
def test_fractions_are_cut_off(text):
    """C-57: to whole seconds, down, never rounded up."""
    assert one(text) == ("2019-12-27T15:24:59Z", "lastmod-normalised")


def test_years_and_months_are_dropped_and_counted_unless_kept():
    """P-08: YYYY and YYYY-MM are legal but not in the published schema; coarse_dates: keep leaves them as they are."""
    assert one("2017-08") == one("2017") == (None, "lastmod-coarse")
    for text in ("2017-08", "2017"):
        assert one(text, coarse_dates="keep") == (text, None)
    assert instant("2017-08", coarse_dates="keep") == instant("2017-08-01")
    assert instant("2017", coarse_dates="keep") == instant("2017-01-01")
    assert one(" 2017-08 ", coarse_dates="keep") == ("2017-08", "lastmod-normalised")
    assert one("2017-13", coarse_dates="keep") == one("2017-00", coarse_dates="keep") == (None, "lastmod-format")
    assert one("2027-01", coarse_dates="keep") == (None, "lastmod-future")
    assert one("1950", coarse_dates="keep") == (None, "lastmod-before-1970")


MOMENT = datetime(2024, 3, 7, 12, 0, 59, 999_999, tzinfo=UTC)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_typed_timestamps(unit):
    """C-57, C-55: any unit; aware ones in UTC with Z, naive ones as dates, nulls as nothing."""
    naive = pa.array([MOMENT.replace(microsecond=0, tzinfo=None), None]).cast(pa.timestamp(unit))
    aware = naive.cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, "America/New_York"))
    assert parse(column(naive))["lastmod"].tolist() == ["2024-03-07", pd.NA]
    assert parse(column(naive))["note"].tolist() == ["lastmod-timezone", pd.NA]
    assert parse(column(aware))["lastmod"].tolist() == ["2024-03-07T12:00:59Z", pd.NA]
    assert parse(column(aware))["note"].isna().all()
    local = parse(column(naive), timezone="Asia/Kolkata")
    assert local["lastmod"].tolist() == ["2024-03-07T12:00:59+05:30", pd.NA]
    assert local["note"].isna().all()


def test_typed_fractions_are_cut_off_before_the_epoch_too():
    """C-57: half a second before a second is the second before it, and 1969 stays 1969."""
    values = pa.array([MOMENT, datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    result = parse(column(values))
    assert result["lastmod"].tolist() == ["2024-03-07T12:00:59Z", pd.NA]
    assert result["note"].tolist() == [pd.NA, "lastmod-before-1970"]


def test_typed_extremes_do_not_raise():
    """What a database can hold beyond the calendar is dropped, not a traceback."""
    values = pa.array([2**62, -(2**62), 0], pa.int64()).cast(pa.timestamp("s"))
    for zone in (None, "Europe/Istanbul"):
        result = parse(column(values), timezone=zone)
        assert result["note"].tolist()[:2] == ["lastmod-future", "lastmod-before-1970"]
    assert parse(column(pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32())))["lastmod"].isna().all()


@pytest.mark.parametrize("type_", [pa.date32(), pa.date64()])
def test_typed_dates(type_):
    """Dates are dates, whatever the zone."""
    result = parse(column(pa.array([date(2024, 3, 7), None, date(1969, 12, 31)], type_)), timezone="Europe/Istanbul")
    assert result["lastmod"].tolist() == ["2024-03-07", pd.NA, pd.NA]
    assert result["instant"].tolist() == [1709769600, pd.NA, pd.NA]


def test_pandas_datetimes():
    """C-59: datetime64 with NaT; zones kept as instants."""
    naive = pd.Series(pd.to_datetime(["2024-03-07 12:00:59.000000001", None]))
    assert parse(naive)["lastmod"].tolist() == ["2024-03-07", pd.NA]
    aware = naive.dt.tz_localize("Europe/Istanbul")
    assert parse(aware)["lastmod"].tolist() == ["2024-03-07T09:00:59Z", pd.NA]


def test_mixed_python_objects_are_read_one_by_one():
    """C-92: mixed offsets, naive beside aware, dates and text in one column; naive is never taken for UTC."""
    values = [
        datetime(2024, 3, 7, 12, tzinfo=timezone(timedelta(hours=-5))),
        datetime(2024, 7, 7, 12, tzinfo=timezone(timedelta(hours=-6))),
        datetime(2024, 3, 7, 12),  # noqa: DTZ001
        date(2024, 3, 7),
        "2024-03-07T12:00:00Z",
        pd.Timestamp("2024-03-07T12:00:00.123456789+03:00"),
        np.datetime64("2024-03-07"),
        *(None, pd.NaT, pd.NA, float("nan"), Decimal("NaN")),
        *([1], {}, b"2024", True, 1.5, "\ud800"),
    ]
    result = parse(pd.Series(values, dtype=object))
    assert result["lastmod"].tolist()[:7] == [
        "2024-03-07T12:00:00-05:00",
        "2024-07-07T12:00:00-06:00",
        "2024-03-07",
        "2024-03-07",
        "2024-03-07T12:00:00Z",
        "2024-03-07T12:00:00+03:00",
        "2024-03-07",
    ]
    assert result["lastmod"][7:].isna().all()
    assert result["note"][7:12].isna().all()
    assert (result["note"][12:] == "lastmod-format").all()


def test_mixed_offsets_as_text_sort_by_instant():
    """C-92: -0500 and -0600 in one column keep their offsets, and the instants are comparable."""
    result = parse(["2024-01-15T12:00:00-0600", "2024-07-15T12:00:00-0500"])
    assert result["lastmod"].tolist() == ["2024-01-15T12:00:00-06:00", "2024-07-15T12:00:00-05:00"]
    assert result["instant"].tolist() == [1705341600, 1721062800]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["2024-03-07", None], pa.large_string()),
        pa.array(["2024-03-07", None], pa.string_view()),
        pa.array(["2024-03-07", None]).dictionary_encode(),
        pa.chunked_array([["2024-03-07"], [None]]),
        pa.array(["x", "2024-03-07", None])[1:],
    ],
)
def test_every_kind_of_text_column(array):
    """Arrow's ways to hold text make no difference; slices and chunks neither."""
    result = parse(column(array))
    assert result["lastmod"].tolist() == ["2024-03-07", pd.NA]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, None]),
        pa.array([1.5, None]),
        pa.array([[1], None]),
        pa.array([b"\xff\xfe", None]),
        pa.array([timedelta(1), None]),
        pa.array([7, None]),
    ],
)
def test_columns_of_other_types_are_dropped_and_counted(array):
    """No type makes a traceback; null stays silent."""
    result = parse(column(array))
    assert result["lastmod"].isna().all()
    assert result["note"].tolist() == ["lastmod-format", pd.NA]


def test_whole_numbers_are_read_as_their_text_is():
    """An epoch in a database column and the same in a CSV are one thing."""
    values = [1709812859, 1709812859999, 20240307, None]
    typed, text = parse(values, type_=pa.int64()), parse([None if v is None else str(v) for v in values])
    pd.testing.assert_frame_equal(typed, text)
    assert typed["lastmod"].tolist() == ["2024-03-07T12:00:59Z", "2024-03-07T12:00:59Z", "2024-03-07", pd.NA]


def test_result_has_the_index_and_the_types_of_the_contract():
    """The same index; string, int64, string, all Arrow-backed; an empty column too."""
    for texts in (["2024-03-07", "x"], []):
        values = column(texts, pa.string()).set_axis(range(7, 7 + len(texts)))
        result = parse(values)
        assert result.index.equals(values.index)
        assert [str(result.dtypes[name]) for name in ("lastmod", "instant", "note")] == [
            "string[pyarrow]",
            "int64[pyarrow]",
            "string[pyarrow]",
        ]


def test_a_run_without_an_offset_is_refused():
    """Which day it is must not depend on the machine's own zone."""
    with pytest.raises(ValueError, match="offset"):
        parse_lastmod(column(["2024-01-01"]), timezone=None, coarse_dates="drop", as_of=datetime(2026, 12, 1))  # noqa: DTZ001


def test_each_lastmod_code_has_a_meaning_and_dropped_ones_have_no_tag():
    """NOTES names every code; DROPPED are those whose rows have no lastmod."""
    result = parse(["x", "0000-00-00", "2024", "1960-01-01", "2099-01-01", "2024-01-01 10:00", " 2024-01-01"])
    assert set(result["note"]) == {code for code in NOTES if code.startswith("lastmod")}
    assert (result["lastmod"].isna() == result["note"].isin(DROPPED)).all()


def test_every_month_date_of_a_real_inventory_is_counted_or_kept():
    """Issue 2: packages.csv.gz has months only: all dropped and counted, or with coarse_dates: keep all kept."""
    table = pyarrow.csv.read_csv(shared("inventories", "packages.csv.gz"))
    months = column(table["released"].cast(pa.string()))
    there = months != ""
    dropped = parse(months)
    assert dropped["lastmod"].isna().all()
    assert (dropped["note"][there] == "lastmod-coarse").all()
    assert dropped["note"][~there].isna().all()
    kept = parse(months, coarse_dates="keep")
    assert (kept["lastmod"][there] == months[there]).all()
    assert kept["note"].isna().all()
