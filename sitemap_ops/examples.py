"""A few rows with their values for each code, for people who read the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

EXAMPLES = 3
"""Rows kept for the report, of each code."""

_SHOWN_CHARACTERS = 200
_KEPT_CHARACTERS = 2_048
_NUMBER = re.compile(r"^row (\d+)")
_PASSWORD = re.compile(r"(//[^/@:]*):[^/@]*@")


def printable(value: object) -> str | None:
    """A value as text, cut, without the password that a URL may hold (U-04)."""
    if value is None or value is pd.NA:
        return None
    return _PASSWORD.sub(r"\1:***@", str(value))[:_KEPT_CHARACTERS].encode("utf-8", "replace").decode()


def examples_of(positions: np.ndarray, values: pd.Series) -> list[str]:
    """Rows of a column: number and value, of the first positions."""
    shown = positions[:EXAMPLES]
    return [f"row {values.index[at]}: {(printable(values.iloc[at]) or '')[:_SHOWN_CHARACTERS]}" for at in shown]


def add_examples(examples: dict[str, list[str]], found: Mapping[str, Sequence[str]], rows_before: int = 0) -> None:
    """Add those of the next rows by code, while there are few; rows_before: where their numbers begin."""
    for code, rows in found.items():
        kept = examples.setdefault(code, [])
        kept += [
            _NUMBER.sub(lambda row: f"row {int(row[1]) + rows_before}", text) for text in rows[: EXAMPLES - len(kept)]
        ]


def examples_by_code(codes: pa.Array, values: pd.Series) -> dict[str, list[str]]:
    """Rows for each code that a column of codes (string, null for none) has."""
    found = pc.unique(pc.drop_null(codes)).to_pylist()
    return {code: examples_of(np.flatnonzero(_matching(codes, code)), values) for code in found}


def _matching(codes: pa.Array, code: str) -> np.ndarray:
    matching: np.ndarray = pc.fill_null(pc.equal(codes, code), False).to_numpy(zero_copy_only=False)
    return matching
