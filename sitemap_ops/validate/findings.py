"""All that a validation found: findings of every place, and how many there were of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sitemap_ops.engines.words import WORDS
from sitemap_ops.reading.record import Finding, Record
from sitemap_ops.rules import RULES, SEVERITY, Level, Rule, code_of, level

MAX_KEPT = 20_000
"""Findings kept in all."""


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
