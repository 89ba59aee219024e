"""What a publish will do, file by file, before it does anything.

Two questions that are easily mixed: what a file is to the release before (`action`), and whether the target has to get
it (`put`). A file can be unchanged and still have to be put, because the target lost it or kept headers of an older
version (C-3); and a changed one may be there already, since a run that was cut off had put it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.headers import headers_of, same_headers
from sitemap_ops.release.manifest import Manifest, ShardRecord
from sitemap_ops.storage import Store

Action = Literal["added", "changed", "unchanged", "removed"]
Put = Literal["create", "replace"]

CONCURRENT_REQUESTS = 8


@dataclass(frozen=True)
class RenderedShard:
    """One sitemap file as the sharding made it. Sizes are bytes before and after gzip, `sha256` is before gzip.

    first_loc, last_loc: of its entries, in the order of the section; empty where that is not known. They tell which
    shard gains URLs from which, and so which has to be put first.
    """

    key: str
    set: str
    section: str
    entries: int
    xml_bytes: int
    gzip_bytes: int
    sha256: str
    first_loc: str = ""
    last_loc: str = ""


@dataclass(frozen=True)
class PlannedShard:
    """One file's fate; `etag` is that of the object in the target which a put replaces."""

    key: str
    set: str
    section: str
    action: Action
    put: Put | None
    entries: int
    xml_bytes: int
    gzip_bytes: int
    sha256: str
    etag: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Plan:
    """All files of the release in the order of the index, then those that leave it (action `removed`)."""

    shards: tuple[PlannedShard, ...]

    def count(self, action: Action) -> int:
        return sum(shard.action == action for shard in self.shards)

    def to_put(self, put: Put) -> list[PlannedShard]:
        return [shard for shard in self.shards if shard.put == put]

    @property
    def upload_bytes(self) -> int:
        """Bytes, compressed, that the target has to get."""
        return sum(shard.gzip_bytes for shard in self.shards if shard.put)


def make_plan(shards: Sequence[RenderedShard], previous: Manifest | None, target: Store) -> Plan:
    """Compare a release with the one before and with what the target really holds, by digest and headers (C-15).

    Asks the target about every file; writes nothing. Raises TargetError where the target can't be asked.
    """
    known = {shard.key: shard for shard in previous.shards} if previous else {}

    def planned(shard: RenderedShard) -> PlannedShard:
        before = known.get(shard.key)
        action: Action = "added" if before is None else "unchanged" if before.sha256 == shard.sha256 else "changed"
        put, etag = _put(shard, target)
        return PlannedShard(
            shard.key,
            shard.set,
            shard.section,
            action,
            put,
            shard.entries,
            shard.xml_bytes,
            shard.gzip_bytes,
            shard.sha256,
            etag,
        )

    def removed(gone: ShardRecord) -> PlannedShard:
        sizes = gone.entries, gone.xml_bytes, gone.gzip_bytes
        return PlannedShard(gone.key, gone.set, gone.section, "removed", None, *sizes, gone.sha256)

    listed = {shard.key for shard in shards}
    kept = ordered_map(planned, shards, workers=CONCURRENT_REQUESTS)
    return Plan((*kept, *(removed(shard) for shard in known.values() if shard.key not in listed)))


def _put(shard: RenderedShard, target: Store) -> tuple[Put | None, str | None]:
    found = target.head(shard.key)
    if found is None:
        return "create", None
    right = found.sha256 == shard.sha256 and same_headers(found.headers, headers_of(shard.key, shard.sha256))
    return (None if right else "replace"), found.etag
