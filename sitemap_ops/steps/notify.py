"""Tell the search engines of a release, once it is public; whatever comes of it, the release stays what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.errors import SitemapOpsError, TargetError
from sitemap_ops.filesets import file_sets
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.complete import needed_body
from sitemap_ops.release.diff import diff
from sitemap_ops.release.history import RELEASES, find_manifest, read_before
from sitemap_ops.release.manifest import Manifest, ShardRecord
from sitemap_ops.site import Site
from sitemap_ops.storage import Headers, Store, open_store

HEADERS = Headers("application/json")


def notify(site: Site, release: str, connections: Connections) -> list[dict[str, Any]]:
    """Tell every channel that the site file's `notify` names of a release that was published.

    Returns a result for each (see `sitemap_ops.notify`); they are left beside the release's report as notify.json, too.
    Raises nothing.
    """
    if site.notify is None:
        return []
    from sitemap_ops.notify import notify as tell  # with it come the engines' clients
    from sitemap_ops.notify.outcome import Failed, failed

    try:
        target = open_store(site.target, connections, aws_conn_id=site.aws_conn_id, acl=site.acl)
        state = open_store(site.state, connections, aws_conn_id=site.aws_conn_id)
        manifest = _manifest(site, release, state)
    except Exception as error:
        said = error if isinstance(error, SitemapOpsError) else f"a fault of this program ({type(error).__name__})."
        return [failed("all", Failed(f"Nobody was told of {release}: {said}"))]
    results = tell(
        site,
        [site.files_url + index.key for index in manifest.indexes],
        lambda: changed_urls(site, manifest, state),
        connections,
        target,
        state,
        sets={site.files_url + index.key: index.set for index in manifest.indexes},
        entries=sum(manifest.sections.values()),
    )
    with suppress(Exception):  # the results are told anyhow
        body = json.dumps(results, indent=2, ensure_ascii=False).encode()
        state.put(f"{RELEASES}{release}/notify.json", body, HEADERS)
    return results


def changed_urls(site: Site, manifest: Manifest, state: Store) -> Iterator[str]:
    """The URLs that a release added, changed or removed; none for the first one, which is no change (IN-06)."""
    before = find_manifest(state, manifest.previous)
    if before is None:
        return
    bodies = Bodies(state)

    def body(shard: ShardRecord) -> bytes:
        return needed_body(bodies, shard.key, shard.sha256, state)

    for change in diff(before.shards, manifest.shards, body, body, set_=file_sets(site)[0].name):
        yield change.loc


def _manifest(site: Site, release: str, state: Store) -> Manifest:
    """The release's own, also where another one is live by now."""
    before = read_before(state, site.site)
    if before.manifest and before.manifest.release == release:
        return before.manifest
    past = (before.manifest.history or ()) if before.manifest else ()
    key = next((each.manifest for each in past if each.release == release), None)
    manifest = find_manifest(state, key)
    if manifest is None:
        raise TargetError(f"{state.uri} does not know that release any more: the next publish tells what is live then.")
    return manifest
