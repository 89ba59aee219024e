"""Each case of the field that issue 3 asks for is named by the docstring of a test."""

from __future__ import annotations

import ast
import re

from tests.services.shared import ROOT, shared

SECTIONS = ("B3", "B4", "B6", "B7", "B8", "B10")


def docstrings() -> str:
    """What all tests say that they prove."""
    nodes = (
        node
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )
    tests = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))
    return "\n".join(ast.get_docstring(test) or "" for test in tests)


def test_each_case_is_named() -> None:
    """Issue 3: the cases of sections B3, B4, B6, B7, B8 and B10, a test for each."""
    book = shared("cases", "public_cases.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (B\d+)\. ", book, flags=re.MULTILINE)
    asked = {
        case
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
        if name in SECTIONS
        for case in re.findall(r"^(C-\d+)\.", text, re.MULTILINE)
    }
    assert len(asked) > 40
    assert asked - set(re.findall(r"C-\d+", docstrings())) == set()
