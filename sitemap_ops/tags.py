"""The tags of Google's extensions, by the names that site files, JSON values and imported inventories give them.

Light, so that site files can be checked without pandas. An attribute has its tag's name before it: `uploader_info`.
"""

from __future__ import annotations

import re

from sitemap_ops.languages import LANGUAGES

IMAGE_TEXTS = ("caption", "geo_location", "title", "license")
"""What Google stopped reading on 2022-08-06 (G-23) and Yandex reads (Y-21), in the schema's order."""
IMAGE_TAGS = ("loc", *IMAGE_TEXTS)

VIDEO_REQUIRED = ("thumbnail_loc", "title", "description")
VIDEO_LOCATIONS = ("content_loc", "player_loc")
"""One of them at least (G-24)."""
VIDEO_DEPRECATED = ("category", "gallery_loc", "price", "price_currency")
"""What Google stopped reading on 2022-08-06 (G-31); the rest that it dropped then is never written."""
VIDEO_TAGS = (
    *VIDEO_REQUIRED,
    *VIDEO_LOCATIONS,
    "duration",
    "expiration_date",
    "rating",
    "view_count",
    "publication_date",
    "tag",
    "family_friendly",
    "restriction",
    "restriction_relationship",
    "requires_subscription",
    "uploader",
    "uploader_info",
    "platform",
    "platform_relationship",
    "live",
    *VIDEO_DEPRECATED,
)

CLUSTER, LANGUAGE = "cluster", "language"
"""The keys of alternates that name a row's cluster and its own language; no hreflang code is like them."""

_COLUMN = re.compile(r"\{([^{}]+)\}")
_LANGUAGE = re.compile(r"(?P<code>[a-z]{2,3})(?P<rest>(?:-[a-z0-9]{1,8})*)")


def news_column(text: str) -> str | None:
    """The column that a news section's `name` or `language` names in braces; None where it is the value itself."""
    match = _COLUMN.fullmatch(text)
    return match[1] if match else None


def news_language(text: str) -> str | None:
    """The code that Google News takes for a language (G-44): of `en-US` the language alone, of Chinese the script too.

    None where there is none. Codes of three letters are not looked up.
    """
    match = _LANGUAGE.fullmatch(text.lower().replace("_", "-"))
    if match is None or (len(match["code"]) == 2 and match["code"] not in LANGUAGES):
        return None
    parts = set(match["rest"].split("-"))
    if match["code"] == "zh" and parts & {"cn", "hans", "tw", "hant"}:
        return "zh-tw" if parts & {"tw", "hant"} else "zh-cn"
    return match["code"]
