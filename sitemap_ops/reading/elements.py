"""XML as columns: one row an element. What both readers, `sax` and `blocks`, make, and every rule takes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from sitemap_ops.reading.column import Column, take
from sitemap_ops.reading.stop import Stop

NS_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
NAMESPACES = {
    NS_SITEMAP: "",
    "http://www.google.com/schemas/sitemap-image/1.1": "image:",
    "http://www.google.com/schemas/sitemap-video/1.1": "video:",
    "http://www.google.com/schemas/sitemap-news/0.9": "news:",
    "http://www.w3.org/1999/xhtml": "xhtml:",
}
EXTENSIONS = tuple(prefix for prefix in NAMESPACES.values() if prefix)
USUAL_TAGS = {
    *("url", "sitemap", "loc", "lastmod", "changefreq", "priority", "image", "caption", "video", "news", "link"),
    *("item", "entry", "title", "description", "guid", "pubDate", "id", "updated", "published", "category", "content"),
}
XSI = "http://www.w3.org/2001/XMLSchema-instance"


@dataclass(frozen=True)
class Root:
    """The root element.

    name: local. attributes: "namespace name" or "name" as keys. prefixes: of the namespaces it declares.
    """

    name: str
    namespace: str
    attributes: dict[str, str]
    line: int
    prefixes: dict[str, str]

    def declares(self, extension: str) -> bool:
        """Whether it declares the namespace of "image:", "video:", "news:" or "xhtml:"."""
        return any(NAMESPACES.get(uri) == extension for uri in self.prefixes.values())


MAX_NAMES = 10_000
"""Different tags of a file: the protocol and its extensions have sixty."""
MAX_NAME_CHARS = 1_000


class Names(dict[str, int]):
    """A tag's name as expat gives it ("namespace local") -> the code of our own name for it; made when first seen.

    Raises Stop `too-big-item` for a name, or a number of names, that no sitemap has.
    """

    def __init__(self) -> None:
        super().__init__()
        self.root_namespace = NS_SITEMAP
        self.list: list[str] = []
        self._codes: dict[str, int] = {}

    def __missing__(self, key: str) -> int:
        namespace, _, local = key.rpartition(" ")
        if len(key) > MAX_NAME_CHARS:
            raise Stop("too-big-item", message="A tag's name or namespace is longer than any sitemap needs.")
        if len(self) >= MAX_NAMES:
            raise Stop("too-big-item", message=f"There are more than {MAX_NAMES:,} different tags.")
        known = "" if namespace == self.root_namespace else NAMESPACES.get(namespace)
        name = f"{{{namespace}}}{local}" if known is None else known + local
        if name not in self._codes:
            self._codes[name] = len(self.list)
            self.list.append(name)
        self[key] = code = self._codes[name]
        return code


@dataclass(frozen=True)
class Elements:
    """Whole entries, in document order, one row an element below the root.

    names: our name of each tag code: "loc", "image:loc", and "{namespace}name" where the namespace is not known.
    tag: int32, into `names`. depth: int16, the root's children are 2. line: int64. text: string, of elements without
    children, else "". stray: bool, there is other text than white space beside children. attributes: by row, where
    there are any; names as expat gives them. entry_depth: the depth of entries: 2, in RSS 3.
    """

    names: list[str]
    tag: np.ndarray
    depth: np.ndarray
    line: np.ndarray
    text: pa.Array
    stray: np.ndarray
    attributes: dict[int, dict[str, str]]
    entry_depth: int = 2
    entry: np.ndarray = field(init=False)
    """int64, which entry each row belongs to; -1 before the first."""
    entries: int = field(init=False)
    _values: dict[str, Column] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        starts = self.depth == self.entry_depth
        object.__setattr__(self, "entry", np.cumsum(starts) - 1)
        object.__setattr__(self, "entries", int(starts.sum()))

    @property
    def foreign(self) -> int:
        """How many rows are none of a sitemap's or a feed's, whatever their namespace."""
        strange = [name.rpartition("}")[2] not in USUAL_TAGS and not name.startswith(EXTENSIONS) for name in self.names]
        return int(np.array(strange, bool)[self.tag].sum()) if len(self.tag) else 0

    def code(self, name: str) -> int:
        """A tag's code, -1 where it does not occur."""
        return self.names.index(name) if name in self.names else -1

    def rows(self, name: str, depth: int = 3) -> np.ndarray:
        """The rows of a tag at a depth."""
        code = self.code(name)
        return ((self.tag == code) & (self.depth == depth)).nonzero()[0] if code >= 0 else np.zeros(0, np.int64)

    def values(self, name: str) -> Column:
        """The values of a tag of the entries themselves; made once."""
        if name not in self._values:
            self._values[name] = self.column(self.rows(name))
        return self._values[name]

    def column(self, rows: np.ndarray) -> Column:
        return Column(take(self.text, rows), self.line[rows], self.entry[rows])

    def owner(self, rows: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """For each row the position in `owners` (ascending rows) of the last one before it: of the element it is in."""
        return np.searchsorted(owners, rows, side="right") - 1
