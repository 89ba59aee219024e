"""The video extension (G-24 to G-32, C-81): `<video:video>` for each film on a page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import frame
from sitemap_ops.entries import video_values
from sitemap_ops.entries.extension import Extension, Notes, by_row, element, first_of_each, joined
from sitemap_ops.entries.items import Items, read_column
from sitemap_ops.entries.shapes import lists_as_text, numpy, plain_column
from sitemap_ops.entries.video_columns import VideoColumns
from sitemap_ops.tags import VIDEO_DEPRECATED, VIDEO_LOCATIONS, VIDEO_REQUIRED, VIDEO_TAGS
from sitemap_ops.urls import UrlPolicy

MAX_TITLE, MAX_DESCRIPTION, MAX_CATEGORY = 100, 2_048, 256
"""Characters (G-26); the title's and the category's are the schema's (X-06)."""

_URLS = ("thumbnail_loc", *VIDEO_LOCATIONS)


def parse_videos(
    rows: pd.DataFrame,
    spec: str | Mapping[str, str],
    locs: pd.Series,
    policy: UrlPolicy,
    *,
    timezone: str | None,
    deprecated: bool,
) -> Extension:
    """The videos of each row. One that lacks a required tag is left out; any other value that is no use costs its tag.

    :param spec: a column of objects with the names of VIDEO_TAGS (`items` has the forms); or for each of these tags a
        column, for one video a row: a row without any of the three URLs has none.
    :param locs: the rows' own canonical URLs, null where refused: no video is its page (G-25).
    :param policy: the site's own; see `media_urls` for what of it holds.
    :param timezone: the zone of times that name none, as for `parse_lastmod`.
    :param deprecated: whether VIDEO_DEPRECATED are written.
    :return: column videos.
    :raises KeyError: for a column that isn't there.
    """
    notes = Notes("video", len(rows))
    items = read_column(rows[spec], VIDEO_TAGS, None, notes) if isinstance(spec, str) else _mapped(rows, spec)
    notes.add_whole("deprecated-tag", items.row[items.given(VIDEO_DEPRECATED)])
    items = _complete(VideoColumns(items, locs, policy, timezone, notes))
    elements = _elements(VideoColumns(items, locs, policy, timezone, notes), deprecated=deprecated)
    videos = joined("<video:video>", *elements, "</video:video>")
    first = first_of_each(items.row, videos)
    notes.add("duplicate", items.row[~first])
    made = by_row(videos.filter(pa.array(first)), items.row[first], len(rows))
    return Extension(frame(pa.table({"videos": made})).set_axis(rows.index), notes.found())


def _mapped(rows: pd.DataFrame, spec: Mapping[str, str]) -> Items:
    columns = {tag: lists_as_text(plain_column(rows[name])) for tag, name in spec.items()}
    items = Items(np.arange(len(rows)), np.zeros(len(rows), np.int64), columns)
    return items.keep(items.given(_URLS))


def _complete(columns: VideoColumns) -> Items:
    """The items that have all required tags, these as they are written (G-24 to G-26)."""
    required = {tag: columns.url(tag) for tag in _URLS}
    for tag in VIDEO_LOCATIONS:
        required[tag] = columns.apart_from_page(required[tag])
    required["title"] = columns.prose("title", MAX_TITLE, "title-over-100")
    required["description"] = columns.prose("description", MAX_DESCRIPTION, "description-too-long")
    has = {tag: numpy(array.is_valid()) for tag, array in required.items()}
    complete = np.logical_and.reduce([has[tag] for tag in VIDEO_REQUIRED])
    complete &= np.logical_or.reduce([has[tag] for tag in VIDEO_LOCATIONS])
    items = columns.items
    columns.notes.add("missing-tag", items.row[~complete])
    return Items(items.row, items.rank, items.values | required).keep(complete)


def _elements(columns: VideoColumns, *, deprecated: bool) -> list[pa.Array]:
    """The elements of complete items, in the schema's order (X-06)."""
    ready = columns.items.values
    old = deprecated and any(tag in ready for tag in VIDEO_DEPRECATED)
    return [
        *(element(f"video:{tag}", ready[tag]) for tag in (*VIDEO_REQUIRED, *VIDEO_LOCATIONS)),
        element("video:duration", columns.judged("duration", video_values.duration, "duration")),
        element("video:expiration_date", columns.date("expiration_date")),
        element("video:rating", columns.judged("rating", video_values.rating, "rating")),
        element("video:view_count", columns.judged("view_count", video_values.view_count, "view-count")),
        element("video:publication_date", columns.date("publication_date")),
        columns.keywords(),
        *([element("video:category", columns.prose("category", MAX_CATEGORY, "category-over-256"))] if old else []),
        element("video:family_friendly", columns.judged("family_friendly", video_values.flag, "flag")),
        columns.relation("restriction", video_values.countries),
        *([element("video:gallery_loc", columns.url("gallery_loc")), columns.price()] if old else []),
        element("video:requires_subscription", columns.judged("requires_subscription", video_values.flag, "flag")),
        columns.uploader(),
        columns.relation("platform", video_values.platforms),
        element("video:live", columns.judged("live", video_values.flag, "flag")),
    ]
