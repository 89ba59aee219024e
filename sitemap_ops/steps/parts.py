"""The parts that sections are read in, each by a task of its own, and what the parts of a section add up to.

A part is a section, or of a query with `split` a span of its key. A section in parts is what it is in one: sums, sorted
runs that are merged anyway, and row numbers that go on where the part before ended.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from sitemap_ops import inventory
from sitemap_ops.connections import Connections
from sitemap_ops.entries import LastmodSpread
from sitemap_ops.errors import SourceError
from sitemap_ops.examples import add_examples
from sitemap_ops.inventory.spans import Span, make_up_the_whole
from sitemap_ops.site import Site
from sitemap_ops.workspace import Workspace

Part = dict[str, Any]


def split(site: Site, connections: Connections) -> list[Part]:
    """The parts of all sections, as `extract` takes them: `{"section": name, "span": None or a span as JSON}`.

    Raises UsageError where a key can't be split, SourceError where its database can't be asked.
    """
    return [
        {"section": section.name, "span": span and span.to_json()}
        for section in site.sections
        for span in inventory.split(section.source, connections)
    ]


def read_sections(site: Site, parts: list[Part], workspace: Workspace, as_of: datetime) -> list[dict[str, Any]]:
    """What was made of each section, in the site file's order, from the references that `extract` gave.

    Raises SourceError where a section's parts are not all of its rows, each once.
    """
    read = [workspace.read_json(part) for part in parts]
    return [
        _summed(name, sorted((part for part in read if part["section"] == name), key=_number), as_of)
        for name in (section.name for section in site.sections)
    ]


def _number(part: Part) -> int:
    return part["span"]["number"] if part["span"] else 0


def _summed(section: str, parts: list[Part], as_of: datetime) -> dict[str, Any]:
    if not parts:
        raise SourceError(f"The section {section!r} was not read in this run: run its extract step again.")
    spans = [part["span"] and Span.from_json(part["span"]) for part in parts]
    if not make_up_the_whole(spans):
        raise SourceError(
            f"The parts of the section {section!r} that were read are not all of its rows, each once: run the split"
            " step again, and with it all extract steps."
        )
    examples: dict[str, list[str]] = {}
    rejects: list[tuple[int, str]] = []
    spread = LastmodSpread()
    rows = 0
    for part in parts:
        add_examples(examples, part["examples"], rows)
        rejects += [(rows, file) for file in part["rejects"]]
        spread.merge(LastmodSpread.from_json(part["spread"]))
        rows += part["rows"]
    return {
        "section": section,
        "rows": rows,
        **{name: sum(part[name] for part in parts) for name in ("entries", "duplicates", "seconds")},
        **{name: sum((Counter(part[name]) for part in parts), Counter()) for name in ("rejected", "changed")},
        **{name: [file for part in parts for file in part[name]] for name in ("runs", "members")},
        "rejects": rejects,
        "examples": examples,
        "lastmod_uniform": spread.uniform(as_of),
    }
