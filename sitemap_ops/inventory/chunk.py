"""The unit in which sources hand over their rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import frame

CHUNK_ROWS = 131_072
"""Rows a chunk holds at most: one sorts within the processor's cache, and some hundred bytes a row stay small."""

REJECT_SCHEMA = pa.schema([("row", pa.int64()), ("value", pa.string()), ("reason", pa.string())])


def no_rejects() -> pd.DataFrame:
    return frame(REJECT_SCHEMA.empty_table())


@dataclass(frozen=True)
class Chunk:
    """Some consecutive rows of a source.

    rows: Arrow-backed columns under the source's own names; the index holds source row numbers, from 1. Text sources
        give strings only, never null for an empty field of CSV (it is ""); SQL and Parquet keep their types.
    rejects: rows that the reader itself refused: row (int64), value (string, cut), reason (string).
    """

    rows: pd.DataFrame
    rejects: pd.DataFrame = field(default_factory=no_rejects)
