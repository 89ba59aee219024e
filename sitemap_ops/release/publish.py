"""From rendered shards to a live release (DESIGN 7, PUB-01, PUB-06, PUB-07).

    read current ─▶ plan ─▶ intent ─▶ put new files, read them back ─▶ manifest ─▶ swap current: the commit
                                           indexes, read back ◀─ put changed files, read them back ◀─┘

Until the commit nothing that the live site lists is touched, so a run that loses the swap has harmed nothing. After it
the public files follow. A run that was cut off there leaves a live site of whole, valid files; the next run compares
with what the target really holds, and so completes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from sitemap_ops.errors import OutputError, TargetError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.history import Before, commit, read_before, write_intent, write_manifest
from sitemap_ops.release.index import IndexFile, url_of
from sitemap_ops.release.manifest import Current, IndexRecord, Intent, Manifest, ShardRecord, Unlisted
from sitemap_ops.release.plan import CONCURRENT_REQUESTS, Plan, PlannedShard, RenderedShard, make_plan
from sitemap_ops.release.sets import ReleaseSet, set_indexes
from sitemap_ops.release.writer import Owner, Writer
from sitemap_ops.storage import Store, Stored

__all__ = ["PublishResult", "ReleaseSet", "RenderedShard", "publish"]


class PublishedSite(Protocol):
    """What a publish has to know of a site."""

    @property
    def site(self) -> str: ...
    @property
    def files_url(self) -> str: ...


@dataclass(frozen=True)
class PublishResult:
    """What was done; of a plan, what would be (`committed` is False, `epoch` the live one)."""

    release: str
    committed: bool
    epoch: int
    plan: Plan
    index_urls: tuple[str, ...]
    indexes_put: tuple[str, ...] = ()
    uploaded: int = 0
    uploaded_bytes: int = 0


def publish(
    *,
    site: PublishedSite,
    release: str,
    run_id: str,
    as_of: datetime,
    shards: Sequence[RenderedShard],
    sets: Sequence[ReleaseSet],
    body: Callable[[str], bytes],
    target: Store,
    state: Store,
    plan_only: bool = False,
    progress: Callable[[int, int], None] | None = None,
    allow_empty: bool = False,
    before: Before | None = None,
) -> PublishResult:
    """Make the shards, in the order given, the site's live release; every call that isn't a plan is a new epoch.

    as_of: the run's instant, aware; index lastmod of a shard whose content is new. sets: the file sets that the shards
    belong to, each with its own indexes; the first holds every entry. body: a shard's file as it is put, by key; called
    from several threads, as often as needed. progress: told (files put, files to put). before: what `read_before` gave
    at the start of the run; read now where it is None.

    Files that the release no longer lists stay in the target, and in its manifest as `unlisted`. With `allow_empty`, a
    release without shards removes the index too: an index that lists nothing is not valid (P-37).

    Raises OutputError for a body that is not what it has to be and for a release without shards, ConflictError where
    another run committed first, TargetError where a store refuses, or the index is there but no release of this site.
    """
    instant = _instant(as_of)
    _check_shards(shards, allow_empty, site.site)
    before = before or read_before(state, site.site)
    records = _records(shards, before.manifest, instant)
    listed = set_indexes(sets, site.files_url, records)
    indexes = [index for _, index in listed]
    plan = make_plan(shards, before.manifest, target)
    found = {index.key: target.head(index.key) for index in indexes}
    _check_indexes_are_ours(found, indexes, before.manifest, target, state)
    urls = tuple(url_of(site.files_url, index.key) for index in indexes)
    if plan_only:
        return PublishResult(release, False, before.epoch, plan, urls)

    stale = _indexes_to_remove(before.manifest, listed)
    puts = [shard for shard in plan.shards if shard.put]
    keys = tuple(sorted({shard.key for shard in puts} | {index.key for index in indexes} | set(stale)))
    write_intent(state, Intent(site.site, release, run_id, instant, before.epoch, keys))
    writer = Writer(target, body)
    told = _Progress(progress, len(puts))
    met = _create_new(writer, plan.to_put("create"), told)
    replaced = plan.to_put("replace") + met
    for _ in ordered_map(writer.check, replaced, workers=CONCURRENT_REQUESTS):
        pass  # what is wrong has to show before the commit

    manifest = Manifest(
        site=site.site,
        release=release,
        run_id=run_id,
        as_of=instant,
        previous=before.current.manifest if before.current else None,
        shards=records,
        indexes=tuple(_index_record(each, index, found[index.key]) for each, index in listed),
        unlisted=_unlisted(before.manifest, records, indexes, stale, instant),
        sections=_entries_by_section(shards, sets[0]),
    )
    key = write_manifest(state, manifest)
    current = Current(site.site, before.epoch + 1, release, key, manifest.indexes)
    owner = Owner(state, current, commit(state, before, current))

    for _ in ordered_map(lambda shard: writer.replace(shard, owner), replaced, workers=CONCURRENT_REQUESTS):
        told.one_more()
    put = tuple(index.key for index in indexes if writer.put_index(index, found[index.key], owner))
    if stale:
        owner.check()
        target.delete(stale)
    return PublishResult(release, True, current.epoch, plan, urls, put, writer.files_sent, writer.bytes_sent)


def _create_new(writer: Writer, shards: Sequence[PlannedShard], told: _Progress) -> list[PlannedShard]:
    """Put what the target does not have; gives the files that another run made meanwhile, for the owner to replace."""
    met = []
    for shard, done in zip(shards, ordered_map(writer.create, shards, workers=CONCURRENT_REQUESTS), strict=True):
        if done:
            told.one_more()
        else:
            met.append(shard)
    return met


def _instant(as_of: datetime) -> str:
    if as_of.tzinfo is None:
        raise ValueError("as_of has to be aware")
    return as_of.astimezone(UTC).isoformat(timespec="seconds")


def _check_shards(shards: Sequence[RenderedShard], allow_empty: bool, site: str) -> None:
    if not shards and not allow_empty:
        raise OutputError(
            f"The release of {site} has no URLs, and would take the whole sitemap away: look at the sources and the"
            " rejects; if it is right, set allow_empty in the site file."
        )


def _records(shards: Sequence[RenderedShard], previous: Manifest | None, instant: str) -> tuple[ShardRecord, ...]:
    """lastmod moves only where the content does (P-41)."""
    known = {(shard.key, shard.sha256): shard.lastmod for shard in previous.shards} if previous else {}
    return tuple(ShardRecord(**vars(shard), lastmod=known.get((shard.key, shard.sha256), instant)) for shard in shards)


def _check_indexes_are_ours(
    found: dict[str, Stored | None],
    indexes: Sequence[IndexFile],
    previous: Manifest | None,
    target: Store,
    state: Store,
) -> None:
    ours = {index.key for index in previous.indexes} | {old.key for old in previous.unlisted} if previous else set()
    for index in indexes:
        there = found[index.key]
        if there and index.key not in ours and there.sha256 != index.sha256:
            raise TargetError(
                f"{target.uri}{index.key} is there already, and {state.uri} knows no release of this site that made it:"
                " point `state` to where earlier runs kept their releases, or move that file away once to start anew."
            )


def _index_record(each: ReleaseSet, index: IndexFile, there: Stored | None) -> IndexRecord:
    return IndexRecord(index.key, each.name, index.sha256, len(index.body), there.etag if there else None)


def _indexes_to_remove(previous: Manifest | None, listed: Sequence[tuple[ReleaseSet, IndexFile]]) -> list[str]:
    """Indexes of the release before that nothing keeps up to date any more: of a set that is gone or empty, or beyond
    the last that its set needs now. One whose set got an index of another name stays for the grace period, since
    robots.txt may still name it."""
    keys = {index.key for _, index in listed}
    kept = {record.set for record in previous.indexes if record.key in keys} if previous else set()
    renamed = {each.name for each, _ in listed} - kept
    return [
        record.key
        for record in (previous.indexes if previous else ())
        if record.key not in keys and record.set not in renamed
    ]


def _unlisted(
    previous: Manifest | None,
    records: Sequence[ShardRecord],
    indexes: Sequence[IndexFile],
    removed: Sequence[str],
    instant: str,
) -> tuple[Unlisted, ...]:
    if previous is None:
        return ()
    listed = {record.key for record in records} | {index.key for index in indexes}
    since = dict.fromkeys([shard.key for shard in previous.shards] + [index.key for index in previous.indexes], instant)
    since |= {file.key: file.since for file in previous.unlisted}
    return tuple(Unlisted(key, since[key]) for key in sorted(since.keys() - listed - set(removed)))


def _entries_by_section(shards: Sequence[RenderedShard], whole: ReleaseSet) -> dict[str, int]:
    """Counted in the set that holds every entry: the others repeat them."""
    entries: Counter[str] = Counter()
    for shard in shards:
        if shard.set == whole.name:
            entries[shard.section] += shard.entries
    return dict(entries)


class _Progress:
    """Counts files put; called from the consuming thread only."""

    def __init__(self, tell: Callable[[int, int], None] | None, total: int) -> None:
        self._tell, self._done, self._total = tell, 0, total

    def one_more(self) -> None:
        self._done += 1
        if self._tell:
            self._tell(self._done, self._total)
