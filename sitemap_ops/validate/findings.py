"""Findings, and the bounded record of them: a file with 50,000 faults stays small.

Every fault is counted; only the first few of each kind in each place are kept as findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sitemap_ops.rules import RULES, SEVERITY, Level, level

if TYPE_CHECKING:
    import numpy as np

    from sitemap_ops.validate.column import Column

EXAMPLES = 5
"""Findings kept of one code in one place; what exceeds them is counted."""
MAX_KEPT = 20_000
"""Findings kept in all."""
VALUE_CHARS = 200
_USERINFO = re.compile(r"(//)[^/?#@\s]*@")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Finding:
    """One thing that is to be said about one place.

    rule: the rule book's leading id, such as P-05. location: file, key or URL. line: from 1, None where lines don't
    apply. value: what was found, cut, with controls shown and passwords masked.
    """

    rule: str
    code: str
    level: Level
    location: str
    line: int | None
    value: str | None
    message: str
    advice: str


def safe(value: str | None) -> str | None:
    """A value from a file as it can be shown: at most 200 characters, no control characters, no password (U-04)."""
    if value is None:
        return None
    masked = _USERINFO.sub(r"\1***@", value[: VALUE_CHARS * 8])
    shown = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", masked)
    return shown if len(shown) <= VALUE_CHARS else shown[: VALUE_CHARS - 1] + "…"


@dataclass
class Record:
    """What was found in one place, for the engines asked for."""

    location: str
    engines: Sequence[str] = ()
    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        code: str,
        *,
        value: str | None = None,
        line: int | None = None,
        message: str | None = None,
        count: int = 1,
    ) -> None:
        """Record one fault, or `count` like it with one example; `message` says it closer than the rule does."""
        degree = level(code, self.engines)
        if degree is None or count <= 0:
            return
        seen = self.counts.get(code, 0)
        self.counts[code] = seen + count
        if seen < EXAMPLES:
            rule = RULES[code]
            finding = Finding(
                rule.ids[0], code, degree, self.location, line, safe(value), message or rule.what, rule.advice
            )
            self.findings.append(finding)

    def add_rows(self, code: str, column: Column, where: np.ndarray, message: str | None = None) -> None:
        """Record one fault for each row of the column where the mask `where` (bool) is true."""
        rows = where.nonzero()[0]
        if not len(rows) or level(code, self.engines) is None:
            return
        room = max(0, EXAMPLES - self.counts.get(code, 0))
        for row in rows[:room]:
            self.add(code, value=column.text[row].as_py(), line=int(column.line[row]) or None, message=message)
        if len(rows) > room:
            self.counts[code] = self.counts.get(code, 0) + len(rows) - room


@dataclass
class Validation:
    """What a validation found.

    files: sitemaps, indexes and text files read. urls: entries in them (of feeds too), those of indexes not counted.
    findings: examples, in reading order, at most 5 of a code in a place. counts: how many there were, by (location,
    code).
    """

    location: str
    engines: Sequence[str] = ()
    files: int = 0
    urls: int = 0
    findings: list[Finding] = field(default_factory=list)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def take(self, record: Record) -> None:
        """Add a place's record."""
        for code, count in record.counts.items():
            key = (record.location, code)
            self.counts[key] = self.counts.get(key, 0) + count
        self.findings.extend(record.findings[: max(0, MAX_KEPT - len(self.findings))])

    @property
    def worst(self) -> Level | None:
        """The worst level found; None when nothing was."""
        levels = (level(code, self.engines) for _, code in self.counts)
        return max((one for one in levels if one), key=SEVERITY.__getitem__, default=None)

    def totals(self) -> dict[Level, int]:
        """How many faults there are of each level, those not kept as findings included."""
        totals: dict[Level, int] = {"error": 0, "warning": 0, "info": 0}
        for (_, code), count in self.counts.items():
            degree = level(code, self.engines)
            if degree:
                totals[degree] += count
        return totals

    def by_code(self) -> Iterator[tuple[str, int, int]]:
        """(code, faults, places) of each code, worst level first, then most faults."""
        faults: dict[str, tuple[int, int]] = {}
        for (_, code), count in self.counts.items():
            faults_so_far, places = faults.get(code, (0, 0))
            faults[code] = (faults_so_far + count, places + 1)
        severity = {code: SEVERITY[level(code, self.engines) or "info"] for code in faults}
        for code in sorted(faults, key=lambda code: (-severity[code], -faults[code][0], code)):
            yield code, *faults[code]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data: location, engines, files, urls, worst, totals, counts, findings."""
        return {
            "location": self.location,
            "engines": list(self.engines),
            "files": self.files,
            "urls": self.urls,
            "worst": self.worst,
            "totals": self.totals(),
            "counts": [
                {
                    "code": code,
                    "rules": list(RULES[code].ids),
                    "level": level(code, self.engines),
                    "count": count,
                    "places": places,
                }
                for code, count, places in self.by_code()
            ],
            "findings": [asdict(finding) for finding in self.findings],
        }
