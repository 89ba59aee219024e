"""The file sets of a release: one inventory's files for one audience, and the indexes that list them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sitemap_ops.errors import OutputError
from sitemap_ops.release.index import IndexFile, index_files
from sitemap_ops.release.manifest import IndexRecord, Manifest, ShardRecord

MAIN = "main"
MAX_FILES = 50_000


@dataclass(frozen=True)
class ReleaseSet:
    """One file set. Every shard whose `set` is `name` belongs to it.

    index: the name of its first index, further ones get -2, -3; None where no index lists its files, as with Baidu's
    text files. max_files: what one index may list. windowed: it holds what a window of time brings (news, fresh), so
    that guards take no offence when it shrinks. schema_location: its indexes name their schema (P-56).
    """

    name: str
    index: str | None
    max_files: int = MAX_FILES
    windowed: bool = False
    schema_location: bool = False


@dataclass(frozen=True)
class Indexes:
    """Every index of a release: what the manifest says of each, and the files themselves by key."""

    records: tuple[IndexRecord, ...]
    files: dict[str, IndexFile]


def set_indexes(
    sets: Sequence[ReleaseSet], files_url: str, shards: Sequence[ShardRecord], guests: Sequence[str] = ()
) -> Indexes:
    """Every index of a release, set by set: none for a set with nothing to list, or without an index (P-37).

    guests: URLs that the first set's indexes list besides, without lastmod: who makes those files dates them nowhere
    that could be relied on. Raises OutputError for a shard of no set, and where two files
    would have one name.
    """
    stray = {shard.set for shard in shards} - {each.name for each in sets}
    if stray:
        raise OutputError(f"A file of the set {min(stray)!r} has no set to belong to: this is a fault of the program.")
    found = [
        (each, index)
        for number, each in enumerate(sets)
        if each.index
        for index in index_files(
            each.index,
            files_url,
            [shard for shard in shards if shard.set == each.name],
            each.max_files,
            guests=[] if number else [(url, None) for url in guests],
            schema_location=each.schema_location,
        )
    ]
    check_names([*(shard.key for shard in shards), *(index.key for _, index in found)])
    return Indexes(
        tuple(IndexRecord(i.key, each.name, i.sha256, len(i.body), each.max_files) for each, i in found),
        {index.key: index for _, index in found},
    )


def check_names(keys: Iterable[str]) -> None:
    """Raises OutputError where one release would have two files of one name."""
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        raise OutputError(f"Two files of one release are called {twice[0]}: this is a fault of the program.")


def left_behind(previous: Manifest | None, indexes: Sequence[IndexRecord]) -> tuple[str, ...]:
    """Indexes of the release before that nothing would keep up to date any more, and that are therefore removed.

    Those of a set that is gone or empty, and those beyond the last that a set needs now. Where a set's first index got
    another name the old ones stay for the grace period: robots.txt may still name them.
    """
    if previous is None:
        return ()
    keys = {index.key for index in indexes}
    same_name = {old.set for old in previous.indexes if old.key in keys}
    renamed = {index.set for index in indexes} - same_name
    return tuple(old.key for old in previous.indexes if old.key not in keys and old.set not in renamed)
