"""Joins and groups of sorted NumPy columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def column_of(table: pa.Table, name: str) -> np.ndarray:
    """A column without nulls as a NumPy array."""
    values: np.ndarray = table[name].to_numpy()
    return values


def look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which wanted keys there are (bool), and their values (anything for the others). `keys` ascending, each once."""
    if not len(keys):
        return np.zeros(len(wanted), bool), np.zeros(len(wanted), values.dtype)
    at = np.searchsorted(keys, wanted)
    at[at == len(keys)] = 0
    return keys[at] == wanted, values[at]


def changes(*columns: np.ndarray) -> np.ndarray:
    """Which rows (bool) differ from the one before in one of the columns; the first does."""
    new = np.ones(len(columns[0]), bool)
    if len(new):
        new[1:] = False
        for column in columns:
            new[1:] |= column[1:] != column[:-1]
    return new
