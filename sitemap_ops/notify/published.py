"""What every channel is given: what was published, and what it may use to tell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sitemap_ops.connections import Connections
from sitemap_ops.site import Site
from sitemap_ops.storage import Store


@dataclass(frozen=True)
class Published:
    """indexes: the URLs of all public indexes. changed: the URLs that the release added, changed or removed.

    entries: how many URLs the site has; None where nobody counted.
    """

    site: Site
    indexes: Sequence[str]
    changed: Callable[[], Iterator[str]]
    connections: Connections
    target: Store
    state: Store
    entries: int | None = None
