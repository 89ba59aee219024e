"""Removing what no kept release needs: old files from the target, old records and bodies from `state`.

Only the owner of the live release does it, after its projection, and only to what a manifest or an intent of this site
owns. A run that is overtaken while it removes puts back what the new release needs (`transaction`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.history import RELEASES, Owner, find_manifest
from sitemap_ops.release.left import Retention, grace_of, is_index, is_older, read_intent
from sitemap_ops.release.manifest import Intent, Manifest
from sitemap_ops.storage import Store

MAX_SHARE = 0.5
"""Of the files that are this site's, listed and unlisted: what one run may remove from the target (C-16)."""

TRACKED = "tracked/"
"""Where records of tracked pages lie in `state`, each under the epoch that it was made for."""

_BATCH = 1_000
_RUN_FOLDER = re.compile(r"(?:plans|stopped)/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}/")


@dataclass(frozen=True)
class Pruned:
    """The files removed from the target, and how many the allowed share has kept back for the next run."""

    keys: tuple[str, ...] = ()
    held_back: int = 0


NONE_PRUNED = Pruned()


def prune(manifest: Manifest, target: Store, owner: Owner, retention: Retention) -> Pruned:
    """Remove the files whose time has come, the oldest first."""
    grace = grace_of(retention)
    old = [file for file in manifest.unlisted if is_older(file.since, manifest.as_of, grace)]
    used = _used_before(owner.state, manifest, max((file.epoch for file in old), default=0)).keys if old else ()
    due = sorted((file for file in old if file.key not in used), key=lambda file: (file.since, file.key))
    owned = len(manifest.shards) + len(manifest.indexes) + len(manifest.unlisted)
    allowed = due[: max(1, int(owned * MAX_SHARE))]
    _delete(target, [file.key for file in allowed], owner)
    return Pruned(tuple(file.key for file in allowed), len(due) - len(allowed))


def sweep(manifest: Manifest, previous: Manifest | None, bodies: Bodies, owner: Owner, retention: Retention) -> None:
    """Remove from `state` the releases that are not kept, bodies that none of those kept uses, old plans and stops.

    previous: the release before, whose list of kept releases says which of the others had been committed.
    """
    state = owner.state
    _delete(state, _old_records(manifest, previous, owner), owner)
    _delete(state, _old_runs(manifest, state, retention), owner)
    _delete(state, _old_tracked(manifest, state), owner)
    old = [body for body in manifest.idle if is_older(body.since, manifest.as_of, retention.days)]
    if old:
        used = _used_before(state, manifest, max(body.epoch for body in old)).digests
        owner.check()
        bodies.delete([body.sha256 for body in old if body.sha256 not in used])


def _old_tracked(manifest: Manifest, state: Store) -> list[str]:
    """Records that no kept release names. Runs that are under way made theirs for a later epoch, or lose."""
    made = [each.key for each in state.list(TRACKED) if each.key < f"{TRACKED}{manifest.epoch + 1:08d}"]
    if set(made) <= {manifest.tracked}:
        return []
    kept = [find_manifest(state, past.manifest) for past in manifest.history or ()]
    used = {manifest.tracked, *(each.tracked for each in kept if each)}
    return [key for key in made if key not in used]


@dataclass(frozen=True)
class _Used:
    keys: frozenset[str]
    digests: frozenset[str]


def _used_before(state: Store, manifest: Manifest, epoch: int) -> _Used:
    """What the kept releases before an epoch list: only they can use what was given up in it."""
    keys: set[str] = set()
    digests: set[str] = set()
    for past in manifest.history or ():
        earlier = find_manifest(state, past.manifest) if past.epoch < epoch else None
        if earlier:
            keys.update(earlier.contents)
            digests.update(earlier.contents.values())
    return _Used(frozenset(keys), frozenset(digests))


def _old_records(manifest: Manifest, previous: Manifest | None, owner: Owner) -> Iterator[str]:
    """Folders of releases that are not kept, and manifests of kept ones that a repeated run has replaced."""
    kept = {past.release: past.manifest for past in manifest.history or ()}
    kept[manifest.release] = owner.current.manifest
    committed = {past.release for past in previous.history or ()} if previous else set()
    folders: dict[str, list[str]] = {}
    for each in owner.state.list(RELEASES):
        folders.setdefault(each.key.split("/")[1], []).append(each.key)
    for release, keys in folders.items():
        if release in kept:
            yield from (key for key in keys if "/manifest-" in key and key != kept[release])
        elif release in committed or _is_settled(manifest, read_intent(owner.state, release)):
            yield from sorted(keys, key=lambda key: key.endswith("/intent.json"))  # it says whose the others are


def _is_settled(manifest: Manifest, intent: Intent | None) -> bool:
    """Whether a run that has not committed can't do so any more, and all that it may have put has an owner."""
    if intent is None:
        return True
    known = manifest.contents.keys() | {file.key for file in manifest.unlisted}
    return intent.epoch < manifest.epoch and all(key in known or is_index(key, intent.site) for key in intent.files)


def _old_runs(manifest: Manifest, state: Store, retention: Retention) -> Iterator[str]:
    """Plans, and what guards stopped: kept as releases are, the last few and all of the last days."""
    for prefix in ("plans/", "stopped/"):
        folders: dict[str, list[str]] = {}
        for each in state.list(prefix):
            if match := _RUN_FOLDER.match(each.key):
                folders.setdefault(match[0], []).append(each.key)
        for number, (folder, keys) in enumerate(sorted(folders.items(), reverse=True), 1):
            if number > retention.releases and is_older(_instant(folder), manifest.as_of, retention.days):
                yield from keys


def _instant(folder: str) -> str:
    match = _RUN_FOLDER.match(folder)
    assert match
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}+00:00"


def _delete(store: Store, keys: Iterable[str], owner: Owner) -> None:
    """In batches, each only as long as this run is the owner."""
    left = iter(keys)
    while batch := list(islice(left, _BATCH)):
        owner.check()
        store.delete(batch)
