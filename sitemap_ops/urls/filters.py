"""Which canonical URLs a site wants listed: its include and exclude patterns, and its robots.txt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sitemap_ops.urls.globs import Encode, path_glob
from sitemap_ops.urls.octets import matches
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

    Protego judges one URL at a time. So it is asked only about the URLs that some line could disallow, read loosely:
    the part of its pattern before the first character that has more than one spelling, `*` being anything.
    """

    _LINE = re.compile(r"^[^\S\r\n]*(?!allow|user|site)[^#\r\n]*?[:\s](?=/|\*|https?:)([^#\r\n]*)", re.I | re.M)
    _UNAMBIGUOUS = re.compile(r"[A-Za-z0-9/._~*-]*")

    def __init__(self, text: str) -> None:
        from protego import Protego

        self._rules: Protego = Protego.parse(text)
        values = [value if value[0] in "/*" else f"/{value}" for value in self._LINE.findall(text)]
        loose = {re.escape(self._UNAMBIGUOUS.match(value)[0]).replace(r"\*", ".*") for value in values}  # type: ignore[index]
        self._candidates = f"^(?:{'|'.join(sorted(loose))})" if loose else None

    def disallowed(self, locs: pa.Array, paths: pa.Array) -> np.ndarray:
        """Which locs, given with their paths and queries, are disallowed (bool)."""
        if self._candidates is None:
            return np.zeros(len(locs), np.bool_)
        found = matches(paths, self._candidates)
        asked = locs.filter(pa.array(found)).to_pylist()
        found[found] = [not self._rules.can_fetch(loc, ROBOT) for loc in asked]
        return found
