"""A validation for people, for programs and for CI: text, JSON, JUnit XML."""

from __future__ import annotations

import json
from io import StringIO
from xml.etree import ElementTree

from sitemap_ops.reading.record import Finding
from sitemap_ops.rules import SEVERITY, Level
from sitemap_ops.validate import exceeds
from sitemap_ops.validate.findings import Kind, Validation

__all__ = ["exceeds", "to_json", "to_junit", "to_table"]

MAX_EXAMPLES = 3


def to_json(validation: Validation) -> str:
    return json.dumps(validation.to_json(), indent=2, ensure_ascii=False)


def to_table(validation: Validation, width: int = 120) -> str:
    """A page of text: one block a kind of finding, the worst first, with examples and advice."""
    totals = validation.totals()
    head = (
        f"{validation.location}: {_count(validation.files, 'file')}, {_count(validation.urls, 'URL')};"
        f" {_count(totals['error'], 'error')}, {_count(totals['warning'], 'warning')}, {totals['info']:,} info"
    )
    if not validation.counts:
        return f"{head}\nNothing to report."
    return "\n".join([head, _rows(validation, width)])


def _rows(validation: Validation, width: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=True, pad_edge=False)
    for name in ("level", "rule"):
        table.add_column(name)
    table.add_column("count", justify="right")
    table.add_column("finding", overflow="fold")
    for kind in validation.kinds():
        known = "".join(f" ({name}: {words})" for name, words in kind.known_as(validation.engines).items())
        lines = [f"{kind.rule.what} {kind.rule.advice} [{kind.code}]{known}"]
        lines += [f"  {_example(finding, kind)}" for finding in validation.examples(kind)[:MAX_EXAMPLES]]
        if kind.places > 1:
            lines.append(f"  in {kind.places:,} places")
        table.add_row(kind.level, kind.rule.ids[0], f"{kind.count:,}", Text("\n".join(lines)))
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _example(finding: Finding, kind: Kind) -> str:
    place = finding.location if finding.line is None else f"{finding.location}:{finding.line}"
    said = finding.message if finding.message != kind.rule.what else ""
    return " ".join(part for part in (place, said, finding.value and repr(finding.value)) if part)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def to_junit(validation: Validation, fail_on: Level = "error") -> str:
    """JUnit XML: a case for each kind of finding, failed from the level `fail_on` up; the others pass and say it."""
    kinds = validation.kinds()
    failed = [kind for kind in kinds if SEVERITY[kind.level] >= SEVERITY[fail_on]]
    totals = {"tests": max(1, len(kinds)), "failures": len(failed), "errors": 0, "skipped": 0}
    numbers = {name: str(number) for name, number in totals.items()}
    suite = ElementTree.Element("testsuite", {"name": "sitemap-ops validate", **numbers})
    if not kinds:
        ElementTree.SubElement(suite, "testcase", classname=validation.location, name="valid")
    for kind in kinds:
        name = f"{kind.rule.ids[0]} {kind.code}"
        case = ElementTree.SubElement(suite, "testcase", classname=validation.location, name=name)
        said = "\n".join([*(_example(finding, kind) for finding in validation.examples(kind)), kind.rule.advice])
        if kind in failed:
            message = f"{kind.count:,} times: {kind.rule.what}"
            ElementTree.SubElement(case, "failure", message=message, type=kind.code).text = said
        else:
            ElementTree.SubElement(case, "system-out").text = said
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
