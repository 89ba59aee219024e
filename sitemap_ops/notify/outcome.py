"""What telling one engine came to, as plain data for reports, logs and XComs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

Finding = dict[str, str]
"""rule, code, level, place, advice: as in a run's report."""


class Failed(Exception):
    """What a channel could not do, as a sentence or two that say what to do. code: of the rule book, if it has one."""

    def __init__(self, told: str, code: str | None = None, rule: str = "PUB-10") -> None:
        super().__init__(told)
        self.told = told
        self.code = code
        self.rule = rule


@dataclass
class Told:
    """told: one sentence. facts: further keys of the result. findings: what is to be mended, though it was told."""

    told: str
    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def finding(rule: str, code: str, place: str, advice: str, level: str = "warning") -> Finding:
    return {"rule": rule, "code": code, "level": level, "place": place, "advice": advice}


def done(channel: str, told: Told) -> dict[str, Any]:
    return {"channel": channel, "outcome": "told", "told": told.told, **told.facts, "findings": told.findings}


def failed(channel: str, failure: Failed) -> dict[str, Any]:
    """A failure is a warning and nothing more: what was published stays published (PUB-10)."""
    findings = [finding("PUB-10", "notify-failed", channel, failure.told)]
    if failure.code:
        findings.append(finding(failure.rule, failure.code, channel, failure.told))
    return {"channel": channel, "outcome": "failed", "told": failure.told, "findings": findings}


def without(value: Any, secrets: Iterable[str]) -> Any:
    """The same plain data with every secret in it, in whatever form a URL gives it, replaced by ***."""
    forms = sorted({form for text in secrets for form in (text, quote(text, safe=""), quote_plus(text))}, key=len)
    return _without(value, forms[::-1])


def _without(value: Any, forms: Sequence[str]) -> Any:
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, "***")
        return value
    if isinstance(value, dict):
        return {key: _without(inner, forms) for key, inner in value.items()}
    return [_without(inner, forms) for inner in value] if isinstance(value, list) else value
