"""What a publish will do, file by file, before it does anything.

Two questions that are easily mixed: what a file is to the release before (`action`), and whether the target has to get
it (`put`). A file can be unchanged and still have to be put, because the target lost it or kept headers of an older
version (C-3); and a changed one may be there already, since a run that was cut off had put it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sitemap_ops.errors import OutputError, TargetError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.headers import check_body, headers_of, same_headers
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.storage import Store, Stored

Action = Literal["added", "changed", "unchanged", "removed"]
Put = Literal["create", "replace"]

CONCURRENT_REQUESTS = 8


@dataclass(frozen=True)
class RenderedShard:
    """One sitemap file as the sharding made it. Sizes are bytes before gzip and as it is put, `sha256` is before gzip,
    `body_sha256` of the file as it is put.

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
    body_sha256: str
    first_loc: str = ""
    last_loc: str = ""

    def record(self, lastmod: str | None) -> ShardRecord:
        """What a manifest keeps of it. The digest of the bytes is this run's alone: codecs differ, content does not."""
        kept = {name: value for name, value in vars(self).items() if name != "body_sha256"}
        return ShardRecord(**kept, lastmod=lastmod)


@dataclass(frozen=True)
class PlannedShard:
    """One file's fate. put: "create" may be done by any run, for nothing lists what is made; "replace" by the owner of
    the live release alone. `etag` is that of the object in the target which a put replaces, None where there is none.
    """

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
    def repaired(self) -> list[str]:
        """Files that should have been right: the target had lost or altered them."""
        return [shard.key for shard in self.shards if shard.put and shard.action == "unchanged"]

    @property
    def upload_bytes(self) -> int:
        """Bytes, compressed, that the target has to get."""
        return sum(shard.gzip_bytes for shard in self.shards if shard.put)


def make_plan(shards: Sequence[RenderedShard | ShardRecord], previous: Sequence[ShardRecord], target: Store) -> Plan:
    """Compare a release with the one before and with what the target really holds, by digest and headers (C-15).

    Asks the target about every file; writes nothing. Raises TargetError where the target can't be asked.
    """
    known = {shard.key: shard for shard in previous}

    def planned(shard: RenderedShard | ShardRecord) -> PlannedShard:
        before = known.get(shard.key)
        action: Action = "added" if before is None else "unchanged" if before.sha256 == shard.sha256 else "changed"
        found = target.head(shard.key)
        put: Put | None = None
        if found is None:
            put = "replace" if action == "changed" else "create"
        elif not is_right(found, shard, target):
            put = "replace"
        return _planned(shard, action, put, found.etag if found else None)

    listed = {shard.key for shard in shards}
    kept = ordered_map(planned, shards, workers=CONCURRENT_REQUESTS)
    gone = (_planned(shard, "removed", None, None) for shard in known.values() if shard.key not in listed)
    return Plan((*kept, *gone))


def is_right(found: Stored, shard: RenderedShard | ShardRecord, target: Store) -> bool:
    """Whether an object is what a release wants under its name.

    The digest that a store gives may have been copied from a whole object to a damaged one: where the size is not the
    expected one, the body itself is read (exactly one gzip layer, C-6). Another codec's bytes are right (C-12).
    """
    headers = headers_of(shard.key, shard.sha256)
    if found.sha256 != shard.sha256 or not same_headers(found.headers, headers):
        return False
    if found.size == shard.gzip_bytes:
        return True
    got = target.get(shard.key)
    try:
        return got is not None and check_body(shard.key, got[0], headers) == shard.sha256
    except OutputError:
        return False


def check_still_right(plan: Plan, target: Store) -> None:
    """Look again, before a commit, at every file that the release lists and that will not be put (C-18).

    Raises TargetError for one that was changed or removed while the run was at work.
    """

    def check(shard: PlannedShard) -> None:
        found = target.head(shard.key)
        headers = headers_of(shard.key, shard.sha256)
        if found is None or found.etag != shard.etag or not same_headers(found.headers, headers):
            raise TargetError(
                f"{target.uri}{shard.key} was {'changed' if found else 'removed'} while this run was at work, and the"
                " live site was left as it was: find out what else writes there, and run again."
            )

    unput = [shard for shard in plan.shards if shard.put is None and shard.action != "removed"]
    for _ in ordered_map(check, unput, workers=CONCURRENT_REQUESTS):
        pass


def _planned(shard: RenderedShard | ShardRecord, action: Action, put: Put | None, etag: str | None) -> PlannedShard:
    return PlannedShard(
        key=shard.key,
        set=shard.set,
        section=shard.section,
        action=action,
        put=put,
        entries=shard.entries,
        xml_bytes=shard.xml_bytes,
        gzip_bytes=shard.gzip_bytes,
        sha256=shard.sha256,
        etag=etag,
    )
