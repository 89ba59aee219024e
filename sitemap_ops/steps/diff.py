"""Compare two kept releases of a site, URL by URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sitemap_ops.connections import Connections
from sitemap_ops.errors import OutputError, UsageError
from sitemap_ops.release.bodies import key_of
from sitemap_ops.release.diff import Change, diff
from sitemap_ops.release.history import list_releases, read_before, read_manifest
from sitemap_ops.release.manifest import Manifest, Past, ShardRecord
from sitemap_ops.site import Site
from sitemap_ops.steps.publish import release_sets, stores_of
from sitemap_ops.storage import Store

CURRENT = "current"
"""The name of the live release, whatever its id."""


@dataclass(frozen=True)
class Comparison:
    """The releases and the file set that were compared, and the changes, which are found while they are read."""

    old: str
    new: str
    set: str
    changes: Iterator[Change]


def diff_releases(site: Site, old: str, new: str, connections: Connections, *, set_: str | None = None) -> Comparison:
    """What changed from release `old` to release `new`, ids as `releases` tells them or `current`.

    set_: the file set that is compared; the site's first where None. Raises UsageError for a release that is not kept
    or a set that neither has; reading the changes raises as `release.diff.diff`.
    """
    target, state = stores_of(site, connections)
    kept = list_releases(read_before(state, site.site))
    manifests = [read_manifest(state, _find(kept, release, site.site).manifest) for release in (old, new)]
    set_ = set_ or release_sets(site)[0].name
    _check_set(set_, manifests)

    def body(shard: ShardRecord) -> bytes:
        return _body(shard, target, state)

    changes = diff(manifests[0].shards, manifests[1].shards, body, body, set_=set_)
    return Comparison(manifests[0].release, manifests[1].release, set_, changes)


def _find(kept: list[Past], release: str, site: str) -> Past:
    if not kept:
        raise UsageError(f"Site {site!r} has no release yet: build it first.")
    found = kept[0] if release == CURRENT else next((past for past in kept if past.release == release), None)
    if found is None:
        raise UsageError(
            f"Release {release!r} of {site} is not kept: the command `releases` lists those that are, and"
            f" {CURRENT!r} is the live one."
        )
    return found


def _check_set(set_: str, manifests: list[Manifest]) -> None:
    known = {shard.set for manifest in manifests for shard in manifest.shards}
    if known and set_ not in known:
        raise UsageError(f"Neither release has a file set {set_!r}: they have {', '.join(sorted(known))}.")


def _body(shard: ShardRecord, target: Store, state: Store) -> bytes:
    """A shard's body as `state` keeps it, or as it lies in the target; `diff` checks that it is the right one."""
    found = state.get(key_of(shard.sha256)) or target.get(shard.key)
    if found is None:
        raise OutputError(
            f"The body of {shard.key} is neither in {state.uri} nor in {target.uri}: its URLs can't be compared."
        )
    return found[0]
