"""From the public files as they are to those of the live release, so that they are a valid site at every instant.

    files that no index lists yet ─▶ union index ─▶ changed files, gainers first ─▶ final index ─▶ remove old indexes

The union lists old and new files together. While it is live a URL that moves from one file to another is in both, or in
the one that has it. A set of which no listed file changes, and one index alone, needs none: so it is with immutable
names as long as one index is enough, and then the site is exactly one release at every moment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.headers import headers_for, same_headers
from sitemap_ops.release.history import Before, Owner, is_projected
from sitemap_ops.release.index import IndexFile, Listing, index_file, listed_by, numbered
from sitemap_ops.release.manifest import IndexRecord, ShardRecord
from sitemap_ops.release.order import Change, Range, in_order
from sitemap_ops.release.plan import CONCURRENT_REQUESTS, Plan, PlannedShard
from sitemap_ops.release.sets import Indexes
from sitemap_ops.release.writer import Writer
from sitemap_ops.storage import Store, Stored


@dataclass(frozen=True)
class IndexPut:
    """An index to put over the object that has this ETag; None: nothing is there."""

    file: IndexFile
    etag: str | None


@dataclass(frozen=True)
class Projection:
    """What is put and removed, in this order; `changed` in batches."""

    unlisted: tuple[PlannedShard, ...]
    union: tuple[IndexPut, ...]
    changed: tuple[tuple[PlannedShard, ...], ...]
    final: tuple[IndexPut, ...]
    gone: tuple[str, ...]

    @property
    def indexes(self) -> dict[str, set[str]]:
        """The digests of all indexes that are put, for however long, by key."""
        digests: dict[str, set[str]] = {}
        for each in (*self.union, *self.final):
            digests.setdefault(each.file.key, set()).add(each.file.sha256)
        return digests

    def with_more(self, met: Sequence[PlannedShard]) -> Projection:
        """The same with new files that another run was the first to make."""
        added = tuple(shard for shard in met if shard.action == "added")
        others = tuple(shard for shard in met if shard.action != "added")
        changed = (*self.changed, others) if others else self.changed
        return replace(self, unlisted=(*self.unlisted, *added), changed=changed)


def plan_projection(
    plan: Plan,
    puts: Sequence[PlannedShard],
    shards: Sequence[ShardRecord],
    indexes: Indexes,
    old_shards: Sequence[ShardRecord],
    old_indexes: Sequence[IndexRecord],
    found: Mapping[str, Stored | None],
    gone: Sequence[str],
    target: Store,
    *,
    may_spill: Callable[[str], bool],
) -> Projection:
    """What it takes to make the target the release.

    puts: the shards to put, of those in the plan. old_*: of the release that the public files are of, or were on their
    way from. found: what is at each index's key. gone: indexes to remove in the end. may_spill: whether a further
    index, which a union too long for its own files takes for a while, may have a name.
    """
    listed = [shard for shard in puts if shard.action != "added"]
    wrong = [index for index in indexes.records if not _is_right(found[index.key], index)]
    union: list[IndexPut] = []
    spilled: list[str] = []
    for name in dict.fromkeys(index.set for index in wrong):
        mine = [index for index in indexes.records if index.set == name]
        old = [index.key for index in old_indexes if index.set == name]
        leaving = set(old) - {index.key for index in mine}
        single = sum(index.set == name for index in wrong) + len(leaving) == 1
        if single and not any(shard.set == name and shard.action == "changed" for shard in listed):
            continue
        further, spill = _union(mine, indexes, old, target, may_spill)
        union += further
        spilled += spill
    by_key = {shard.key: shard for shard in listed}
    return Projection(
        unlisted=tuple(shard for shard in puts if shard.action == "added"),
        union=tuple(union),
        changed=tuple(tuple(by_key[key] for key in keys) for keys in in_order(_changes(listed, shards, old_shards))),
        final=tuple(IndexPut(indexes.files[index.key], _etag(found[index.key])) for index in wrong),
        gone=tuple(dict.fromkeys([*gone, *spilled])),
    )


def project(projection: Projection, writer: Writer, target: Store, owner: Owner, one_more: Callable[[], None]) -> None:
    """Do it. Raises ConflictError as soon as another release is the live one, also right after the last put."""
    etags = {each.file.key: each.etag for each in projection.final}
    finals = {each.file.key: each.file.sha256 for each in projection.final}
    _replace(projection.unlisted, writer, owner, one_more)
    for each in projection.union:
        key = each.file.key
        etags[key] = writer.put_index(each.file, each.etag, owner, instead_of=finals.get(key))
    for batch in projection.changed:
        _replace(batch, writer, owner, one_more)
    for each in projection.final:
        writer.put_index(each.file, etags[each.file.key], owner)
    if projection.gone:
        owner.check()
        target.delete(projection.gone)
    owner.check()


def index_heads(indexes: Indexes, target: Store) -> dict[str, Stored | None]:
    """What is at each index's key."""
    return {index.key: target.head(index.key) for index in indexes.records}


