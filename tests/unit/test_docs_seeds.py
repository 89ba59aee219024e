"""docs/seeds.md: every statement of the two guides, with code that is there and tests that are there."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache

import pytest

from tests.services.shared import ROOT, shared

PAGE = (ROOT / "docs/seeds.md").read_text(encoding="utf-8")
COUNTS = {"S000": 32, "S003": 27}
NOTHING = {("S000", 3), ("S000", 4), ("S000", 21), ("S003", 2), ("S003", 3), ("S003", 20), ("S003", 24)}
"""How engines behave, or why: there is nothing that a site's files could do about it."""


def rows() -> list[tuple[str, int, list[str]]]:
    """Guide, number and cells of every row."""
    found = []
    for guide, text in re.findall(r"^## [^\n]*\((S\d+)\)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^\| \d+ \|.*\|$", text, re.MULTILINE):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found.append((guide, int(cells[0]), cells))
    return found


ROWS = rows()


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def cases_of(path: str) -> set[str]:
    """The names of the cases that a module's one table of tests has."""
    module = importlib.import_module("tests." + path.removesuffix(".py").replace("/", "."))
    named = {case.id for case in getattr(module, "CASES", ())}
    return named | set(getattr(module, "DIALECTS", ())) | set(getattr(module, "LIMITS", ()))


def test_every_statement_has_its_row() -> None:
    """Issue 3: seed by seed, in the order of the book's trace."""
    for guide, count in COUNTS.items():
        assert [number for of, number, _ in ROWS if of == guide] == list(range(1, count + 1))


def test_rules_are_the_traces() -> None:
    """Each row names rules that the book's trace of the seeds gives for that statement."""
    book = shared("rules.md").read_text(encoding="utf-8").partition("## 7. Seed trace")[2].partition("\n## 8.")[0]
    for guide, text in re.findall(r"^### (S\d+) [^\n]*\n(.*?)(?=^### |\Z)", book, re.MULTILINE | re.DOTALL):
        traced = re.findall(r"^\| (\d+) \|[^|]*\| ([^|]*)\|", text, re.MULTILINE)
        assert len(traced) == COUNTS[guide]
        for number, rules in traced:
            (cells,) = [cells for of, at, cells in ROWS if (of, at) == (guide, int(number))]
            assert set(cells[2].split()) & set(re.findall(r"[A-Z]+\d?-\d+", rules)), (guide, number)


@pytest.mark.parametrize(("guide", "number", "cells"), ROWS, ids=[f"{guide}-{number}" for guide, number, _ in ROWS])
def test_what_a_row_names_is_there(guide: str, number: int, cells: list[str]) -> None:
    """Issue 3: where it is implemented, and the test that proves it."""
    kept, proved = (re.findall(r"`([^`]+)`", cell) for cell in cells[3:5])
    assert bool(kept) is bool(proved) is ((guide, number) not in NOTHING)
    for name in kept:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(f"sitemap_ops.{module}"), attribute), name
    for name in proved:
        path, _, test = name.partition("::")
        function, _, case = test.partition("[")
        assert function in functions_of(path), name
        assert not case or case.removesuffix("]") in cases_of(path), name
