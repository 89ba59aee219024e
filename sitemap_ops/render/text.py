"""Entries as a text sitemap: one URL a line, UTF-8, no byte order mark, nothing else (P-49, Y-01)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, text_buffers


def render_lines(entries: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Each entry's line: offsets (int64, len + 1) into the bytes (uint8) of all of them. entries: loc (string)."""
    text = pa.large_string()
    lines = pc.binary_join_element_wise(arrow(entries["loc"]).cast(text), pa.scalar("\n", text), pa.scalar("", text))
    return text_buffers(lines)
