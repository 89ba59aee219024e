"""Query parameters that a site file names are dropped from the text of the query, nothing else is touched (U-40, U-41).

The query is never parsed into pairs and written anew: the other parameters keep their order, spelling and emptiness.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.urls.globs import Encode, name_glob


class ParamDropper:
    """The compiled form of `drop_params`: names, or globs with `*`, case-sensitive."""

    def __init__(self, names: Iterable[str], encode: Encode) -> None:
        named = "|".join(name_glob(name, encode) for name in names)
        parameter = rf"(?:{named})(?:=[^&]*)?"
        self.pattern = rf"^[^?]*\?(?:[^&]*&)*(?:{named})(?:[=&]|$)"
        """Finds the URLs that have such a parameter."""
        self._at_end = rf"(?:^|&)(?:{parameter}&)*{parameter}$"
        self._inside = rf"(^|&)(?:{parameter}&)+"

    def drop(self, urls: pa.Array) -> pa.Array:
        """URLs that match `pattern`, without the parameters; a "?" left alone goes too."""
        halves = pc.split_pattern(urls, "?", max_splits=1)
        query = pc.replace_substring_regex(pc.list_element(halves, 1), self._at_end, "")
        query = pc.replace_substring_regex(query, self._inside, r"\1")
        mark = pc.if_else(pc.equal(query, ""), "", "?")
        return pc.binary_join_element_wise(pc.list_element(halves, 0), mark, query, "")
