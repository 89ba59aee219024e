"""Entries as sitemap XML (protocol 0.9), for whole columns at once.

The namespaces are constants (P-02, C-48), the children's order is the schema's (P-18), every value is escaped (P-21).
A shard is a header, its entries' bytes one after the other, FOOTER: no parser and no tree takes part. Extensions come
as ready fragments of XML; a header declares the namespaces of those that the file has, and no others (C-49).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, text_buffers
from sitemap_ops.render.escape import escape_column, unescape

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
FOOTER = b"</urlset>\n"

EXTENSIONS = {"alternates": "xhtml", "images": "image", "image_texts": "image", "videos": "video", "news": "news"}
"""The columns that hold fragments of XML, in the order of rendering, and the prefix that each one's elements have."""

NAMESPACES = {
    "xhtml": "http://www.w3.org/1999/xhtml",
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
}
_SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMAS = {
    "xhtml": "http://www.w3.org/2002/08/xhtml/xhtml1-strict.xsd",
    "image": "http://www.google.com/schemas/sitemap-image/1.1/sitemap-image.xsd",
    "video": "http://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd",
    "news": "http://www.google.com/schemas/sitemap-news/0.9/sitemap-news.xsd",
}


def header(prefixes: Collection[str] = (), *, schema_location: bool = False) -> bytes:
    """What stands before the entries. prefixes: of the extensions that the file has (keys of NAMESPACES).

    schema_location: name the published schemas too, for validators that look for them there (P-56).
    """
    used = [prefix for prefix in NAMESPACES if prefix in prefixes]
    declared = "".join(f' xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in used)
    pairs = [(NAMESPACES[prefix], _SCHEMAS[prefix]) for prefix in used]
    located = schema_location_of("sitemap", pairs) if schema_location else ""
    return DECLARATION + f'<urlset xmlns="{NAMESPACE}"{declared}{located}>\n'.encode()


def schema_location_of(schema: str, pairs: Sequence[tuple[str, str]] = ()) -> str:
    """The attributes that name the schema of a document and of its extensions (P-56, P-57)."""
    named = [(NAMESPACE, f"{NAMESPACE}/{schema}.xsd"), *pairs]
    value = " ".join(f"{namespace} {place}" for namespace, place in named)
    return f' xmlns:xsi="{_SCHEMA_INSTANCE}" xsi:schemaLocation="{value}"'


def prefixes_in(rendered: bytes) -> set[str]:
    """The extensions that rendered entries have; values are escaped, so that `<image:` is only ever a tag."""
    return {prefix for prefix in NAMESPACES if f"<{prefix}:".encode() in rendered}


def loc_of(rendered: bytes) -> str:
    """The loc of one entry as `render_entries` or `render_lines` made it."""
    start, _, rest = rendered.partition(b"<loc>")
    return unescape((rest.partition(b"</loc>")[0] if rest else start.strip()).decode())


HEADER = header()


def render_entries(entries: pd.DataFrame, extensions: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Each entry's `<url>` element: offsets (int64, len + 1) into the UTF-8 bytes (uint8) of all of them.

    entries: loc (string), and lastmod, changefreq, priority (string, null where there is none). extensions: columns
    of ready fragments (string, null where there is none) that follow, keys of EXTENSIONS.
    """
    text = pa.large_string()
    lastmod = arrow(entries["lastmod"])
    dated = lastmod.is_valid()
    children = [_elements(tag, arrow(entries[tag])) for tag in ("changefreq", "priority")]
    rendered = pc.binary_join_element_wise(
        pa.scalar("<url><loc>", text),
        escape_column(arrow(entries["loc"])).cast(text),
        _combined([_where(dated, "</loc><lastmod>", "</loc>")]),
        lastmod.cast(text),
        _combined([_where(dated, "</lastmod>", ""), *children]),
        *(arrow(entries[name]).cast(text) for name in extensions),
        pa.scalar("</url>\n", text),
        pa.scalar("", text),
        null_handling="replace",
        null_replacement="",
    )
    return text_buffers(rendered)


def _elements(tag: str, values: pa.Array) -> pa.DictionaryArray:
    """`<tag>value</tag>` for a column of few different values; they are words and numbers: nothing to escape."""
    encoded = values.dictionary_encode()
    elements = pa.array([f"<{tag}>{value}</{tag}>" for value in encoded.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices, elements)


def _where(condition: pa.Array, yes: str, no: str) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(condition.cast(pa.int8()), pa.array([no, yes]))


def _combined(columns: Sequence[pa.DictionaryArray]) -> pa.Array:
    """Row by row the columns' texts, one after the other; each combination is made once. A null is empty."""
    texts, codes = [""], np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = [*column.dictionary.to_pylist(), ""]
        codes = codes * len(values) + column.indices.fill_null(len(values) - 1).to_numpy()
        texts = [text + value for text in texts for value in values]
    return pa.array(texts, pa.large_string()).take(pa.array(codes))
