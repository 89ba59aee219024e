"""docs/codes.md explains every code that a run can give a row, and no other."""

from __future__ import annotations

import re

from sitemap_ops.entries import FILTERS, NOTES
from sitemap_ops.inventory.csv import FIELD_COUNT
from sitemap_ops.urls import CHANGES, REASONS
from tests.services.shared import ROOT


def test_every_code_is_explained() -> None:
    """A code that is added has to be explained; one that is gone has to leave the page."""
    explained = re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/codes.md").read_text(), re.MULTILINE)
    assert sorted(explained) == sorted([*REASONS, *CHANGES, *FILTERS, *NOTES, FIELD_COUNT])
