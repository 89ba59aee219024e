"""Whether Airflow will take a schedule: a preset, or a cron expression of five fields."""

from __future__ import annotations

import re

from sitemap_ops.site.faults import nearest, not_a, one_of

PRESETS = ("@once", "@continuous", "@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _WEEKDAYS),
)
_PART = re.compile(r"(?:\*|([a-z]+|\d+)(?:-([a-z]+|\d+))?)(?:/(\d+))?", re.ASCII)
_EXTRAS = {
    "day": re.compile(r"\?|l|[1-9]w|[12]\dw|3[01]w", re.ASCII),
    "weekday": re.compile(rf"\?|l[0-7]|([0-7]|{'|'.join(_WEEKDAYS)})#[1-5]"),
}
"""The last day, the working day nearest to a date, the n-th or last of a weekday in the month."""


def schedule(text: str) -> str:
    """The schedule itself. Raises PydanticCustomError with what is wrong with it."""
    fields = text.split()
    if text in PRESETS:
        return text
    if len(fields) != len(_FIELDS):
        preset = nearest(text if text.startswith("@") else f"@{text}", PRESETS)
        if preset and len(fields) == 1:
            raise not_a(f"a schedule: did you mean '{preset}'?")
        raise not_a(f"a schedule: write five cron fields such as '0 3 * * *', or {one_of(PRESETS)}; null for none.")
    for field, (name, low, high, names) in zip(fields, _FIELDS, strict=True):
        if not all(_part_is_valid(part, name, low, high, names) for part in field.lower().split(",")):
            raise not_a(f"a cron expression, by its {name} ({field!r}): write {low} to {high}, *, a list or a range.")
    return text


def _part_is_valid(part: str, name: str, low: int, high: int, names: tuple[str, ...]) -> bool:
    if name in _EXTRAS and _EXTRAS[name].fullmatch(part):
        return True
    match = _PART.fullmatch(part)
    if not match or (match[3] and int(match[3]) == 0):
        return False
    return all(
        value in names or (value.isdigit() and low <= int(value) <= high) for value in match.group(1, 2) if value
    )
