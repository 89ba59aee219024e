"""Findings, and the bounded record of them: a file with 50,000 faults stays small.

Every fault is counted; only the first few of each kind in each place are kept as findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sitemap_ops.rules import RULES, Level, code_of, level

if TYPE_CHECKING:
    import numpy as np

    from sitemap_ops.reading.column import Column

EXAMPLES = 5
"""Findings kept of one code in one place; what exceeds them is counted."""
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
