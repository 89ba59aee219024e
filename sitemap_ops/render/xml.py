"""Entries as sitemap XML (protocol 0.9), for whole columns at once.

The namespaces are constants (P-02, C-48), the children's order is the schema's (P-18), every value is escaped (P-21).
A shard is HEADER, its entries' bytes one after the other, FOOTER: no parser and no tree takes part.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, text_buffers
from sitemap_ops.render.escape import escape_column

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
HEADER = DECLARATION + f'<urlset xmlns="{NAMESPACE}">\n'.encode()
FOOTER = b"</urlset>\n"


def render_entries(entries: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Each entry's `<url>` element: offsets (int64, len + 1) into the UTF-8 bytes (uint8) of all of them.

    entries: loc (string), and lastmod, changefreq, priority (string, null where there is none).
    """
    rendered = pc.binary_join_element_wise(
        pa.scalar("<url><loc>", pa.large_string()),
        escape_column(arrow(entries["loc"])).cast(pa.large_string()),
        pa.scalar("</loc>", pa.large_string()),
        _element("lastmod", arrow(entries["lastmod"])),
        _few_values("changefreq", arrow(entries["changefreq"])),
        _few_values("priority", arrow(entries["priority"])),
        pa.scalar("</url>\n", pa.large_string()),
        pa.scalar("", pa.large_string()),
        null_handling="replace",
        null_replacement="",
    )
    return text_buffers(rendered)


def _element(tag: str, values: pa.Array) -> pa.Array:
    """`<tag>value</tag>`, null where the value is null; the values are dates, words and numbers: nothing to escape."""
    text = pa.large_string()
    start, end, separator = pa.scalar(f"<{tag}>", text), pa.scalar(f"</{tag}>", text), pa.scalar("", text)
    return pc.binary_join_element_wise(start, values.cast(text), end, separator)


def _few_values(tag: str, values: pa.Array) -> pa.Array:
    """The same for a column of few different values: each is rendered once."""
    encoded = values.dictionary_encode()
    return _element(tag, encoded.dictionary).take(encoded.indices)
