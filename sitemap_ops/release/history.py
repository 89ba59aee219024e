"""Reading and swapping the records in `state`: `current.json` is the one fence of a site (DESIGN 7)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.release.headers import PRIVATE
from sitemap_ops.release.manifest import Current, Intent, Manifest, from_json, to_json
from sitemap_ops.storage import Store

CURRENT = "current.json"


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


def read_before(state: Store, site: str) -> Before:
    """What is live, read at the start of a run: its commit holds only if nothing was committed since.

    Raises TargetError where the records are damaged, or are another site's.
    """
    found = state.get(CURRENT)
    if found is None:
        return Before()
    body, stored = found
    current = from_json(Current, body, f"{state.uri}{CURRENT}")
    if current.site != site:
        raise TargetError(
            f"{state.uri} holds the releases of the site {current.site!r}, not of {site!r}: give each site a `state`"
            " of its own, such as a folder below this one."
        )
    return Before(current, stored.etag, read_manifest(state, current.manifest))


def read_manifest(state: Store, key: str) -> Manifest:
    """The manifest at a key of `state`. Raises TargetError where there is none, or it is damaged."""
    found = state.get(key)
    if found is None:
        raise TargetError(
            f"{state.uri}{key} is missing, though {CURRENT} or a later release names it: restore it from a backup, or"
            f" move {CURRENT} away to publish as if for the first time."
        )
    return from_json(Manifest, found[0], f"{state.uri}{key}")


def write_intent(state: Store, intent: Intent) -> None:
    state.put(f"releases/{intent.release}/intent.json", to_json(intent), PRIVATE)


def write_manifest(state: Store, manifest: Manifest) -> str:
    """Store a manifest; gives its key. The key holds the content's digest: two attempts of one run can't mix theirs."""
    body = to_json(manifest)
    key = f"releases/{manifest.release}/manifest-{sha256(body).hexdigest()[:16]}.json"
    state.put(key, body, PRIVATE)
    return key


def commit(state: Store, before: Before, current: Current) -> str:
    """Swap `current.json`; gives its ETag. Raises ConflictError, naming the winner, where another run did it first."""
    try:
        body = to_json(current)
        return state.put(CURRENT, body, PRIVATE, if_match=before.etag, if_none_match=before.etag is None).etag
    except ConflictError:
        raise superseded(state, current) from None


def superseded(state: Store, current: Current) -> ConflictError:
    """What the loser of a commit is told."""
    winner = read_before(state, current.site).current
    won = f"release {winner.release} (epoch {winner.epoch})" if winner else "nothing, since current.json was removed,"
    return ConflictError(
        f"Release {current.release} of {current.site} was given up: {won} is live since another run committed while"
        " this one was at work, and its files were not overwritten. Run again if it lacks something."
    )
