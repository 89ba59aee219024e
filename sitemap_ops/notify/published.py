"""What every channel is given: what was published, and what it may use to tell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sitemap_ops.connections import Connections
from sitemap_ops.site import Site
from sitemap_ops.storage import Store


@dataclass(frozen=True)
class Published:
    """indexes: the URLs of all public indexes. changed: the URLs that the release added, changed or removed.

    sets: the file set of an index by its URL, where that is known. entries: how many URLs the site has, None where
    nobody counted.
    """

    site: Site
    indexes: Sequence[str]
    changed: Callable[[], Iterator[str]]
    connections: Connections
    target: Store
    state: Store
    sets: Mapping[str, str] = field(default_factory=dict)
    entries: int | None = None

    def indexes_for(self, engine: str) -> list[str]:
        """Those that an engine is to read: its own set's in place of the main one's, and no other engine's."""
        own = [url for url in self.indexes if self.sets.get(url) == engine]
        strangers = {str(each.engine) for each in self.site.engine_sets} - {engine}
        if own:
            strangers |= {"main", "txt"}
        elif "main" in self.sets.values():
            strangers.add("txt")
        return [url for url in self.indexes if self.sets.get(url) not in strangers]
