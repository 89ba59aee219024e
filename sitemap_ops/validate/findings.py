"""Findings, and the bounded record of them: a file with 50,000 faults stays small.

Every fault is counted; only the first few of each kind in each place are kept as findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sitemap_ops.engines.words import WORDS
from sitemap_ops.rules import RULES, SEVERITY, Level, Rule, code_of, level

if TYPE_CHECKING:
    import numpy as np

    from sitemap_ops.validate.column import Column

EXAMPLES = 5
"""Findings kept of one code in one place; what exceeds them is counted."""
MAX_KEPT = 20_000
"""Findings kept in all."""
VALUE_CHARS = 200
MESSAGE_CHARS = 400
_USERINFO = re.compile(r"(//)[^/?#@\s]*@")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


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


Message = str | Callable[[str], str | None] | None


def safe(value: str | None, limit: int = VALUE_CHARS) -> str | None:
    """Text of a file's as it can be shown: cut, without control characters or passwords (U-04)."""
    if value is None:
        return None
    masked = _USERINFO.sub(r"\1***@", value[: limit * 8])
    shown = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", masked)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


@dataclass
class Record:
    """What was found in one place, for the engines asked for."""

    location: str
    engines: Sequence[str] = ()
    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        key: str,
        *,
        value: str | None = None,
        line: int | None = None,
        message: str | None = None,
        count: int = 1,
    ) -> None:
        """Record one fault, or `count` like it with one example.

        key: of the rule table. message: says it closer than the rule does.
        """
        seen = self.counts.get(key, 0)
        degree = level(key, self.engines) if seen < EXAMPLES else None
        if count <= 0 or (degree is None and not seen):
            return
        self.counts[key] = seen + count
        if degree is not None:
            rule = RULES[key]
            said = safe(message, MESSAGE_CHARS) or rule.what
            self.findings.append(
                Finding(rule.ids[0], code_of(key), degree, self.location, line, safe(value), said, rule.advice)
            )

    def add_rows(self, key: str, column: Column, where: np.ndarray, message: Message = None) -> None:
        """Record one fault for each row of the column where the mask `where` (bool) is true.

        message: as in `add`, or a function that makes it of the value.
        """
        rows = where.nonzero()[0]
        if not len(rows) or level(key, self.engines) is None:
            return
        room = max(0, EXAMPLES - self.counts.get(key, 0))
        for row in rows[:room]:
            value = column.text[row].as_py()
            said = message(value) if callable(message) else message
            self.add(key, value=value, line=int(column.line[row]) or None, message=said)
        if len(rows) > room:
            self.counts[key] = self.counts.get(key, 0) + len(rows) - room


@dataclass(frozen=True)
class Kind:
    """All findings of one code and level: how many, in how many places."""

    code: str
    level: Level
    rule: Rule
    count: int
    places: int

    def known_as(self, engines: Sequence[str]) -> dict[str, str]:
        """What the engines' own reports call it, by engine (G-63, Y-19)."""
        return {name: WORDS[name][self.code] for name in engines if self.code in WORDS.get(name, {})}


@dataclass
class Validation:
    """What a validation found.

    files: sitemaps, indexes and text files read. urls: entries in them (of feeds too), those of indexes not counted.
    findings: examples, in reading order, at most 5 of a code in a place. counts: how many there were, by (location,
    key of the rule table).
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

    def kinds(self) -> list[Kind]:
        """What was found, kind by kind: the worst level first, then what there is most of."""
        totals: dict[str, list[int]] = {}
        for (_, key), count in self.counts.items():
            totals.setdefault(key, []).append(count)
        kinds = [
            Kind(code_of(key), degree, RULES[key], sum(counts), len(counts))
            for key, counts in totals.items()
            if (degree := level(key, self.engines)) is not None
        ]
        return sorted(kinds, key=lambda kind: (-SEVERITY[kind.level], -kind.count, kind.code))

    def examples(self, kind: Kind) -> list[Finding]:
        """The findings kept of a kind."""
        return [one for one in self.findings if one.code == kind.code and one.level == kind.level]

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
                    "code": kind.code,
                    "rules": list(kind.rule.ids),
                    "level": kind.level,
                    "count": kind.count,
                    "places": kind.places,
                    "known_as": kind.known_as(self.engines),
                }
                for kind in self.kinds()
            ],
            "findings": [asdict(finding) for finding in self.findings],
        }