def altered_indexes(before: Before, found: Mapping[str, Stored | None], state: Store) -> tuple[str, ...]:
    """The live release's indexes that something else has changed or removed since they were made public.

    found: what is at the keys of the indexes to come (`index_heads`); one that won't be there any more is in no need of
    repair.
    """
    if before.current is None or before.manifest is None or not is_projected(state, before.current):
        return ()
    listed = before.manifest.indexes
    return tuple(index.key for index in listed if index.key in found and not _is_right(found[index.key], index))


def _replace(shards: Collection[PlannedShard], writer: Writer, owner: Owner, one_more: Callable[[], None]) -> None:
    for _ in ordered_map(lambda shard: writer.replace(shard, owner), shards, workers=CONCURRENT_REQUESTS):
        one_more()


def _is_right(found: Stored | None, index: IndexRecord) -> bool:
    return bool(found and found.sha256 == index.sha256 and same_headers(found.headers, headers_for(index.key)))


def _etag(found: Stored | None) -> str | None:
    return found.etag if found else None


def _changes(
    changed: Sequence[PlannedShard], shards: Sequence[ShardRecord], old_shards: Sequence[ShardRecord]
) -> list[Change]:
    becomes = {shard.key: _range(shard) for shard in shards}
    was = {shard.key: _range(shard) for shard in old_shards}
    return [Change(shard.key, (shard.set, shard.section), was.get(shard.key), becomes[shard.key]) for shard in changed]


def _range(shard: ShardRecord) -> Range | None:
    return Range(shard.first_loc, shard.last_loc) if shard.first_loc and shard.last_loc else None


def _union(
    mine: Sequence[IndexRecord],
    indexes: Indexes,
    old: Sequence[str],
    target: Store,
    may_spill: Callable[[str], bool],
) -> tuple[list[IndexPut], list[str]]:
    """One set's indexes with what they list now and what they will, and the names of those that are too many."""
    etags: dict[str, str | None] = {}
    live: dict[str, Listing] = {}
    for key in dict.fromkeys([*(index.key for index in mine), *old]):
        got = target.get(key)
        etags[key], live[key] = (got[1].etag, listed_by(got[0]) or []) if got else (None, [])
    final = {index.key: listed_by(indexes.files[index.key].body) or [] for index in mine}
    union, rest = _merged(live, final, mine[0].max_files)
    puts = [IndexPut(index_file(key, entries), etags[key]) for key, entries in union.items()]
    spill, first = [], max(len(mine), len(old)) + 1
    for number, start in enumerate(range(0, len(rest), mine[0].max_files), first):
        key = numbered(mine[0].key, number)
        if may_spill(key):
            spill.append(key)
            there = _etag(target.head(key))
            puts.insert(0, IndexPut(index_file(key, rest[start : start + mine[0].max_files]), there))
    return puts, spill


def _merged(
    live: Mapping[str, Listing], final: Mapping[str, Listing], max_files: int
) -> tuple[dict[str, Listing], Listing]:
    """For each index what it lists now and, as far as it has room, what it will; and all that found no room.

    What is listed keeps its lastmod: a crawler that saw the new one before the new file would not come back for it.
    """
    union: dict[str, Listing] = {}
    rest: list[tuple[str, str | None]] = []
    for key, entries in final.items():
        have = {loc for loc, _ in live[key]}
        missing = [entry for entry in entries if entry[0] not in have]
        room = max(0, max_files - len(live[key]))
        rest += missing[room:]
        if missing[:room]:
            union[key] = [*live[key], *missing[:room]]
    return union, rest
