"""What releases leave behind, so that it always has an owner: files that no index lists, bodies that only earlier
releases use, the keys of runs that never committed, and the releases that are kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.history import RELEASES, Before, past_of
from sitemap_ops.release.manifest import IdleBody, Intent, Manifest, Past, Unlisted, from_json
from sitemap_ops.release.plan import CONCURRENT_REQUESTS
from sitemap_ops.storage import Store
from sitemap_ops.storage.content import content_sha256

GRACE_DAYS = 30
"""How long a file that no index lists stays: crawlers may ask for it for weeks (PUB-08)."""


class Retention(Protocol):
    """What is kept: the last so many releases, and all of the last days."""

    @property
    def releases(self) -> int: ...
    @property
    def days(self) -> int: ...


@dataclass(frozen=True)
class Keep:
    """The retention of a site file that names none."""

    releases: int = 5
    days: int = 30


DEFAULT_RETENTION = Keep()


def kept_history(before: Before, release: str, as_of: str, retention: Retention) -> tuple[Past, ...]:
    """The releases that are kept besides a new one, newest first."""
    if before.current is None or before.manifest is None:
        return ()
    earlier = [past_of(before.manifest, before.current.manifest), *(before.manifest.history or ())]
    others = [past for past in earlier if past.release != release]
    return tuple(
        past
        for number, past in enumerate(others, 1)
        if number < retention.releases or not is_older(past.as_of, as_of, retention.days)
    )


def is_older(instant: str, as_of: str, days: int) -> bool:
    """Whether an instant is more than so many days before `as_of`."""
    return datetime.fromisoformat(as_of) - datetime.fromisoformat(instant) > timedelta(days=days)


def grace_of(retention: Retention) -> int:
    """The days that an unlisted file stays: at least as long as a release that may list it is kept for its age."""
    return max(GRACE_DAYS, retention.days)


def lost_intents(state: Store, before: Before, release: str) -> list[Intent]:
    """The intents of runs that never committed, and never will: they began no later than the live release."""
    if before.manifest is None:
        known = {release}
    else:
        known = {release, before.manifest.release, *(past.release for past in before.manifest.history or ())}
    folders = {each.key.split("/")[1] for each in state.list(RELEASES) if each.key.endswith("/intent.json")}
    return [intent for name in sorted(folders - known) if (intent := read_intent(state, name))]


def read_intent(state: Store, release: str) -> Intent | None:
    key = f"{RELEASES}{release}/intent.json"
    found = state.get(key)
    return from_json(Intent, found[0], f"{state.uri}{key}") if found else None


def unlisted_files(
    previous: Manifest | None,
    manifest: Manifest,
    spilled: Mapping[str, Collection[str]],
    lost: Iterable[Intent],
    grace: int,
    target: Store,
) -> tuple[Unlisted, ...]:
    """Every file that this site's runs put into the target, or may have, and that a new release does not list.

    Indexes that it removes are among them: a run that was overtaken may put one again. spilled: the digests of those
    that it makes for a while, by key. lost: the intents of runs that never committed. Files whose time has come are
    looked at: one that is gone, or that holds what no run put there, has no place here any more.
    """
    since, epoch = manifest.as_of, manifest.epoch
    digests: dict[str, set[str]] = defaultdict(set)
    sinces: dict[str, tuple[str, int]] = {}
    for file in previous.unlisted if previous else ():
        sinces[file.key] = file.since, file.epoch
        digests[file.key].update(file.digests)
    for key, made in spilled.items():
        sinces.setdefault(key, (since, epoch))
        digests[key].update(made)
    for key, sha256 in previous.contents.items() if previous else ():
        sinces.setdefault(key, (since, epoch))
        digests[key].add(sha256)
    for intent in lost:
        for key, sha256 in intent.files.items():
            if not is_index(key, intent.site):
                sinces.setdefault(key, (since, epoch))
                digests[key].add(sha256)
    files = [
        Unlisted(key, *sinces[key], tuple(sorted(digests[key] - {""})))
        for key in sorted(sinces.keys() - manifest.contents.keys())
    ]
    due = [file for file in files if is_older(file.since, since, grace)]
    ours = ordered_map(lambda file: _is_ours(file, target), due, workers=CONCURRENT_REQUESTS)
    over = {file.key for file, own in zip(due, ours, strict=True) if not own}
    return tuple(file for file in files if file.key not in over)


def idle_bodies(previous: Manifest | None, manifest: Manifest, present: Collection[str]) -> tuple[IdleBody, ...]:
    """The bodies in `state` (`present`, by digest) that a new release does not use, and since when that is so."""
    known: Mapping[str, IdleBody] = {body.sha256: body for body in previous.idle} if previous else {}
    return tuple(
        known.get(sha256, IdleBody(sha256, manifest.as_of, manifest.epoch))
        for sha256 in sorted(set(present) - set(manifest.contents.values()))
    )


def is_index(key: str, site: str) -> bool:
    """A run that did not commit has put no index; and an index's name is one that others may use too."""
    return not key.startswith(f"{site}-")


def _is_ours(file: Unlisted, target: Store) -> bool:
    """Whether the target holds the file, with a content that a run of this site put there."""
    found = target.head(file.key)
    if found is None:
        return False
    if not file.digests:
        return True
    sha256 = found.sha256
    if sha256 is None:
        got = target.get(file.key)
        sha256 = content_sha256([got[0]]) if got else None
    return sha256 in file.digests
