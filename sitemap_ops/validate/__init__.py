"""Read any sitemap, index, text file or feed and say what is wrong with it, for the protocol and for named engines.

`validate` is the one entry: a path, a folder, `s3://` or `http(s)://` goes in, a `Validation` with bounded findings
comes out. `sitemap_ops.reading` fetches and parses; here `document` judges one stream of bytes, `walk` goes from an
index to what it lists, and `output` shows the result. Nothing a file holds raises: it becomes a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_ops import engines as engine_profiles
from sitemap_ops.errors import UsageError
from sitemap_ops.reading.record import Finding, safe
from sitemap_ops.rules import SEVERITY, Level
from sitemap_ops.validate.findings import Validation

if TYPE_CHECKING:
    import pyarrow as pa
    import urllib3

    from sitemap_ops.connections import Connections
    from sitemap_ops.reading.places import Place
    from sitemap_ops.storage import Store
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
    from sitemap_ops.reading.opening import place_of
    from sitemap_ops.reading.origins import origin_of
    from sitemap_ops.reading.places import Objects, Tree
    from sitemap_ops.validate.document import Known
    from sitemap_ops.validate.walk import Walk

    for name in engines:
        engine_profiles.profile(name)
    for address in [*hosts, *([base_url] if base_url else [])]:
        if origin_of(address) is None:
            raise UsageError(f"{address!r} is no absolute web address: write it as https://www.example.com/.")
    known = Known(
        now=now or datetime.now(UTC),
        engines=tuple(engines),
        hosts=[one for one in map(origin_of, hosts) if one is not None],
        origin=origin_of(base_url) if base_url else None,
        xsd=_schemas(xsd),
    )
    result = Validation(safe(str(location)) or "", tuple(engines))
    if store is not None:
        place: Place = Tree(Objects(store), str(location) or None, base_url)
    else:
        place = place_of(location, connections, base_url=base_url, hosts=known.hosts, pool=pool)
    walk = Walk(place, known, result, follow)
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
