"""The first URLs that came, went or changed between two releases: as many as a page can show, in bounded time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_ops.release.manifest import Manifest, ShardRecord
from sitemap_ops.report.archive import Archive

if TYPE_CHECKING:
    from sitemap_ops.release.diff import Change

MAX_CHANGES = 500
MAX_BODIES = 60
"""Files that are read for one page: each may hold 50,000 URLs of which one changed."""


@dataclass(frozen=True)
class UrlChanges:
    """The changes in the order of sections and URLs; `all` is False where there may be more of them."""

    changes: Sequence[Change]
    all: bool


class _EnoughError(Exception):
    """As many files were read as a page may."""


def url_changes(archive: Archive, old: Manifest, new: Manifest, set_: str) -> UrlChanges:
    """What differs in one file set. Raises TargetError or OutputError where a file's content can't be read."""
    from sitemap_ops.release.diff import diff  # Arrow: only who looks at URLs needs it

    read = 0

    def body(shard: ShardRecord) -> bytes:
        nonlocal read
        read += 1
        if read > MAX_BODIES:
            raise _EnoughError
        return archive.body(shard)

    changes: list[Change] = []
    try:
        changes.extend(islice(diff(old.shards, new.shards, body, body, set_=set_), MAX_CHANGES + 1))
    except _EnoughError:
        return UrlChanges(changes, all=False)
    return UrlChanges(changes[:MAX_CHANGES], all=len(changes) <= MAX_CHANGES)
