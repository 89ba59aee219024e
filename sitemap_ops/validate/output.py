"""A validation for people, for programs and for CI: text, JSON, JUnit XML."""

from __future__ import annotations

import json
from io import StringIO
from xml.etree import ElementTree

from sitemap_ops.rules import RULES, level
from sitemap_ops.validate import exceeds
from sitemap_ops.validate.findings import Validation

__all__ = ["exceeds", "to_json", "to_junit", "to_table"]

MAX_ROWS = 200


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
    table.add_column("level")
    table.add_column("rule")
    table.add_column("count", justify="right")
    table.add_column("finding", overflow="fold")
    for code, count, places in validation.by_code():
        examples = [finding for finding in validation.findings if finding.code == code]
        lines = [f"{RULES[code].what} {RULES[code].advice} [{code}]"]
        for finding in examples[:3]:
            place = finding.location if finding.line is None else f"{finding.location}:{finding.line}"
            said = finding.message if finding.message != RULES[code].what else ""
            lines.append("  " + " ".join(part for part in (place, said, finding.value and repr(finding.value)) if part))
        if places > 1:
            lines.append(f"  in {places:,} places")
        table.add_row(level(code, validation.engines), RULES[code].ids[0], f"{count:,}", Text("\n".join(lines)))
    console = Console(file=StringIO(), width=width, color_system=None, highlight=False)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def to_junit(validation: Validation) -> str:
    """JUnit XML: one case a code found, failed where it is an error; others pass, with what they say as output."""
    totals = validation.totals()
    errors = sum(1 for code, _, _ in validation.by_code() if level(code, validation.engines) == "error")
    cases = max(1, len(list(validation.by_code())))
    suite = ElementTree.Element(
        "testsuite", name="sitemap-ops validate", tests=str(cases), failures=str(errors), errors="0", skipped="0"
    )
    if not validation.counts:
        ElementTree.SubElement(suite, "testcase", classname=validation.location, name="valid")
    for code, count, _ in validation.by_code():
        case = ElementTree.SubElement(
            suite, "testcase", classname=validation.location, name=f"{RULES[code].ids[0]} {code}"
        )
        said = "\n".join(
            f"{finding.location}:{finding.line or ''} {finding.message} {finding.value or ''}".rstrip()
            for finding in validation.findings
            if finding.code == code
        )
        if level(code, validation.engines) == "error":
            failure = ElementTree.SubElement(case, "failure", message=f"{count:,} times: {RULES[code].what}", type=code)
            failure.text = f"{said}\n{RULES[code].advice}"
        else:
            ElementTree.SubElement(case, "system-out").text = f"{said}\n{RULES[code].advice}"
    suite.set("assertions", str(sum(totals.values())))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
