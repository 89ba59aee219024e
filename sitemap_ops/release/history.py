"""Reading and swapping the records in `state`: `current.json` is the one fence of a site (DESIGN 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.release.headers import PRIVATE
from sitemap_ops.release.manifest import Current, Intent, Manifest, Past, Projected, from_json, to_json
from sitemap_ops.storage import Store

CURRENT = "current.json"
PROJECTED = "projected.json"
RELEASES = "releases/"


@dataclass(frozen=True)
class Before:
    """A site as a run found it; all empty before the first release. `etag` is that of `current.json`."""

    current: Current | None = None
    etag: str | None = None
    manifest: Manifest | None = None

    @property
    def epoch(self) -> int:
        return self.current.epoch if self.current else 0

    @property
    def sections(self) -> dict[str, int] | None:
        """The entries of each section in the live release: what guards compare with. None before the first."""
        return dict(self.manifest.sections) if self.manifest else None


@dataclass(frozen=True)
class Fence:
    """What `current.json` was when a run began: its commit holds only over exactly that. release: the live one."""

    epoch: int
    etag: str | None
    release: str | None = None


@dataclass(frozen=True)
class Owner:
    """The holder of the live release's epoch: the only one who may overwrite or remove public files.

    run: the release that the run which acts is to make, for what it is told when it was overtaken.
    """

    state: Store
    current: Current
    etag: str
    run: str

    def check(self) -> None:
        """Raises ConflictError where another run has committed since."""
        stored = self.state.head(CURRENT)
        if stored is None or stored.etag != self.etag:
            raise superseded(self.state, self.current.site, self.run)


def read_fence(state: Store, site: str) -> Fence:
    """The fence as it stands now, for a run that begins. Raises as `read_before`."""
    found = _read_current(state, site)
    return Fence(found[0].epoch, found[1], found[0].release) if found else Fence(0, None)


def read_before(state: Store, site: str) -> Before:
    """What is live, read at the start of a run: its commit holds only if nothing was committed since.

    Raises TargetError where the records are damaged, or are another site's.
    """
    while found := _read_current(state, site):
        current, etag = found
        manifest = find_manifest(state, current.manifest)
        if manifest:
            break
        now = state.head(CURRENT)
        if now is None or now.etag == etag:  # else it was replaced, and its manifest swept away, in between
            raise _missing(state, current.manifest)
    else:
        return Before()
    if manifest.history is None:
        manifest = replace(manifest, epoch=current.epoch, history=tuple(_chain(state, manifest.previous)))
    return Before(current, etag, manifest)


def committed_already(before: Before, fence: Fence | None, release: str) -> bool:
    """Whether what is live is this very run's release, which an earlier attempt committed: this one goes on from there.

    fence: what was live when the run began, None where `before` was read then. Raises ConflictError where another run
    has committed since, also one that brought the same content back.
    """
    if fence is None or fence.etag == before.etag:
        return False
    current = before.current
    if current and current.release == release and current.epoch == fence.epoch + 1:
        return True
    raise _given_up(current, current.site if current else "the site", release)


def _read_current(state: Store, site: str) -> tuple[Current, str] | None:
    found = state.get(CURRENT)
    if found is None:
        return None
    body, stored = found
    current = from_json(Current, body, f"{state.uri}{CURRENT}")
    if current.site != site:
        raise TargetError(
            f"{state.uri} holds the releases of the site {current.site!r}, not of {site!r}: give each site a `state`"
            " of its own, such as a folder below this one."
        )
    return current, stored.etag


def read_manifest(state: Store, key: str) -> Manifest:
    """The manifest at a key of `state`. Raises TargetError where there is none, or it is damaged."""
    manifest = find_manifest(state, key)
    if manifest is None:
        raise _missing(state, key)
    return manifest


def _missing(state: Store, key: str) -> TargetError:
    return TargetError(
        f"{state.uri}{key} is missing, though {CURRENT} or a later release names it: restore it from a backup, or"
        f" move {CURRENT} away and make it anew with rebuild-state."
    )


def find_manifest(state: Store, key: str | None) -> Manifest | None:
    """The manifest at a key; None where there is none any more. Raises TargetError where it is damaged."""
    found = state.get(key) if key else None
    return from_json(Manifest, found[0], f"{state.uri}{key}") if found else None


def past_of(manifest: Manifest, key: str) -> Past:
    """What the releases after it keep of a release."""
    return Past(
        release=manifest.release,
        manifest=key,
        epoch=manifest.epoch,
        as_of=manifest.as_of,
        outcome=manifest.outcome,
        restores=manifest.restores,
        entries=sum(manifest.sections.values()),
        shards=len(manifest.shards),
        rejected=manifest.rejected,
    )


def list_releases(before: Before) -> list[Past]:
    """The live release, first, and those before it that are kept."""
    if before.current is None or before.manifest is None:
        return []
    return [past_of(before.manifest, before.current.manifest), *(before.manifest.history or ())]


def _chain(state: Store, key: str | None) -> Iterator[Past]:
    """The releases before one of schema 1, newest first, by the chain of their manifests."""
    while key and (manifest := find_manifest(state, key)):
        yield past_of(manifest, key)
        key = manifest.previous


def write_intent(state: Store, intent: Intent) -> None:
    state.put(f"{RELEASES}{intent.release}/intent.json", to_json(intent), PRIVATE)


def write_manifest(state: Store, manifest: Manifest) -> str:
    """Store a manifest; gives its key. The key holds the content's digest: two attempts of one run can't mix theirs."""
    body = to_json(manifest)
    key = f"{RELEASES}{manifest.release}/manifest-{sha256(body).hexdigest()[:16]}.json"
    state.put(key, body, PRIVATE)
    return key


def commit(state: Store, before: Before, current: Current) -> str:
    """Swap `current.json`; gives its ETag. Raises ConflictError, naming the winner, where another run did it first."""
    try:
        body = to_json(current)
        return state.put(CURRENT, body, PRIVATE, if_match=before.etag, if_none_match=before.etag is None).etag
    except ConflictError:
        raise superseded(state, current.site, current.release) from None


@contextmanager
def unless_superseded(before: Before, site: str, release: str, state: Store) -> Iterator[None]:
    """Raises ConflictError for a TargetError of the block where another run has committed since `before` was read: what
    that has put or removed is why the target is not as it was."""
    try:
        yield
    except TargetError:
        found = state.head(CURRENT)
        if (found.etag if found else None) != before.etag:
            raise superseded(state, site, release) from None
        raise


def superseded(state: Store, site: str, release: str) -> ConflictError:
    """What the loser of a commit is told."""
    found = _read_current(state, site)
    return _given_up(found[0] if found else None, site, release)


def _given_up(winner: Current | None, site: str, release: str) -> ConflictError:
    gave_up = f"Release {release} of {site} was given up"
    if winner is None:
        return ConflictError(
            f"{gave_up}: {CURRENT} was removed from `state` while this run was at work, and nothing was overwritten."
            " Restore it, or make it anew with rebuild-state, and run again."
        )
    if winner.release == release:
        return ConflictError(
            f"{gave_up} by this attempt of its run: another attempt has published it (epoch {winner.epoch}), and its"
            " files were not overwritten. There is nothing left to do."
        )
    return ConflictError(
        f"{gave_up}: release {winner.release} (epoch {winner.epoch}) is live since another run committed while this one"
        " was at work, and its files were not overwritten. Run again if it lacks something."
    )


def is_projected(state: Store, current: Current) -> bool:
    """Whether the public files are known to be those of the live release. A damaged record knows nothing."""
    found = state.get(PROJECTED)
    if found is None:
        return False
    try:
        projected = from_json(Projected, found[0], PROJECTED)
    except TargetError:
        return False
    return (projected.epoch, projected.release) == (current.epoch, current.release)


def write_projected(state: Store, current: Current) -> None:
    """Of an epoch alone: an attempt that was overtaken can only say so of its own, which is not the live one."""
    state.put(PROJECTED, to_json(Projected(current.epoch, current.release)), PRIVATE)


def fence_of(run: Mapping[str, Any]) -> Fence | None:
    """The fence that a run's reference carries."""
    return Fence(**run["fence"]) if "fence" in run else None
