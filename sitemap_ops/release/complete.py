"""Finishing what a run that was cut off after its commit has left: the public files become the live release's."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sitemap_ops.errors import ConflictError, OutputError
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.history import Before, Owner, find_manifest, is_projected, read_before, write_projected
from sitemap_ops.release.index import IndexFile
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.plan import make_plan
from sitemap_ops.release.projection import index_heads, plan_projection, project
from sitemap_ops.release.sets import Indexes
from sitemap_ops.release.writer import Writer
from sitemap_ops.storage import Store
from sitemap_ops.storage.content import content_sha256

_TRIES = 3


def complete(before: Before, run: str, target: Store, state: Store, *, look: bool = False) -> tuple[str, ...]:
    """Put what is missing of the live release, from the bodies in `state`; gives the keys of what had to be put.

    run: the release that the run which does it is to make. look: look at every file, even where the projection is
    known to be complete. Does nothing where bodies are missing: then the next release, which brings all of its own,
    replaces what is wrong. Raises ConflictError where another run has committed meanwhile.
    """
    if before.current is None or before.etag is None or before.manifest is None:
        return ()
    if not look and is_projected(state, before.current):
        return ()
    owner = Owner(state, before.current, before.etag, run)
    owner.check()
    manifest = before.manifest
    previous = find_manifest(state, manifest.previous)
    old_shards, old_indexes = (previous.shards, previous.indexes) if previous else ((), ())
    bodies = Bodies.listed(state)
    indexes = stored_indexes(manifest, bodies)
    plan = make_plan(manifest.shards, old_shards, target)
    puts = [shard for shard in plan.shards if shard.put]
    if indexes is None or any(shard.sha256 not in bodies.digests for shard in puts):
        return ()
    projection = plan_projection(
        plan,
        puts,
        manifest.shards,
        indexes,
        old_shards,
        old_indexes,
        index_heads(indexes, target),
        manifest.gone,
        target,
        may_spill=manifest.gone.__contains__,
    )
    digests = {shard.key: shard.sha256 for shard in manifest.shards}
    writer = Writer(target, lambda key: needed_body(bodies, key, digests[key], state))
    project(projection, writer, target, owner, lambda: None)
    write_projected(state, before.current)
    return writer.keys_sent


def settle(site: str, run: str, put: Mapping[str, Collection[str]], target: Store, state: Store) -> None:
    """Make the public files those of whichever release is live now: for a run that was overtaken while it put files.

    Its last put may have hit a file that the newer release had left as it was, having found it right; and what it
    removed as old may be what the newer release brought back. put: the digests of the indexes that the run may have
    put, by key: one that the newer release does not have may have come after that had looked.
    """
    for _ in range(_TRIES):
        try:
            before = read_before(state, site)
            _keep_bodies(before, target, state)
            complete(before, run, target, state, look=True)
            _remove_indexes(before, put, target)
            return
        except ConflictError:  # and again overtaken: whoever did it has looked later than this run's last put
            continue


def _remove_indexes(before: Before, put: Mapping[str, Collection[str]], target: Store) -> None:
    listed = before.manifest.contents if before.manifest else {}
    for key, digests in put.items():
        if key not in listed and (found := target.head(key)) and found.sha256 in digests:
            target.delete([key])


def _keep_bodies(before: Before, target: Store, state: Store) -> None:
    """Bodies of the live release that are not in `state`, from the target."""
    bodies = Bodies.listed(state)
    for key, sha256 in before.manifest.contents.items() if before.manifest else ():
        if sha256 not in bodies.digests and (got := target.get(key)) and content_sha256([got[0]]) == sha256:
            bodies.keep(got[0], sha256)


def stored_indexes(manifest: Manifest, bodies: Bodies) -> Indexes | None:
    """A release's indexes as they were put; None where one's body is not in `state` any more."""
    files = {}
    for index in manifest.indexes:
        body = bodies.get(index.key, index.sha256)
        if body is None:
            return None
        files[index.key] = IndexFile(index.key, body, index.sha256)
    return Indexes(manifest.indexes, files)


def needed_body(bodies: Bodies, key: str, sha256: str, state: Store) -> bytes:
    body = bodies.get(key, sha256)
    if body is None:
        raise OutputError(
            f"The body of {key} in {state.uri} is missing or damaged (SHA-256 {sha256[:16]}): run a build, which puts"
            " all files of a new release."
        )
    return body
