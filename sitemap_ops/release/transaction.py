"""One release, from what it is to be to the live site: the protocol of DESIGN 7, the same for a build and a rollback.

    intent ─▶ bodies to state, new files to the target, read back ─▶ look at all files ─▶ manifest ─▶ swap current
                        prune ◀─ projected ◀─ final indexes ◀─ changed files ◀─ union indexes ◀─┘ the commit

Until the commit nothing that the live site lists is touched, so a run that loses the swap has harmed nothing. After it
every write is the owner's, and what a cut-off run leaves undone the next one finishes from the bodies in `state`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sitemap_ops.errors import ConflictError, SitemapOpsError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.complete import settle
from sitemap_ops.release.history import (
    Before,
    Owner,
    commit,
    unless_superseded,
    write_intent,
    write_manifest,
    write_projected,
)
from sitemap_ops.release.left import Retention, grace_of, idle_bodies, kept_history, lost_intents, unlisted_files
from sitemap_ops.release.manifest import Current, IndexRecord, Intent, Manifest, Outcome, ShardRecord
from sitemap_ops.release.plan import CONCURRENT_REQUESTS, Plan, PlannedShard, check_still_right
from sitemap_ops.release.projection import Projection, plan_projection, project
from sitemap_ops.release.prune import Pruned, prune, sweep
from sitemap_ops.release.sets import Indexes, left_behind
from sitemap_ops.release.writer import Writer
from sitemap_ops.storage import Store, Stored


@dataclass(frozen=True)
class Wanted:
    """A release as it is to be. as_of: the run's instant as records hold it. The rest as in `Manifest`."""

    site: str
    release: str
    run_id: str
    as_of: str
    outcome: Outcome
    shards: tuple[ShardRecord, ...]
    indexes: Indexes
    sections: Mapping[str, int]
    rejected: int | None = None
    restores: str | None = None
    guests: tuple[str, ...] = ()
    tracked: str | None = None


@dataclass(frozen=True)
class Done:
    """What a release took: files and bytes put into the target, indexes removed and put, files pruned."""

    epoch: int
    indexes_removed: tuple[str, ...]
    indexes_put: tuple[str, ...]
    uploaded: int
    uploaded_bytes: int
    pruned: Pruned


@dataclass
class Progress:
    """Counts files put; called from the consuming thread only."""

    tell: Callable[[int, int], None] | None
    total: int = 0
    _done: int = field(default=0, init=False)

    def one_more(self) -> None:
        self._done += 1
        if self.tell:
            self.tell(self._done, self.total)


