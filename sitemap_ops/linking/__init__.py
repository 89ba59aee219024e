"""hreflang clusters over the whole inventory, beyond memory: from what rows state to the links of each entry.

1. A page follows one statement: its own row's; of several rows' that of the row that survives among duplicates.
2. Statements are about one cluster if pages that follow the one and pages that follow the other name each other, and
   so on from there (`agreement`).
3. A page is a member of the cluster that its own statement is a part of. A page that states nothing is a member of the
   cluster that names it, if it is one alone. Members have to be entries, apart from pages outside (`membership`).
4. A code is one page's: one that says so itself, then the smallest loc. A cluster of one page comes to nothing.
5. Every entry that is a member gets the links of all members, itself included (`fragments`).

So all lists of a cluster are the same, and an entry is in one cluster at most: A lists B exactly if B lists A (G-52).
None of it depends on the order of rows or on how they came in chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.linking.agreement import agree
from sitemap_ops.linking.claims import Claims, members_in, write_members
from sitemap_ops.linking.fragments import FRAGMENT, write_fragments
from sitemap_ops.linking.membership import memberships
from sitemap_ops.linking.tally import Tally
from sitemap_ops.ordering import run_locs

__all__ = ["FRAGMENT", "Linked", "attach", "link", "write_members"]

PART_ROWS = 1 << 17
"""Members that are joined in memory at once, on average."""

MAX_PARTS = 1024
_CLUSTER_PARTS = 8
"""How many times fewer parts clusters have than pages: the same members stated in several chunks are one by then, and
each part becomes a file."""


@dataclass(frozen=True)
class Linked:
    """The links of all entries that have some.

    files: FRAGMENT (loc, and alternates: ready XML), each sorted by loc; a loc is in one of them. entries: how many
    that are; bytes: of all alternates. counts, examples: what was dropped, by code of ALTERNATE_NOTES.
    """

    files: tuple[Path, ...]
    entries: int
    bytes: int
    counts: Counter[str]
    examples: dict[str, list[str]]


def link(members: Sequence[tuple[int, Path]], runs: Sequence[Path], folder: Path) -> Linked:
    """The links of a site's entries.

    members: (section's place in the site file, file of `write_members`). runs: all runs of entries; of each the column
    `loc`, in any order, with duplicates or without. folder: where Linked's files go, and meanwhile what does not fit
    into memory: some 30 bytes a member and the locs of what is named.
    """
    parts = 1
    while parts < MAX_PARTS and parts * PART_ROWS < members_in(members):
        parts *= 2
    tally = Tally()
    with TemporaryDirectory(prefix="linking-", dir=folder) as name, ExitStack() as opened:
        spills = Path(name)
        stated = Claims(members, spills, parts, opened)
        stated.name_entries(chain.from_iterable(map(run_locs, runs)))
        claims, follows = agree(stated, spills, opened)
        by_cluster = memberships(claims, follows, stated.texts, spills, max(1, parts // _CLUSTER_PARTS), tally)
        opened.enter_context(by_cluster)
        written = list(write_fragments(by_cluster, stated.codes, folder, tally))
    return Linked(
        tuple(path for path, _, _ in written),
        sum(entries for _, entries, _ in written),
        sum(size for _, _, size in written),
        tally.counts,
        tally.examples(stated.codes, [path for _, path in members]),
    )


def attach(locs: pa.Array, fragments: Sequence[pa.Table]) -> pa.Array:
    """The alternates (string, null for none) of each loc, from rows of Linked's files that hold all that these have."""
    with_links = [table for table in fragments if table.num_rows]
    if not with_links:
        return pa.nulls(len(locs), pa.string())
    together = pa.concat_tables(with_links).combine_chunks()
    return together["alternates"].chunk(0).take(pc.index_in(locs, together["loc"].chunk(0)))
