"""Putting an earlier release back: its files byte for byte, its indexes with their lastmod, as a new epoch."""

from __future__ import annotations

from collections.abc import Callable

from sitemap_ops.errors import OutputError, UsageError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.complete import complete, stored_indexes
from sitemap_ops.release.headers import check_body, headers_for
from sitemap_ops.release.history import Before, list_releases, read_before, read_manifest
from sitemap_ops.release.index import url_of
from sitemap_ops.release.left import Retention
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.plan import CONCURRENT_REQUESTS, Plan, make_plan
from sitemap_ops.release.projection import altered_indexes, index_heads
from sitemap_ops.release.publish import PublishedSite, PublishResult, result_of
from sitemap_ops.release.transaction import Progress, Transaction, Wanted
from sitemap_ops.release.writer import Writer
from sitemap_ops.storage import Store


def rollback(
    *,
    site: PublishedSite,
    to: str,
    release: str,
    run_id: str,
    as_of: str,
    target: Store,
    state: Store,
    retention: Retention,
    progress: Callable[[int, int], None] | None = None,
) -> PublishResult:
    """Make the live site's files what they were in release `to`.

    as_of: the rollback's instant, as records hold it. Every body is looked at first, in the target or in `state`;
    nothing is done where one is missing. Raises UsageError for a release that is not kept, else as `publish`.
    """
    before = read_before(state, site.site)
    wanted = _find(before, to, state)
    completed = complete(before, release, target, state)
    bodies = Bodies(state)
    indexes = stored_indexes(wanted, bodies)
    if indexes is None:
        raise OutputError(
            f"Release {to} can't be put back: an index of it is missing or damaged in"
            f" {state.uri}bodies/: restore that from a backup, or choose another release."
        )
    plan = make_plan(wanted.shards, before.manifest.shards if before.manifest else (), target)
    digests = {shard.key: shard.sha256 for shard in wanted.shards}

    def body(key: str) -> bytes:
        found = bodies.get(key, digests[key])
        if found is None:
            got = target.get(key)
            if got is None or check_body(key, got[0], headers_for(key)) != digests[key]:
                raise OutputError(
                    f"Release {to} can't be put back: {key} is neither in {state.uri} nor in {target.uri} with the"
                    " content it had."
                )
            found = got[0]
        return found

    writer = Writer(target, body)
    _check_bodies(plan, writer)
    found = index_heads(indexes, target)
    repaired = altered_indexes(before, found, state)
    transaction = Transaction(
        wanted=Wanted(
            site=site.site,
            release=release,
            run_id=run_id,
            as_of=as_of,
            outcome="rolled back",
            shards=wanted.shards,
            indexes=indexes,
            sections=wanted.sections,
            rejected=wanted.rejected,
            restores=to,
            guests=wanted.guests,
            tracked=wanted.tracked,
        ),
        before=before,
        plan=plan,
        found=found,
        target=target,
        state=state,
        writer=writer,
        retention=retention,
        progress=Progress(progress, sum(shard.put is not None for shard in plan.shards)),
    )
    urls = tuple(url_of(site.files_url, index.key) for index in wanted.indexes)
    return result_of(release, transaction.run(), plan, urls, completed, repaired)


def _find(before: Before, to: str, state: Store) -> Manifest:
    releases = list_releases(before)
    for past in releases:
        if past.release == to:
            return read_manifest(state, past.manifest)
    kept = ", ".join(past.release for past in releases) or "none"
    raise UsageError(f"{state.uri} has no release {to!r} that could be put back; it keeps: {kept}.")


def _check_bodies(plan: Plan, writer: Writer) -> None:
    """Raises OutputError for the first file that has to be put and whose body can't be had."""
    puts = [shard.key for shard in plan.shards if shard.put]
    for _ in ordered_map(writer.body, puts, workers=CONCURRENT_REQUESTS):
        pass
