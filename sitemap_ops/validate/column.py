"""A column of values with the places they came from: what every check on values takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Column:
    """Values of one tag in one batch.

    text: string, never null. line: int64, from 1. entry: int64, the entry within the batch each value belongs to.
    """

    text: pa.Array
    line: np.ndarray
    entry: np.ndarray

    def __len__(self) -> int:
        return len(self.text)

    def where(self, mask: np.ndarray) -> Column:
        return Column(self.text.filter(pa.array(mask)), self.line[mask], self.entry[mask])

    def matches(self, pattern: str) -> np.ndarray:
        """Whether each value holds the RE2 pattern (bool)."""
        return matches(self.text, pattern)


def matches(text: pa.Array, pattern: str) -> np.ndarray:
    if not len(text):
        return np.zeros(0, bool)  # compiling a pattern costs more than a small file
    found: np.ndarray = pc.match_substring_regex(text, pattern).to_numpy(zero_copy_only=False)
    return found


def mask(array: pa.Array) -> np.ndarray:
    """A boolean Arrow array as a NumPy mask; null is false."""
    filled: np.ndarray = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return filled