@dataclass(frozen=True)
class Transaction:
    """A release under way. `plan` and `found` (what is at each index's key) are how the target was seen."""

    wanted: Wanted
    before: Before
    plan: Plan
    found: Mapping[str, Stored | None]
    target: Store
    state: Store
    writer: Writer
    retention: Retention
    progress: Progress

    def run(self) -> Done:
        """Commit the release and make it public.

        Raises OutputError for a body that is not what it has to be, ConflictError where another run committed first or
        since, TargetError where a store refuses.
        """
        bodies = Bodies.listed(self.state)
        projection = self._projection(self.plan.to_put("replace"), left_behind(self._previous, self._indexes))
        self._declare(projection)
        lost = lost_intents(self.state, self.before, self.wanted.release)
        met = self._prepare(bodies)
        manifest = self._manifest(bodies, projection, lost)
        if any(shard.put for shard in self.plan.shards):  # else the plan's look was a moment ago
            with unless_superseded(self.before, self.wanted.site, self.wanted.release, self.state):
                check_still_right(self.plan, self.target)
        key = write_manifest(self.state, manifest)
        current = Current(manifest.site, manifest.epoch, manifest.release, key, manifest.indexes)
        owner = Owner(self.state, current, commit(self.state, self.before, current), manifest.release)
        return self._make_public(projection.with_more(met), manifest, bodies, owner)

    def resume(self, owner: Owner, manifest: Manifest) -> Done:
        """Make public what an earlier attempt of this run has committed; `before` is what that attempt began from."""
        puts = [shard for shard in self.plan.shards if shard.put]
        projection = self._projection(puts, manifest.gone, manifest.gone)
        return self._make_public(projection, manifest, Bodies(self.state), owner)

    @property
    def _previous(self) -> Manifest | None:
        return self.before.manifest

    @property
    def _indexes(self) -> Sequence[IndexRecord]:
        return self.wanted.indexes.records

    def _projection(
        self, puts: Sequence[PlannedShard], gone: Sequence[str], spilled: Sequence[str] | None = None
    ) -> Projection:
        previous = self._previous
        return plan_projection(
            self.plan,
            puts,
            self.wanted.shards,
            self.wanted.indexes,
            previous.shards if previous else (),
            previous.indexes if previous else (),
            self.found,
            gone,
            self.target,
            may_spill=lambda key: key in spilled if spilled is not None else self.target.head(key) is None,
        )

    def _declare(self, projection: Projection) -> None:
        """The intent, before the first put: every key that this run may put, or an earlier attempt of it has put."""
        files = {
            shard.key: shard.sha256 for shard in self.plan.shards if shard.put or shard.action in ("added", "changed")
        }
        files |= {index.key: index.sha256 for index in self._indexes}
        files |= dict.fromkeys(projection.gone, "")
        wanted = self.wanted
        write_intent(
            self.state, Intent(wanted.site, wanted.release, wanted.run_id, wanted.as_of, self.before.epoch, files)
        )

    def _prepare(self, bodies: Bodies) -> list[PlannedShard]:
        """Check every body that will be needed, keep it in `state`, and put the new files.

        Gives the new files that another run has made meanwhile, for the owner to replace.
        """

        def prepare(shard: PlannedShard) -> PlannedShard | None:
            body = self.writer.body(shard.key)
            bodies.keep(body, shard.sha256)
            return shard if shard.put == "create" and not self.writer.create(shard, body) else None

        needed = [
            shard
            for shard in self.plan.shards
            if shard.action != "removed" and (shard.put or shard.sha256 not in bodies.digests)
        ]
        met = []
        for shard, other in zip(needed, ordered_map(prepare, needed, workers=CONCURRENT_REQUESTS), strict=True):
            if other:
                met.append(other)
            elif shard.put == "create":
                self.progress.one_more()
        for index in self.wanted.indexes.files.values():
            bodies.keep(index.body, index.sha256)
        return met

    def _manifest(self, bodies: Bodies, projection: Projection, lost: Sequence[Intent]) -> Manifest:
        wanted, before = self.wanted, self.before
        epoch = before.epoch + 1
        manifest = Manifest(
            site=wanted.site,
            release=wanted.release,
            run_id=wanted.run_id,
            as_of=wanted.as_of,
            epoch=epoch,
            outcome=wanted.outcome,
            previous=before.current.manifest if before.current else None,
            shards=wanted.shards,
            indexes=wanted.indexes.records,
            gone=projection.gone,
            unlisted=(),
            idle=(),
            sections=wanted.sections,
            rejected=wanted.rejected,
            restores=wanted.restores,
            guests=wanted.guests,
            tracked=wanted.tracked,
            history=kept_history(before, wanted.release, wanted.as_of, self.retention),
        )
        spilled = {key: digests for key, digests in projection.indexes.items() if key in projection.gone}
        files = unlisted_files(before.manifest, manifest, spilled, lost, grace_of(self.retention), self.target)
        return replace(manifest, unlisted=files, idle=idle_bodies(before.manifest, manifest, bodies.digests))

    def _make_public(self, projection: Projection, manifest: Manifest, bodies: Bodies, owner: Owner) -> Done:
        try:
            project(projection, self.writer, self.target, owner, self.progress.one_more)
            write_projected(self.state, owner.current)
            pruned = prune(manifest, self.target, owner, self.retention)
            sweep(manifest, self._previous, bodies, owner, self.retention)
            owner.check()
        except SitemapOpsError:
            self._settle_if_overtaken(owner, projection)
            raise
        return Done(
            epoch=manifest.epoch,
            indexes_removed=manifest.gone,
            indexes_put=tuple(projection.indexes),
            uploaded=self.writer.files_sent,
            uploaded_bytes=self.writer.bytes_sent,
            pruned=pruned,
        )

    def _settle_if_overtaken(self, owner: Owner, projection: Projection) -> None:
        try:
            owner.check()
        except ConflictError:
            settle(self.wanted.site, self.wanted.release, projection.indexes, self.target, self.state)
        except SitemapOpsError:
            pass  # what went wrong first is what is told
