"""Nothing of the rule book is forgotten: a rule is in the table, or in the list of what can't be judged."""

from __future__ import annotations

import json
import re

from sitemap_ops.rules import RULES
from tests.services.shared import ROOT, shared


def test_each_rule_is_judged_or_listed() -> None:
    """Issue 3: the rules that can't be judged offline are written down with reasons."""
    book = json.loads(shared("rules.json").read_text(encoding="utf-8"))
    serious = {rule["id"] for rule in book if rule["severity"] in ("ERROR", "WARNING")}
    judged = {id_ for rule in RULES.values() for id_ in rule.ids}
    listed = set(re.findall(r"\b[A-Z]+\d?-\d+\b", (ROOT / "docs" / "rules-offline.md").read_text(encoding="utf-8")))
    assert serious <= judged | listed


def test_ids_are_of_the_book() -> None:
    """A mistyped id would send readers nowhere."""
    book = {rule["id"] for rule in json.loads(shared("rules.json").read_text(encoding="utf-8"))}
    assert {id_ for rule in RULES.values() for id_ in rule.ids} <= book
