"""docs/codes.md explains every code that a run can give a row, and no other."""

from __future__ import annotations

import re

from sitemap_ops.entries import FILTERS, NOTES
from sitemap_ops.entries.alternates import ALTERNATE_NOTES
from sitemap_ops.inventory.csv import FIELD_COUNT
from sitemap_ops.urls import CHANGES, REASONS
from tests.services.shared import ROOT
from tests.unit.test_import import DIALECTS

CONTAINER = "## What of a sitemap's container is repaired"


def explained(text: str) -> list[str]:
    return sorted(re.findall(r"^\| `([a-z0-9-]+)` \|", text, re.MULTILINE))


def parts() -> tuple[str, str]:
    """The page without the section on containers, and that section."""
    before, _, rest = (ROOT / "docs/codes.md").read_text().partition(CONTAINER)
    section, heading, after = rest.partition("\n## ")
    return before + heading + after, section


def test_every_code_is_explained() -> None:
    """A code that is added has to be explained; one that is gone has to leave the page."""
    assert explained(parts()[0]) == sorted([*REASONS, *CHANGES, *FILTERS, *NOTES, *ALTERNATE_NOTES, FIELD_COUNT])


def test_every_repair_is_explained() -> None:
    """A repair of a container that an import can do has a dialect that shows it in a test, and a line on the page."""
    shown = {code for dialect in DIALECTS.values() for code in dialect.repaired} | {"nested-index"}
    values = ("changefreq-", "priority-")
    assert explained(parts()[1]) == sorted(code for code in shown if not code.startswith(values))
