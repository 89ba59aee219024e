"""Which canonical URLs a site wants listed: its include and exclude patterns, and its robots.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from sitemap_ops.urls.globs import Encode, path_glob
from sitemap_ops.urls.octets import UNRESERVED, matches
from sitemap_ops.urls.policy import REGEX_PREFIX

if TYPE_CHECKING:
    from protego import Protego

ROBOT = "Googlebot"


class PathPatterns:
    """A list of globs and `re:` expressions over path and query; an expression is searched for in the encoded form.

    One RE2 expression where RE2 can do it; where it can't (look-around, back-references), Python's own.
    """

    def __init__(self, patterns: Sequence[str], encode: Encode) -> None:
        self._sources = [
            pattern.removeprefix(REGEX_PREFIX) if pattern.startswith(REGEX_PREFIX) else path_glob(pattern, encode)
            for pattern in patterns
        ]
        self._re2 = "|".join(f"(?:{source})" for source in self._sources)
        self._python: list[re.Pattern[str]] = []
        try:
            matches(pa.array([""]), self._re2)
        except pa.ArrowInvalid:
            self._python = [re.compile(source) for source in self._sources]

    def __bool__(self) -> bool:
        return bool(self._sources)

    def match(self, paths: pa.Array) -> np.ndarray:
        """Which paths, each with its query, one of the patterns matches (bool)."""
        if not self._python:
            return matches(paths, self._re2)
        coded = paths.dictionary_encode()
        found = [any(pattern.search(path) for pattern in self._python) for path in coded.dictionary.to_pylist()]
        rows: np.ndarray = np.array(found, np.bool_)[coded.indices.to_numpy()]
        return rows


class Robots:
    """What a robots.txt disallows Googlebot: the longest match of RFC 9309, by Protego.

    Protego judges one URL in some 20 µs. So it is asked only about the URLs that a line could disallow, read loosely;
    and about a line only where it does disallow Googlebot something, which a URL made for it shows: where that may be
    fetched, the line is another crawler's or a longer Allow undoes all of it. (Not so with a "$", which is read twice:
    as the end, and as itself.)
    """

    _LINE = re.compile(r"^[^\S\r\n]*(?!allow|user|site)[^#\r\n]*?[:\s](?=/|\*|https?:)([^#\r\n]*)", re.I | re.M)

    def __init__(self, text: str) -> None:
        from protego import Protego

        text = "\n".join(text.removeprefix("\ufeff").encode("utf-8", "replace").decode().splitlines())
        self._rules: Protego = Protego.parse(text)
        values = sorted({value.strip() for value in self._LINE.findall(text)})
        unlike = min(UNRESERVED.difference(unquote(text)), default=None)
        if unlike is not None:
            values = [value for value in values if "$" in value or not self._may_fetch(_example(value, unlike))]
        self._candidates = f"^(?:{'|'.join(map(_loose, values))})" if values else None

    def _may_fetch(self, url: str) -> bool:
        return bool(self._rules.can_fetch(url, ROBOT))

    def disallowed(self, locs: pa.Array, paths: pa.Array) -> np.ndarray:
        """Which locs, given with their paths and queries, are disallowed (bool)."""
        if self._candidates is None:
            return np.zeros(len(locs), np.bool_)
        found = matches(paths, self._candidates)
        found[found] = [not self._may_fetch(loc) for loc in locs.filter(pa.array(found)).to_pylist()]
        return found


def _example(value: str, unlike: str) -> str:
    """A URL that a line's pattern matches; `unlike` is a character of no pattern, so only wildcards can match it."""
    path = value.replace("*", unlike) + unlike
    return "https://any.example" + (path if path.startswith("/") else f"/{path}")


def _loose(value: str) -> str:
    """A regular expression for paths that a line's pattern may match, whichever way both spell their characters."""
    pattern = "" if value[0] in "/*" else "/"
    for part in re.findall(r"\*|\$|(?:%[0-9A-Fa-f]{2})+|[^%]|%", value):
        triplets = len(part) >= 3
        octets = bytes.fromhex(part.replace("%", "")) if triplets else part.encode()
        if part in ("$", "%") or b"\xef\xbf\xbd" in octets.decode("utf-8", "replace").encode():
            break
        pattern += ".*" if part == "*" else "".join(_either_spelling(chr(octet), triplets) for octet in octets)
    return pattern


def _either_spelling(char: str, is_triplet: bool) -> str:
    if char in UNRESERVED or (char == "/" and not is_triplet):
        return re.escape(char)
    triplet = f"%{ord(char):02X}"
    return triplet if char in "/%" or char > "\x7f" else f"(?:{re.escape(char)}|{triplet})"
