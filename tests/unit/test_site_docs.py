"""docs/site-file.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitemap_ops.site import Site, load_site
from sitemap_ops.site.part import Part
from sitemap_ops.site.wording import _parts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "site-file.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
ROWS = re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", TEXT, re.MULTILINE)


def fields(model: type[Part]) -> set[str]:
    """The keys of a model and of all below it."""
    names = set(model.model_fields)
    for field in model.model_fields.values():
        names.update(*(fields(part) for part in _parts(field.annotation)))
    return names


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(tmp_path, example):
    """Every example of the page is a whole site file without a mistake."""
    path = tmp_path / "shop.yaml"
    path.write_text(example, encoding="utf-8")
    assert load_site(path).site == "shop"


def test_every_key_is_described():
    """No key is missing from the page, and the page's tables name none that isn't there."""
    known = fields(Site)
    assert {name for name in known if not re.search(rf"\b{name}\b", TEXT)} == set()
    assert {name for name, _ in ROWS} <= known


def test_defaults_are_told():
    """A plain default stands in its row."""
    rows = dict(reversed(ROWS))
    told = {name: field.default for name, field in Site.model_fields.items() if isinstance(field.default, str)}
    assert {name: default for name, default in told.items() if default and f"`{default}`" not in rows[name]} == {}
