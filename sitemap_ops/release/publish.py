"""From rendered shards to a live release (DESIGN 7, PUB-01, PUB-06, PUB-07)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Protocol

from sitemap_ops.errors import ConflictError, OutputError
from sitemap_ops.release.adopt import check_target_is_ours, lasting_guests
from sitemap_ops.release.complete import complete
from sitemap_ops.release.history import Before, Owner, find_manifest, read_before, unless_superseded
from sitemap_ops.release.index import url_of
from sitemap_ops.release.left import DEFAULT_RETENTION, Retention
from sitemap_ops.release.manifest import Manifest, Outcome, ShardRecord
from sitemap_ops.release.plan import Plan, RenderedShard, make_plan
from sitemap_ops.release.projection import altered_indexes, index_heads
from sitemap_ops.release.prune import NONE_PRUNED, Pruned
from sitemap_ops.release.sets import Indexes, ReleaseSet, check_names, left_behind, set_indexes
from sitemap_ops.release.transaction import Done, Progress, Transaction, Wanted
from sitemap_ops.release.writer import Writer
from sitemap_ops.storage import Store

__all__ = ["PublishResult", "ReleaseSet", "RenderedShard", "publish"]


class PublishedSite(Protocol):
    """What a publish has to know of a site."""

    @property
    def site(self) -> str: ...
    @property
    def files_url(self) -> str: ...


@dataclass(frozen=True)
class PublishResult:
    """What was done; of a plan, what would be (`committed` is False, `epoch` the live one).

    indexes_removed: keys of those of the release before that nothing keeps up to date any more. indexes_repaired: of
    those that something else had altered or removed. completed: what was put of the release before, which had been cut
    off while it was made public.
    """

    release: str
    committed: bool
    epoch: int
    plan: Plan
    index_urls: tuple[str, ...]
    indexes_removed: tuple[str, ...] = ()
    indexes_put: tuple[str, ...] = ()
    uploaded: int = 0
    uploaded_bytes: int = 0
    completed: tuple[str, ...] = ()
    pruned: Pruned = NONE_PRUNED
    indexes_repaired: tuple[str, ...] = ()

    @property
    def repaired(self) -> list[str]:
        """Files and indexes that should have been right."""
        return [*self.plan.repaired, *self.indexes_repaired]

    @property
    def overwritten(self) -> tuple[str, ...]:
        """The keys of files that are not what they were: a copy that a cache has of one is out of date."""
        if not self.committed:
            return ()
        replaced = (shard.key for shard in self.plan.shards if shard.put == "replace")
        return (*self.completed, *replaced, *self.indexes_put, *self.indexes_removed, *self.pruned.keys)


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
    rejected: int | None = None,
    outcome: Outcome = "published",
    retention: Retention = DEFAULT_RETENTION,
    plan_only: bool = False,
    progress: Callable[[int, int], None] | None = None,
    allow_empty: bool = False,
    before: Before | None = None,
    resumed: bool = False,
    tracked: str | None = None,
) -> PublishResult:
    """Make the shards, in the order given, the site's live release; every call that isn't a plan is a new epoch.

    as_of: the run's instant, aware; index lastmod of a shard whose content is new. sets: the file sets that the shards
    belong to, each with its own indexes; the first holds every entry. body: a shard's file as it is put, by key; called
    from several threads, as often as needed. rejected: rows, for the list of releases. progress: told (files put,
    files to put). before: what `read_before` gave at the start of the run; read now where it is None. resumed: `before`
    is this very run's release, which an earlier attempt committed (`committed_already`). tracked: the key of the run's
    records of tracked pages, which are in `state` already.

    Files that the release no longer lists stay in the target for a grace period, in its manifest as `unlisted`. With
    `allow_empty`, a release without shards removes the indexes too: one that lists nothing is not valid (P-37).

    Raises OutputError for a body that is not what it has to be and for a release without shards, ConflictError where
    another run committed first or since, TargetError where a store refuses, or the target has an index of another's.
    """
    instant = instant_of(as_of)
    _check_shards(shards, allow_empty or plan_only, site.site)
    before = before or read_before(state, site.site)
    own = before.manifest if resumed else None
    completed = () if plan_only or resumed else complete(before, release, target, state)
    base = Before(manifest=find_manifest(state, own.previous)) if own else before
    live = base.manifest
    records = own.shards if own else _records(shards, live, instant)
    guests = own.guests if own else lasting_guests(live, site.files_url, target)
    indexes = set_indexes(sets, site.files_url, records, guests)
    if own:
        _check_same(own, shards, indexes)
    plan = make_plan(records, live.shards if live else (), target)
    found = index_heads(indexes, target)
    with unless_superseded(before, site.site, release, state):
        check_target_is_ours(found, indexes, before, target, state)
    urls = tuple(url_of(site.files_url, index.key) for index in indexes.records)
    repaired = altered_indexes(base, found, state)
    if plan_only:
        gone = left_behind(live, indexes.records)
        return PublishResult(release, False, before.epoch, plan, urls, gone, indexes_repaired=repaired)
    transaction = Transaction(
        wanted=Wanted(
            site=site.site,
            release=release,
            run_id=run_id,
            as_of=instant,
            outcome=outcome,
            shards=records,
            indexes=indexes,
            sections=_entries(shards, sets[0]),
            rejected=rejected,
            guests=guests,
            tracked=tracked,
        ),
        before=base,
        plan=plan,
        found=found,
        target=target,
        state=state,
        writer=Writer(target, partial(_checked, {shard.key: shard.body_sha256 for shard in shards}, body)),
        retention=retention,
        progress=Progress(progress, sum(shard.put is not None for shard in plan.shards)),
    )
    done = _resume(transaction, before, state) if own else transaction.run()
    return result_of(release, done, plan, urls, completed, repaired)


def result_of(
    release: str,
    done: Done,
    plan: Plan,
    urls: tuple[str, ...],
    completed: tuple[str, ...],
    repaired: tuple[str, ...],
) -> PublishResult:
    return PublishResult(
        release=release,
        committed=True,
        epoch=done.epoch,
        plan=plan,
        index_urls=urls,
        indexes_removed=done.indexes_removed,
        indexes_put=done.indexes_put,
        uploaded=done.uploaded,
        uploaded_bytes=done.uploaded_bytes,
        completed=completed,
        pruned=done.pruned,
        indexes_repaired=repaired,
    )


def instant_of(as_of: datetime) -> str:
    """An instant as records and indexes hold it."""
    if as_of.tzinfo is None:
        raise ValueError("as_of has to be aware")
    return as_of.astimezone(UTC).isoformat(timespec="seconds")


def _resume(transaction: Transaction, before: Before, state: Store) -> Done:
    assert before.current
    assert before.etag
    assert before.manifest
    return transaction.resume(Owner(state, before.current, before.etag, transaction.wanted.release), before.manifest)


def _check_shards(shards: Sequence[RenderedShard], allow_empty: bool, site: str) -> None:
    if not shards and not allow_empty:
        raise OutputError(
            f"The release of {site} has no URLs, and would take the whole sitemap away: look at the sources and the"
            " rejects; if it is right, set allow_empty in the site file."
        )
    check_names(shard.key for shard in shards)


def _records(shards: Sequence[RenderedShard], live: Manifest | None, instant: str) -> tuple[ShardRecord, ...]:
    """lastmod moves only where the content does (P-41), and the size is that of the object that is there."""
    known = {(shard.key, shard.sha256): shard for shard in live.shards} if live else {}
    return tuple(
        replace(shard.record(same.lastmod), gzip_bytes=same.gzip_bytes)
        if (same := known.get((shard.key, shard.sha256)))
        else shard.record(instant)
        for shard in shards
    )


def _check_same(own: Manifest, shards: Sequence[RenderedShard], indexes: Indexes) -> None:
    """Raises ConflictError where an earlier attempt of this run published other content."""
    was = [*((s.key, s.sha256) for s in own.shards), *((i.key, i.sha256) for i in own.indexes)]
    now = [*((s.key, s.sha256) for s in shards), *((i.key, i.sha256) for i in indexes.records)]
    if was != now:
        raise ConflictError(
            f"Release {own.release} of {own.site} is live already, committed by an earlier attempt of this run with"
            " other content: start a new run."
        )


def _checked(digests: Mapping[str, str], body: Callable[[str], bytes], key: str) -> bytes:
    """A shard's file. Raises OutputError where it is not, byte for byte, what was rendered."""
    found = body(key)
    if (digest := sha256(found).hexdigest()) != digests[key]:
        raise OutputError(
            f"{key} can't be published: its file is not what this run rendered (SHA-256 {digest[:16]} instead of"
            f" {digests[key][:16]}); look at the `work` folder, and run again from the first step."
        )
    return found


def _entries(shards: Sequence[RenderedShard], whole: ReleaseSet) -> dict[str, int]:
    """By section, counted in the set that holds every entry: the others repeat them."""
    entries: Counter[str] = Counter()
    for shard in shards:
        if shard.set == whole.name:
            entries[shard.section] += shard.entries
    return dict(entries)
