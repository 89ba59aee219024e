"""Long tables, a page at a time: sorted, filtered and cut on the server, so that thousands of rows need no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sitemap_ops.release.manifest import ShardRecord

ROWS = 100

Row = TypeVar("Row")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a sorted table. `number` counts from 1; `sort` is a column's name, with a minus in front for down."""

    rows: Sequence[Row]
    number: int
    pages: int
    total: int
    sort: str

    def order_of(self, column: str) -> str | None:
        """The value of aria-sort for a column's heading; None where the table is not sorted by it."""
        return {column: "ascending", f"-{column}": "descending"}.get(self.sort)

    def sort_by(self, column: str) -> str:
        """What `sort` becomes when the heading is followed."""
        return f"-{column}" if self.sort == column else column


def page(
    rows: Iterable[Row], keys: Mapping[str, Callable[[Row], Any]], *, sort: str, number: int, first: str
) -> Page[Row]:
    """The page of that number, or the nearest one. A `sort` that names no column of `keys` is `first`."""
    if sort.removeprefix("-") not in keys:
        sort = first
    ordered = sorted(rows, key=keys[sort.removeprefix("-")], reverse=sort.startswith("-"))
    pages = max(1, -(-len(ordered) // ROWS))
    number = min(max(number, 1), pages)
    return Page(ordered[(number - 1) * ROWS : number * ROWS], number, pages, len(ordered), sort)


def matching(shards: Iterable[ShardRecord], wanted: str) -> list[ShardRecord]:
    """The files whose name or section has the text in it; of a URL, those whose range of URLs it falls into."""
    if wanted.startswith(("https://", "http://")):
        return [shard for shard in shards if shard.first_loc <= wanted <= shard.last_loc]
    return [shard for shard in shards if wanted in shard.key or wanted in shard.section]
