"""Which schedules the site file takes: those that Airflow would, found before Airflow reads them."""

from __future__ import annotations

import contextlib

import pytest
from croniter import croniter
from pydantic_core import PydanticCustomError

from sitemap_ops.site.schedule import PRESETS, schedule

PARTS = (
    "*", "?", "*/5", "*/0", "0", "1", "7", "8", "12", "13", "23", "24", "31", "32", "59", "60", "00", "01", "1-5",
    "5-1", "1-5/2", "5/10", "1,2", "1,*/2", "mon", "MON-FRI", "fri-mon", "jan-mar", "l", "L5", "5#2", "mon#1", "5#6",
    "15w", "32w", "1-", "-1", "a", "@", "sun-x", "1.5", "٣",
)  # fmt: skip


@pytest.mark.parametrize("field", range(5), ids=["minute", "hour", "day", "month", "weekday"])
def test_cron_fields_are_those_of_croniter(field):
    """croniter reads Airflow's cron expressions; field by field we take what it takes, and nothing else."""
    for part in PARTS:
        fields = ["*"] * 5
        fields[field] = part
        text = " ".join(fields)
        with contextlib.nullcontext() if croniter.is_valid(text) else pytest.raises(PydanticCustomError):
            assert schedule(text) == text


@pytest.mark.parametrize("text", [*PRESETS, "0 3 * * *", "*/15  6-22 * * mon-fri"])
def test_schedules(text):
    """Presets, and five fields with any spaces between them."""
    assert schedule(text) == text


@pytest.mark.parametrize(
    "text", ["", "daily", "@dayly", "* * * *", "* * * * * *", "60 * * * *", "0 3 * * *;", "every day"]
)
def test_not_schedules(text):
    """The rest is told what to write instead."""
    with pytest.raises(PydanticCustomError, match=r"not a (schedule|cron expression).*: (did you mean|write)"):
        schedule(text)
