"""A section's alternates, images, videos and news, by whatever keys of the site file name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

from sitemap_ops.entries.extension import Extension
from sitemap_ops.filesets import fragment_columns
from sitemap_ops.site import Section, Site
from sitemap_ops.urls import UrlPolicy

if TYPE_CHECKING:
    from sitemap_ops.entries.alternates import Alternates


def extensions_of(
    rows: pd.DataFrame, locs: pd.Series, section: Section, site: Site, policy: UrlPolicy, as_of: datetime
) -> Iterator[tuple[Extension, str]]:
    """Each extension that the section has and a file set reads, with the column that examples are shown from.

    rows: the section's columns. locs: the rows' canonical URLs, null where refused; the same index.
    """
    wanted = fragment_columns(site)
    if section.images is not None and {"images", "image_texts"} & set(wanted):
        from sitemap_ops.entries.images import parse_images

        images = parse_images(rows, section.images, policy, texts="image_texts" in wanted)
        yield images, _shown(section.images)
    if section.videos is not None and "videos" in wanted:
        from sitemap_ops.entries.videos import parse_videos

        zone, deprecated = section.lastmod_timezone, site.deprecated_tags
        videos = parse_videos(rows, section.videos, locs, policy, timezone=zone, deprecated=deprecated)
        yield videos, _shown(section.videos)
    if section.news is not None:
        from sitemap_ops.entries.news import parse_news

        news = parse_news(rows, section.news.model_dump(), timezone=section.lastmod_timezone, as_of=as_of)
        yield news, section.news.title


def alternates_of(
    rows: pd.DataFrame,
    locs: pd.Series,
    section: Section,
    site: Site,
    policy: UrlPolicy,
    *,
    accepted: pa.Array,
    instants: pd.Series,
) -> Alternates | None:
    """What the rows say of hreflang clusters; None where the section says nothing or no file set has links.

    accepted: bool, the rows that are entries. instants: their lastmod in seconds, null without one.
    """
    if section.alternates is None or "alternates" not in fragment_columns(site):
        return None
    from sitemap_ops.entries.alternates import parse_alternates

    return parse_alternates(rows, section.alternates, policy, locs, accepted=accepted, instants=instants)


def _shown(spec: str | Mapping[str, str]) -> str:
    return spec if isinstance(spec, str) else next(iter(spec.values()))
