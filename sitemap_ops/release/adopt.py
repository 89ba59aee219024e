"""A target that another program's index is in already: what becomes of it has to be said before the first release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from sitemap_ops.errors import TargetError, UsageError
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.examine import Listed, content_of, examine
from sitemap_ops.release.history import Before, commit, read_before, write_manifest, write_projected
from sitemap_ops.release.index import key_of, listed_by
from sitemap_ops.release.manifest import Current, IndexRecord, Manifest, Unlisted
from sitemap_ops.release.sets import Indexes, ReleaseSet
from sitemap_ops.storage import Store, Stored

Mode = Literal["keep", "list", "replace"]

USUAL_NAMES = tuple(
    f"{name}{extension}" for name in ("sitemap", "sitemap_index", "sitemap-index") for extension in (".xml", ".xml.gz")
)
"""Where an index is looked for, besides the site's own: what the common programs call theirs."""


@dataclass(frozen=True)
class Adopted:
    """What was found and agreed: the old indexes, the files they list, and those that lie elsewhere or are missing."""

    mode: Mode
    indexes: tuple[str, ...]
    files: tuple[str, ...]
    left_out: tuple[str, ...]


def check_target_is_ours(
    found: Mapping[str, Stored | None], indexes: Indexes, before: Before, target: Store, state: Store
) -> None:
    """Raises TargetError where another program's index is in the target, and nothing was said of it.

    found: what is at each of the release's indexes. Before the first release the usual names are looked at as well.
    """
    manifest = before.manifest
    ours = _own_names(manifest) if manifest else set()
    for key, there in found.items():
        if there and key not in ours and there.sha256 != indexes.files[key].sha256:
            raise _not_ours(key, target, state)
    if manifest is None:
        for key in _find_indexes(target, set(USUAL_NAMES) - found.keys()):
            raise _not_ours(key, target, state)


def _own_names(manifest: Manifest) -> set[str]:
    indexes = {index.key for index in manifest.indexes}
    return indexes | {file.key for file in manifest.unlisted} | {*manifest.gone}


def lasting_guests(manifest: Manifest | None, files_url: str, target: Store) -> tuple[str, ...]:
    """The other program's files that are still listed: those in the target only as long as they are there."""

    def lasts(url: str) -> bool:
        key = key_of(files_url, url)
        return key is None or target.head(key) is not None

    return tuple(url for url in manifest.guests if lasts(url)) if manifest else ()


def adopt(
    *,
    mode: Mode,
    site: str,
    files_url: str,
    main: ReleaseSet,
    release: str,
    run_id: str,
    as_of: str,
    target: Store,
    state: Store,
) -> Adopted:
    """Record in `state` what becomes of the index that is in the target; nothing public changes before the next build.

    keep: it stays as it is, beside the site's own. list: the site's index takes its place and lists its files too, for
    as long as they are there; nothing is done to them. replace: the site's index takes its place; its files are listed
    until the first release is there, and are removed after the grace period. After `list`, `replace` retires the files.

    Raises UsageError where there is nothing to adopt, or the mode is not possible.
    """
    before = read_before(state, site)
    bodies = Bodies(state)
    if before.manifest:
        adopted, manifest = _retire(before, before.manifest, mode, files_url, target, state)
    else:
        assert main.index
        names = _find_indexes(target, {main.index, *USUAL_NAMES}, always=main.index)
        if not names:
            raise UsageError(f"{target.uri} has no index that could be adopted: run a build.")
        adopted, manifest = _agree(mode, site, files_url, main, names, as_of, target, bodies)
    manifest = replace(manifest, release=release, run_id=run_id, as_of=as_of, epoch=before.epoch + 1)
    current = Current(site, manifest.epoch, release, write_manifest(state, manifest), manifest.indexes)
    commit(state, before, current)
    write_projected(state, current)
    return adopted


