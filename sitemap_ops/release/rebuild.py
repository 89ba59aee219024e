"""A lost `state` made anew from the target: its indexes say which files are live, the files what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256

from sitemap_ops.errors import TargetError, UsageError
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.examine import Listed, content_of, examine
from sitemap_ops.release.history import Before, commit, read_before, write_manifest, write_projected
from sitemap_ops.release.index import key_of, listed_by, numbered
from sitemap_ops.release.manifest import Current, IndexRecord, Manifest, ShardRecord
from sitemap_ops.release.sets import ReleaseSet
from sitemap_ops.storage import Store


def rebuild(
    *,
    site: str,
    files_url: str,
    sets: Sequence[ReleaseSet],
    sections: Collection[str],
    release: str,
    run_id: str,
    as_of: str,
    target: Store,
    state: Store,
) -> Manifest:
    """Make a release of what the target holds, so that the next build uploads nothing where the content is the same.

    Nothing public changes. A file that no index lists is nobody's from now on, since nothing says who put it there.
    Raises UsageError where `state` has a release, TargetError where an index lists what is not there or not whole.
    """
    if read_before(state, site).current:
        raise UsageError(f"{state.uri} has releases of {site}: there is nothing to rebuild.")
    bodies = Bodies.listed(state)
    indexes: list[IndexRecord] = []
    listed: list[Listed] = []
    guests: list[str] = []
    for each in sets:
        for name, body in _indexes_of(each, target):
            entries = listed_by(body)
            content = content_of(body)
            if entries is None or content is None:
                raise TargetError(f"{target.uri}{name} is no index: rebuild-state needs the one that this site had.")
            digest = sha256(content).hexdigest()
            bodies.keep(body, digest)
            indexes.append(IndexRecord(name, each.name, digest, len(body), each.max_files))
            for url, lastmod in entries:
                key = key_of(files_url, url)
                section = _section_of(key, site, sections) if key else None
                if key and section:
                    listed.append(Listed(key, each.name, section, lastmod))
                elif each is sets[0]:
                    guests.append(url)
    if not indexes:
        raise UsageError(f"{target.uri} has no index of this site: there is nothing to rebuild, run a build.")
    shards = _whole(listed, examine(listed, target, bodies), target)
    manifest = Manifest(
        site=site,
        release=release,
        run_id=run_id,
        as_of=as_of,
        epoch=1,
        outcome="rebuilt",
        previous=None,
        shards=shards,
        indexes=tuple(indexes),
        gone=(),
        unlisted=(),
        idle=(),
        sections=_entries(shards, sets[0]),
        rejected=None,
        guests=tuple(guests),
        history=(),
    )
    current = Current(site, 1, release, write_manifest(state, manifest), manifest.indexes)
    commit(state, Before(), current)
    write_projected(state, current)
    return manifest


def _indexes_of(each: ReleaseSet, target: Store) -> list[tuple[str, bytes]]:
    """A set's indexes, by their numbers, up to the first that is not there."""
    found: list[tuple[str, bytes]] = []
    while each.index and (got := target.get(name := numbered(each.index, len(found) + 1))):
        found.append((name, got[0]))
    return found


def _section_of(key: str, site: str, sections: Collection[str]) -> str | None:
    """The section whose files are called like this; the longest name, where one starts like another."""
    matching = [section for section in sections if key.startswith(f"{site}-{section}-")]
    return max(matching, key=len, default=None)


def _whole(listed: Sequence[Listed], records: Sequence[ShardRecord | None], target: Store) -> tuple[ShardRecord, ...]:
    for file, record in zip(listed, records, strict=True):
        if record is None:
            raise TargetError(
                f"{target.uri}{file.key} is listed, but is missing or damaged, so that the live release can't be known:"
                " put it back, or remove the index and run a build."
            )
    return tuple(record for record in records if record)


def _entries(shards: Sequence[ShardRecord], main: ReleaseSet) -> dict[str, int]:
    entries: Counter[str] = Counter()
    for shard in shards:
        if shard.set == main.name:
            entries[shard.section] += shard.entries
    return dict(entries)
