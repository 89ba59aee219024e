"""Dot segments and trailing slashes of absolute URLs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.urls.octets import matches, replace_rows
from sitemap_ops.urls.policy import TrailingSlash

_DOT_SEGMENT = r"^[^?]*/\.\.?(?:[/?]|$)"
_LACKS_SLASH = r"^[^?]*[^/?](?:\?|$)"
_FILE = r"^[^?]*\.[A-Za-z][A-Za-z0-9]*(?:\?|$)"
_SPARE_SLASH = r"^[^/]*//[^/?]*/[^?]*/(?:\?|$)"
_BEFORE_SLASHES = r"^([^/]*//[^/]*(?:/|(?:/+[^/?]+)+))/+(\?.*)?$"


def remove_dot_segments(urls: pa.Array, among: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Absolute URLs without `.` and `..` segments (U-28; RFC 3986 section 5.2.4), and which of them had some (bool).

    among: the rows (bool) that hold a "." at all.
    """
    found = matches(urls, _DOT_SEGMENT, among)
    if found.any():
        resolved = [_resolve(url) for url in urls.filter(pa.array(found)).to_pylist()]
        urls = replace_rows(urls, found, pa.array(resolved, pa.string()))
    return urls, found


def _resolve(url: str) -> str:
    path, mark, query = url.partition("?")
    root = path.index("/", len("https://")) + 1
    segments = path[root:].split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return path[:root] + "/".join(kept) + mark + query


def apply_trailing_slash(urls: pa.Array, rule: TrailingSlash) -> tuple[pa.Array, np.ndarray]:
    """Absolute URLs with or without a slash at the end of the path, and which of them changed (bool).

    "add" leaves a path alone whose last segment has an extension (`/a.html`); "remove" takes every slash at the end but
    the root's, so that a second pass finds nothing to do.
    """
    if rule == "keep":
        return urls, np.zeros(len(urls), np.bool_)
    if rule == "add":
        found = matches(urls, _LACKS_SLASH) & ~matches(urls, _FILE)
        edit = r"^([^?]*)", r"\1/"
    else:
        found = matches(urls, _SPARE_SLASH)
        edit = _BEFORE_SLASHES, r"\1\2"
    if found.any():
        changed = pc.replace_substring_regex(urls.filter(pa.array(found)), *edit, max_replacements=1)
        urls = replace_rows(urls, found, changed)
    return urls, found
