"""The image extension (G-20 to G-23, Y-21): `<image:image>` for each picture of a page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import frame
from sitemap_ops.entries.extension import Extension, Notes, by_row, element, first_of_each, joined, place_in_row
from sitemap_ops.entries.items import Items, mapped_texts, read_column
from sitemap_ops.entries.media import media_urls, on_other_host
from sitemap_ops.entries.prose import clean_texts, cut_bytes, says_something
from sitemap_ops.entries.text import trimmed
from sitemap_ops.tags import IMAGE_TAGS, IMAGE_TEXTS
from sitemap_ops.urls import UrlPolicy

MAX_IMAGES = 1_000
"""Of one entry (G-21)."""
TEXT_BYTES = {"caption": 384, "geo_location": 256, "title": 384, "license": 256}
"""What Yandex reads of each text (Y-21)."""


def parse_images(rows: pd.DataFrame, spec: str | Mapping[str, str], policy: UrlPolicy, *, texts: bool) -> Extension:
    """The images of each row (C-32, C-40, C-42, C-43, C-45, C-85).

    Each image once, in the order they came, MAX_IMAGES at most. One whose URL the policy refuses is left out, whatever
    its host it is kept.

    :param spec: a column, of URLs or of objects with the names of IMAGE_TAGS (`items` has the forms); or for each of
        these tags a column: `loc` as before, the texts one for all of a row's images, or a list of one for each.
    :param policy: the site's own; see `media_urls` for what of it holds.
    :param texts: whether the column `image_texts` is wanted.
    :return: columns images (`loc` alone), image_texts (the same images with the texts that Google no longer reads;
        null throughout unless wanted).
    :raises KeyError: for a column that isn't there.
    """
    notes = Notes("image", len(rows))
    columns = {"loc": spec} if isinstance(spec, str) else dict(spec)
    items = read_column(rows[columns.pop("loc")], IMAGE_TAGS, "loc", notes)
    for tag, name in columns.items():
        items.values[tag] = pc.coalesce(items.text(tag), mapped_texts(rows[name], items))
    items = _with_urls(items, policy, notes)
    described = _described(items)
    notes.add_whole("deprecated-tag", items.row[described])
    loc = element("image:loc", items.text("loc"))
    images = by_row(_image(loc), items.row, len(rows))
    if not texts:
        image_texts = pa.nulls(len(rows), pa.string())
    elif not described.any():
        image_texts = images
    else:
        image_texts = by_row(_image(loc, *_texts(items, policy, notes)), items.row, len(rows))
    made = pa.table({"images": images, "image_texts": image_texts})
    return Extension(frame(made).set_axis(rows.index), notes.found())


def _described(items: Items) -> np.ndarray:
    """Which items (bool) have texts."""
    described = np.zeros(len(items), bool)
    for tag in (tag for tag in IMAGE_TEXTS if tag in items.values):
        described |= says_something(trimmed(items.text(tag)))
    return described


def _with_urls(items: Items, policy: UrlPolicy, notes: Notes) -> Items:
    """The items that have a URL, in its canonical form, each once in its row and no more than an entry may have."""
    urls = media_urls(items.text("loc"), policy)
    notes.add("loc", items.row[urls.refused])
    notes.add("normalised", items.row[urls.changed])
    items.values["loc"] = urls.locs
    found = ~pc.is_null(urls.locs).to_numpy(zero_copy_only=False)
    notes.add("loc-missing", items.row[~found & ~urls.refused])
    items = items.keep(found)
    first = first_of_each(items.row, items.values["loc"])
    notes.add("duplicate", items.row[~first])
    items = items.keep(first)
    fitting = place_in_row(items.row) < MAX_IMAGES
    notes.add_whole("too-many-images", items.row[~fitting])
    items = items.keep(fitting)
    notes.add("foreign-host", items.row[on_other_host(items.values["loc"], policy)])
    return items


def _texts(items: Items, policy: UrlPolicy, notes: Notes) -> list[pa.Array]:
    """The elements of the texts, in the schema's order (X-06)."""
    elements = []
    for tag in (tag for tag in IMAGE_TEXTS if tag in items.values):
        texts = clean_texts(items.text(tag), items.row, notes)
        if tag == "license":
            texts = _licenses(texts, items.row, policy, notes)
        else:
            texts, cut = cut_bytes(texts, TEXT_BYTES[tag])
            notes.add_whole("yandex-image-bytes", items.row[cut])
        elements.append(element(f"image:{tag}", texts))
    return elements


def _licenses(texts: pa.Array, row: np.ndarray, policy: UrlPolicy, notes: Notes) -> pa.Array:
    """URLs of licenses; half of one is none."""
    urls = media_urls(texts, policy)
    notes.add("license", row[urls.refused])
    too_long = pc.greater(pc.binary_length(urls.locs), TEXT_BYTES["license"]).fill_null(False)
    notes.add_whole("yandex-image-bytes", row[too_long.to_numpy(zero_copy_only=False)])
    return pc.if_else(too_long, pa.scalar(None, pa.string()), urls.locs)


def _image(*elements: pa.Array) -> pa.Array:
    return joined("<image:image>", *elements, "</image:image>")
