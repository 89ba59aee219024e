"""Spans of a key: a table's rows in parts that are read by themselves, on several machines if need be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

Key: TypeAlias = int | date | datetime


@dataclass(frozen=True)
class Span:
    """The rows whose key is `start` or more and less than `end`; None: no bound on that side. number: from 1."""

    number: int
    start: Key | None
    end: Key | None

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "start": _written(self.start), "end": _written(self.end)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Span:
        return cls(value["number"], _read(value["start"]), _read(value["end"]))


def spans_between(low: Any, high: Any, count: int) -> list[Span]:
    """At most `count` spans, equally wide from `low` to `high` (both int, date or datetime).

    Every key there is, or will be, is in just one: the first has no start, the last no end, and where one ends the next
    starts. So a bound decides how large the parts are, never which rows are read.
    """
    bounds = sorted({low + (high - low) * part // count for part in range(1, count)} - {low})
    return [Span(number, *pair) for number, pair in enumerate(zip([None, *bounds], [*bounds, None], strict=True), 1)]


def make_up_the_whole(spans: Sequence[Span | None]) -> bool:
    """Whether parts, in order of their numbers, have every row once. None stands for a part that is all rows."""
    starts = [each and each.start for each in spans]
    ends = [each and each.end for each in spans]
    return starts[0] is None and ends[-1] is None and starts[1:] == ends[:-1] and None not in starts[1:]


def _written(key: Key | None) -> int | str | None:
    return key.isoformat() if isinstance(key, date) else key


def _read(written: int | str | None) -> Key | None:
    if not isinstance(written, str):
        return written
    return date.fromisoformat(written) if len(written) == len("2026-01-01") else datetime.fromisoformat(written)
