"""How much a release changed: what a report says of the files, and where that is cheap of the entries too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sitemap_ops.errors import OutputError
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.complete import needed_body
from sitemap_ops.release.diff import diff
from sitemap_ops.release.manifest import Manifest, ShardRecord
from sitemap_ops.release.publish import PublishResult, RenderedShard
from sitemap_ops.storage import Store
from sitemap_ops.workspace import Workspace

MAX_COMPARED = 50
"""Shards that differ, up to which their entries are compared."""


def churn_of(
    result: PublishResult, live: Manifest | None, shards: Sequence[RenderedShard], workspace: Workspace, state: Store
) -> dict[str, Any]:
    """Shards rewritten, bytes uploaded, and how many entries of the first set were added, removed and changed.

    live: the release before. The entries are None before the first release, and where more than MAX_COMPARED differ.
    """
    plan = result.plan
    rewritten = plan.count("added") + plan.count("changed")
    churn: dict[str, Any] = {
        "shards_rewritten": rewritten,
        "bytes_uploaded": result.uploaded_bytes,
        "entries": None,
    }
    if live is None or not shards or rewritten + plan.count("removed") > MAX_COMPARED:
        return churn
    bodies = Bodies(state)

    def old(shard: ShardRecord) -> bytes:
        return needed_body(bodies, shard.key, shard.sha256, state)

    def new(shard: ShardRecord) -> bytes:
        return workspace.fetch(f"shards/{shard.key}").read_bytes()

    now = [shard.record(lastmod=None) for shard in shards]
    with suppress(OutputError):  # of a release that another program or an older version made
        counts = Counter(change.change for change in diff(live.shards, now, old, new, set_=shards[0].set))
        churn["entries"] = {change: counts[change] for change in ("added", "removed", "changed")}
    return churn
