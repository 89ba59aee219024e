"""Elements as the columns of an inventory: one row an entry, its values as they came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.dialects import extensions
from sitemap_ops.dialects.extensions import WHITE, extension_columns, json_column
from sitemap_ops.reading.elements import Elements

PROTOCOL = ("loc", "lastmod", "changefreq", "priority")
COLUMNS = (*PROTOCOL, *extensions.COLUMNS, "alternates")
"""All text. alternates: a JSON object, hreflang -> URL; what extensions look like is told beside their names."""

SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])
FEED_DATES = ("updated", "pubdate", "modified", "date", "published")
"""Of Atom, RSS, Dublin Core and Atom again: the first that an entry has, in this order."""

_ESCAPED = r"&(?:amp|lt|gt|quot|apos|#38|#x26|#39|#x27);"
_ESCAPES = (
    (r"&(?:(?:amp|#38|#x26);)+", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&(?:apos|#39|#x27);", "'"),
)


def page_rows(batch: Elements, repairs: Counter[str]) -> tuple[pa.RecordBatch, list[str]]:
    """The `<url>` entries, and the locs of the `<sitemap>` entries.

    repairs: counts `loc-duplicate-tag`, `duplicate-tag` (P-03), `double-entity-escape` (P-22), `hreflang-duplicate`.
    """
    values = {name: _first(batch, name, repairs) for name in PROTOCOL}
    values["loc"] = unescaped(values["loc"], repairs)
    values |= extension_columns(batch, lambda urls: unescaped(urls, repairs), repairs)
    values["alternates"] = _alternates(batch, repairs)
    listed = values["loc"].filter(pa.array(_is_entry(batch, "sitemap"))).to_pylist()
    rows = _batch(values, batch.entries).filter(pa.array(_is_entry(batch, "url")))
    return rows, [loc for loc in listed if loc]


def feed_rows(batch: Elements, repairs: Counter[str]) -> pa.RecordBatch:
    """The items of an RSS feed or the entries of an Atom feed (P-50); repairs: counts `guid-as-link` too."""
    links = _feed_links(batch, repairs)
    dates = pc.coalesce(*(_first(batch, name, Counter()) for name in FEED_DATES))
    rows = _batch({"loc": unescaped(links, repairs), "lastmod": dates}, batch.entries)
    return rows.filter(pa.array(_is_entry(batch, "item") | _is_entry(batch, "entry")))


def text_rows(lines: pa.Array, repairs: Counter[str]) -> pa.RecordBatch:
    """Lines that are one URL each."""
    return _batch({"loc": unescaped(lines, repairs)}, len(lines))


def unescaped(texts: pa.Array, repairs: Counter[str]) -> pa.Array:
    """URLs without the entities that a second escaping left in them, however often it was done (P-22)."""
    hit = pc.fill_null(pc.match_substring_regex(texts, _ESCAPED), False)
    if not hit.true_count:
        return texts
    repairs["double-entity-escape"] += hit.true_count
    plain = texts.filter(hit)
    for pattern, character in _ESCAPES:
        plain = pc.replace_substring_regex(plain, pattern, character)
    return pc.replace_with_mask(texts, hit, plain)


def _batch(values: Mapping[str, pa.Array], length: int) -> pa.RecordBatch:
    nothing = pa.nulls(length, pa.string())
    return pa.RecordBatch.from_arrays([values.get(name, nothing) for name in COLUMNS], schema=SCHEMA)


def _local(name: str) -> str:
    """A tag's name in lower case, without a namespace that is not known; an extension's keeps its prefix."""
    return name.rpartition("}")[2].lower()


def _rows(batch: Elements, depth: int, names: Sequence[str]) -> np.ndarray:
    codes = [code for code, name in enumerate(batch.names) if _local(name) in names]
    rows: np.ndarray = (np.isin(batch.tag, codes) & (batch.depth == depth) & (batch.entry >= 0)).nonzero()[0]
    return rows


def _is_entry(batch: Elements, name: str) -> np.ndarray:
    """Which entries (bool) are of this tag."""
    is_one = np.zeros(batch.entries, bool)
    is_one[batch.entry[_rows(batch, batch.entry_depth, [name])]] = True
    return is_one


def _first(batch: Elements, name: str, repairs: Counter[str]) -> pa.Array:
    """The trimmed text of each entry's first child of a name, null where it has none."""
    rows = _rows(batch, batch.entry_depth + 1, [name])
    entries, first = np.unique(batch.entry[rows], return_index=True)
    repairs["loc-duplicate-tag" if name == "loc" else "duplicate-tag"] += len(rows) - len(entries)
    at = np.full(batch.entries, -1)
    at[entries] = rows[first]
    return pc.utf8_trim(batch.text.take(pa.array(at, mask=at < 0)), WHITE)


def _alternates(batch: Elements, repairs: Counter[str]) -> pa.Array:
    rows = [row for row in _rows(batch, 3, ["xhtml:link", "link"]).tolist() if row in batch.attributes]
    codes = [batch.attributes[row].get("hreflang", "").strip() for row in rows]
    links = [batch.attributes[row].get("href", "").strip() for row in rows]
    found: dict[int, dict[str, str]] = {}
    urls = unescaped(pa.array(links, pa.string()), repairs).to_pylist()
    for entry, code, url in zip(batch.entry[rows].tolist(), codes, urls, strict=True):
        if code and url:
            repairs["hreflang-duplicate"] += code in found.setdefault(entry, {})
            found[entry].setdefault(code, url)
    return json_column(found, batch.entries)


def _feed_links(batch: Elements, repairs: Counter[str]) -> pa.Array:
    """Each entry's link: as text (RSS), as `href` of the alternate (Atom), else a guid that is one (RSS)."""
    links: list[str | None] = [None] * batch.entries
    for name in ("link", "guid"):
        rows = _rows(batch, batch.entry_depth + 1, [name])
        texts = batch.text.take(pa.array(rows, pa.int64())).to_pylist()
        for row, entry, text in zip(rows.tolist(), batch.entry[rows].tolist(), texts, strict=True):
            attributes = batch.attributes.get(row, {})
            url = (attributes.get("href") or text).strip()
            if links[entry] is None and url and _is_page(name, url, attributes):
                links[entry] = url
                repairs["guid-as-link"] += name == "guid"
    return pa.array(links, pa.string())


def _is_page(name: str, url: str, attributes: Mapping[str, str]) -> bool:
    if name == "guid":
        return attributes.get("isPermaLink") != "false" and url.startswith(("http://", "https://"))
    return attributes.get("rel", "alternate") == "alternate"
