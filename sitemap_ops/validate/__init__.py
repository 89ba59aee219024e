"""Read any sitemap, index, text file or feed and say what is wrong with it, for the protocol and for named engines.

`validate` is the one entry: a path, a folder, `s3://` or `http(s)://` goes in, a `Validation` with bounded findings
comes out. Below it, `reading` and `web` touch the world, `document` judges one stream of bytes, `walk` goes from an
index to what it lists; `output` shows the result. Nothing a file holds raises: it becomes a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sitemap_ops import engines as engine_profiles
from sitemap_ops.rules import SEVERITY, Level
from sitemap_ops.validate.findings import Finding, Validation, safe

if TYPE_CHECKING:
    import pyarrow as pa
    import urllib3

    from sitemap_ops.connections import Connections
    from sitemap_ops.storage import Store
    from sitemap_ops.validate.hosts import Origin
    from sitemap_ops.validate.reading import Place
    from sitemap_ops.validate.walk import Progress
    from sitemap_ops.validate.xsd import Schemas

__all__ = ["Finding", "Validation", "exceeds", "validate"]


def validate(
    location: str | Path,
    *,
    engines: Sequence[str] = (),
    connections: Connections | None = None,
    store: Store | None = None,
    now: datetime | None = None,
    base_url: str | None = None,
    hosts: Sequence[str] = (),
    follow: bool = True,
    xsd: Path | None = None,
    progress: Progress | None = None,
    pool: urllib3.PoolManager | None = None,
    listed: Callable[[pa.Array], None] | None = None,
) -> Validation:
    """Judge the sitemap at a location, and what it lists.

    location: a file, a folder, `s3://bucket/key-or-prefix`, `http(s)://...`; with `store`, a key of it ("" for all).
    engines: whose rules apply on top of the protocol's (`sitemap_ops.engines`). now: held against lastmods.
    base_url: where the folder of `location` (or the store's root) is served; without it the first URL listed tells
    the host, and rules of place are left out. hosts: further `scheme://host[:port]` that count as the site's (P-47).
    follow: open what an index lists. xsd: a folder with the published schemas (`all.xsd`), to be
    used in addition. progress: called with ("validate", files done, files known).
    pool: what makes connections to the web. listed: told every URL, in batches (string).

    Raises UsageError for an unknown engine or a location that is not there, TargetError where a store can't be reached.
    """
    from sitemap_ops.validate.document import Known
    from sitemap_ops.validate.hosts import origin_of
    from sitemap_ops.validate.walk import Walk

    for name in engines:
        engine_profiles.profile(name)
    known = Known(
        now=now or datetime.now(UTC),
        engines=tuple(engines),
        hosts=[one for one in map(origin_of, hosts) if one is not None],
        origin=origin_of(base_url) if base_url else None,
        xsd=_schemas(xsd),
    )
    result = Validation(safe(str(location)) or "", tuple(engines))
    walk = Walk(_place(location, connections, store, base_url, known.hosts, pool), known, result, follow)
    walk.listed = listed
    if progress is not None:
        walk.progress = progress
    return walk.run()


def exceeds(validation: Validation, fail_on: Level = "error") -> bool:
    """Whether the worst finding is of a level that should fail the caller."""
    return validation.worst is not None and SEVERITY[validation.worst] >= SEVERITY[fail_on]


def _schemas(folder: Path | None) -> Schemas | None:
    if folder is None:
        return None
    from sitemap_ops.validate.xsd import Schemas

    return Schemas(folder)


def _place(
    location: str | Path,
    connections: Connections | None,
    store: Store | None,
    base_url: str | None,
    hosts: Sequence[Origin],
    pool: urllib3.PoolManager | None,
) -> Place:
    from sitemap_ops.validate.reading import Folder, NothingThere, Objects, Tree

    if store is not None:
        return Tree(Objects(store), str(location) or None, base_url)
    parts = urlsplit(str(location))
    if parts.scheme in ("http", "https"):
        from sitemap_ops.validate.web import Web

        return Web(str(location), base_url, hosts, pool)
    if parts.scheme == "s3":
        return _bucket(str(location), connections, base_url)
    path = Path(str(location).removeprefix("file://"))
    if path.is_dir():
        return Tree(Folder(path), None, base_url)
    if not path.exists():
        raise NothingThere(f"There is no file or folder {str(path)!r}: name a path, an s3:// or an http(s):// address.")
    return Tree(Folder(path.parent), path.name, base_url)


def _bucket(location: str, connections: Connections | None, base_url: str | None) -> Place:
    """A key if there is an object of that name, else a prefix."""
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.storage import open_store
    from sitemap_ops.validate.reading import Objects, Tree

    connections = connections or EnvironmentConnections()
    folder, _, name = location.rstrip("/").rpartition("/")
    if not location.endswith("/") and folder not in ("s3:/", "s3:"):
        store = open_store(folder + "/", connections)
        if store.head(name) is not None:
            return Tree(Objects(store), name, base_url)
    return Tree(Objects(open_store(location.rstrip("/") + "/", connections)), None, base_url)
