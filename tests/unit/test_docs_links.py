"""The pages lead to each other: every relative link of the README and of docs/ has its file and its heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.services.shared import ROOT

PAGES = [ROOT / "README.md", ROOT / "plugins/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def links(text: str) -> list[str]:
    """The targets of a page's links that are no web addresses."""
    found = re.findall(r"\[[^\]]*\]\(\s*<?([^)>\s]+)", text) + re.findall(r"(?m)^\[[^\]]+\]:\s*(\S+)", text)
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """What a page's headings are called in an address, by GitHub and by the site's generator alike."""
    headings = re.findall(r"(?m)^#{1,6} +(.+?) *#*$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    """Issue 6, 5: a page that is renamed, or a heading, takes its links along."""
    text = page.read_text(encoding="utf-8")
    for target in links(without_code(text)):
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        assert place.is_relative_to(ROOT)
        assert not anchor or anchor in anchors(place.read_text(encoding="utf-8")), target
        assert page.parent.name != "docs" or place.parent == page.parent, f"{target} would be no page of the site"


def test_links_are_found() -> None:
    """The test of the test: links in text, in tables and by reference; none in code."""
    text = "[a](b.md#c-d) | [e]( f.md 'g') |\n[h]: i.md\n`[j](k.md)`\n```\n[l](m.md)\n```\n[n](https://o.example/)"
    assert links(without_code(text)) == ["b.md#c-d", "f.md", "i.md"]
    assert anchors("# The `site` file, now\n```\n# no\n```\n## On S3 ##\n") == {"the-site-file-now", "on-s3"}


def test_every_page_is_in_the_sites_navigation() -> None:
    """`make docs`: no page that is only found by who knows of it, in the site as in its index."""

    def named(nav: Any) -> Iterator[str]:
        for each in nav if isinstance(nav, list) else nav.values():
            if isinstance(each, str):
                yield each
            else:
                yield from named(each)

    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert sorted(named(yaml.safe_load((ROOT / "properdocs.yml").read_text())["nav"])) == sorted(pages)
    assert set(links((ROOT / "docs/index.md").read_text(encoding="utf-8"))) == pages - {"index.md"}