def _agree(
    mode: Mode,
    site: str,
    files_url: str,
    main: ReleaseSet,
    names: Mapping[str, bytes],
    as_of: str,
    target: Store,
    bodies: Bodies,
) -> tuple[Adopted, Manifest]:
    own = main.index
    assert own
    if mode == "keep" and own in names:
        raise UsageError(
            f"{target.uri}{own} can't be kept: the site file gives its own index that name. Set `index` to another"
            " name and adopt again, or adopt with --list or --replace."
        )
    listings = {name: listed_by(body) for name, body in names.items()}
    if mode == "list" and listings.get(own, []) is None:
        raise UsageError(
            f"{target.uri}{own} is no index, so that its files could be listed: move it to another name, or adopt it"
            " with --replace."
        )
    urls = {url: lastmod for listing in listings.values() for url, lastmod in listing or ()}
    empty = Manifest(
        site=site,
        release="",
        run_id="",
        as_of=as_of,
        epoch=0,
        outcome="adopted",
        previous=None,
        shards=(),
        indexes=(),
        gone=(),
        unlisted=(),
        idle=(),
        sections={},
        rejected=None,
        history=(),
    )
    if mode == "keep":
        return Adopted(mode, tuple(names), (), ()), empty
    if own in names:
        body = names[own]
        digest = sha256(content_of(body) or body).hexdigest()
        bodies.keep(body, digest)
        empty = replace(empty, indexes=(IndexRecord(own, main.name, digest, len(body), main.max_files),))
    if mode == "list":
        guests = tuple(url for url in urls if urlsplit(url)[:2] == urlsplit(files_url)[:2])
        guests = lasting_guests(replace(empty, guests=guests), files_url, target)
        return Adopted(mode, tuple(names), guests, _others(urls, guests)), replace(empty, guests=guests)
    keys = {key: url for url in urls if (key := key_of(files_url, url)) and key not in names}
    listed = [Listed(key, main.name, "", urls[url]) for key, url in keys.items()]
    shards = tuple(record for record in examine(listed, target, bodies) if record)
    unlisted = tuple(
        Unlisted(name, as_of, 1, (sha256(content_of(body) or body).hexdigest(),))
        for name, body in names.items()
        if name != own
    )
    taken = tuple(keys[shard.key] for shard in shards)
    return (
        Adopted(mode, tuple(names), taken, _others(urls, taken)),
        replace(empty, shards=shards, unlisted=unlisted),
    )


def _retire(
    before: Before, manifest: Manifest, mode: Mode, files_url: str, target: Store, state: Store
) -> tuple[Adopted, Manifest]:
    """After `list`: the other program's files are not listed any more from the next build on, and removed later."""
    if mode != "replace" or not manifest.guests:
        raise UsageError(
            f"{state.uri} has releases of this site already, and there is nothing to adopt: its index is its own."
        )
    assert before.current
    keys = {key: url for url in manifest.guests if (key := key_of(files_url, url))}
    listed = [Listed(key, "", "", None) for key in keys]
    records = [record for record in examine(listed, target, Bodies(state)) if record]
    unlisted = [Unlisted(record.key, manifest.as_of, before.epoch + 1, (record.sha256,)) for record in records]
    taken = tuple(keys[record.key] for record in records)
    changed = replace(
        manifest,
        outcome="adopted",
        previous=before.current.manifest,
        guests=(),
        unlisted=(*manifest.unlisted, *unlisted),
        gone=(),
    )
    return Adopted(mode, (), taken, _others(manifest.guests, taken)), changed


def _find_indexes(target: Store, names: set[str], *, always: str | None = None) -> dict[str, bytes]:
    """The indexes among objects of these names, and whatever lies at `always`."""
    found = {}
    for name in sorted(names):
        got = target.get(name)
        if got and (name == always or listed_by(got[0]) is not None):
            found[name] = got[0]
    return found


def _others(urls: Mapping[str, object] | tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(url for url in urls if url not in taken)


def _not_ours(key: str, target: Store, state: Store) -> TargetError:
    return TargetError(
        f"{target.uri}{key} is there already, and {state.uri} knows no release of this site that made it: say what"
        " becomes of it with adopt (--keep, --list or --replace); or, if this site's earlier runs made it, point"
        " `state` to where they kept their releases, or make that anew with rebuild-state."
    )
