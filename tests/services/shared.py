"""The read-only material beside the project: real inventories, vectors, schemas. Absent on a user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shared(*parts: str) -> Path:
    """A path below ../shared; skips the test, saying so, where it is absent (and fails in CI)."""
    path = ROOT.parent.joinpath("shared", *parts)
    if not path.exists():
        missing(f"../shared/{'/'.join(parts)} is not beside the project")
    return path


def missing(what: str) -> None:
    """An absent part: a loud skip on a user's machine, a failure in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"absent in CI: {what}")
    pytest.skip(what)
