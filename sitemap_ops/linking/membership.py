"""Which pages are members of which cluster, under which codes (C-73, C-74)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.linking.arrays import changes, column_of, look_up
from sitemap_ops.linking.claims import CLAIM
from sitemap_ops.linking.spill import Spill
from sitemap_ops.linking.tally import Tally

MEMBER = pa.schema(
    [
        ("cluster", pa.uint64()),
        ("code", pa.int32()),
        ("times", pa.int64()),
        ("own", pa.bool_()),
        ("entry", pa.bool_()),
        ("page", pa.uint64()),
        ("loc", pa.string()),
    ]
)
"""A page of a cluster. own: a row of the page itself gives the code; entry: it is one, not a page outside."""

_CLAIMED = pa.schema([CLAIM.field(name) for name in ("page", "doubt", "cluster")])


@dataclass(frozen=True)
class _Names:
    """The pages of a part that can be members: page (ascending, each once), its loc, whether it is an entry."""

    page: np.ndarray
    locs: pa.Array
    entry: np.ndarray

    @classmethod
    def of(cls, texts: pa.Table) -> _Names:
        page, entry = column_of(texts, "page"), column_of(texts, "entry")
        order = np.lexsort((~entry, page))
        order = order[changes(page[order])]
        return cls(page[order], texts["loc"].combine_chunks().take(pa.array(order)), entry[order])


def memberships(claims: Spill, follows: Spill, texts: Spill, folder: Path, parts: int, tally: Tally) -> Spill:
    """The claims (CLAIM) that hold, as members (MEMBER, by cluster); what does not is told.

    A page of the site has to be an entry; one outside only if the inventory has a row for it. A page that follows a
    statement (FOLLOWS) is a member of that cluster alone. Another is a member of the one cluster that names it with the
    least doubt, and of none where several do; one outside, which lists nothing here, of all that name it.
    """
    members = Spill(MEMBER, "cluster", folder, parts)
    for part in range(claims.parts):
        judge = _Judge.of(texts.whole(part), follows.whole(part))
        for piece in claims.pieces(part):
            judge.look(piece)
        silent = judge.silent()
        for piece in claims.pieces(part):
            members.add(settle(judge.kept(piece, silent, tally), tally))
        judge.tell_codeless(tally)
    return members


class _Judge:
    """Judges the claims of one part."""

    def __init__(self, names: _Names, page: np.ndarray, cluster: np.ndarray) -> None:
        self._names = names
        self._page, self._cluster = page, cluster
        self._has_code = np.zeros(len(page), bool)
        self._claimed: list[pa.Table] = []

    @classmethod
    def of(cls, texts: pa.Table, follows: pa.Table) -> _Judge:
        page = column_of(follows, "page")
        order = np.argsort(page)
        return cls(_Names.of(texts), page[order], column_of(follows, "cluster")[order])

    def look(self, claims: pa.Table) -> None:
        """See which clusters name pages that follow no statement."""
        page = column_of(claims, "page")
        silent = self._known(page)[0] & ~look_up(self._page, self._cluster, page)[0]
        self._claimed.append(_outermost(claims.select(_CLAIMED.names).filter(pa.array(silent))))

    def silent(self) -> tuple[np.ndarray, np.ndarray]:
        """After all looks: the pages that follow no statement and are one cluster's, with that cluster."""
        table = _outermost(pa.concat_tables([_CLAIMED.empty_table(), *self._claimed]))
        page, doubt, cluster = (column_of(table, name) for name in table.column_names)
        first = changes(page)
        several = np.append(~changes(page, doubt), False)[1:]
        only = first & ~several
        return page[only], cluster[only]

    def kept(self, claims: pa.Table, silent: tuple[np.ndarray, np.ndarray], tally: Tally) -> pa.Table:
        page, cluster = column_of(claims, "page"), column_of(claims, "cluster")
        entry, at = self._known(page)
        follows, its = look_up(self._page, self._cluster, page)
        outside = column_of(claims, "outside") & ~entry & ~follows
        listed = entry | outside
        joins, joined = look_up(*silent, page)
        agreed = np.where(follows, its == cluster, outside | (joins & (joined == cluster)))
        times, code = column_of(claims, "times"), column_of(claims, "code")
        for note, dropped in (
            ("hreflang-not-listed", ~listed),
            ("hreflang-not-reciprocal", listed & ~agreed),
        ):
            tally.add(note, times[dropped], page[dropped], code[dropped])
        kept = listed & agreed
        known, own = look_up(self._page, np.arange(len(self._page)), page[kept])
        self._has_code[own[known]] = True
        columns = {name: claims[name].filter(pa.array(kept)) for name in ("cluster", "code", "times", "own", "page")}
        columns["entry"] = pa.array(entry[kept])
        columns["times"] = columns["times"].cast(pa.int64())
        columns["loc"] = self._names.locs.take(pa.array(at[kept]))
        return pa.table([columns[name] for name in MEMBER.names], schema=MEMBER)

    def tell_codeless(self, tally: Tally) -> None:
        """After all claims: entries that follow a cluster and have no code in it (G-51)."""
        entry, _ = self._known(self._page)
        pages = self._page[entry & ~self._has_code]
        tally.add("hreflang-no-self", np.ones(len(pages), np.int64), pages)

    def _known(self, page: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, at = look_up(self._names.page, np.arange(len(self._names.page)), page)
        return found & (self._names.entry[at] if len(self._names.entry) else False), at


def _outermost(claims: pa.Table) -> pa.Table:
    """Of each page's clusters with the same doubt the least and the greatest, in order."""
    page, doubt, cluster = (column_of(claims, name) for name in claims.column_names)
    order = np.lexsort((cluster, doubt, page))
    order = order[changes(page[order], doubt[order], cluster[order])]
    first = changes(page[order], doubt[order])
    last = np.append(first, True)[1:]
    return claims.take(pa.array(order[first | last]))


def settle(members: pa.Table, tally: Tally) -> pa.Table:
    """One row for a page's code in a cluster, and one page for a code (G-54).

    Of several pages one stays whose own row gives it the code, then the smallest loc.
    """
    cluster, code, page = (column_of(members, name) for name in ("cluster", "code", "page"))
    order = np.lexsort((page, code, cluster))
    starts = np.flatnonzero(changes(cluster[order], code[order], page[order]))
    if not len(starts):
        return members
    own = np.logical_or.reduceat(column_of(members, "own")[order], starts)
    times = np.add.reduceat(column_of(members, "times")[order], starts)
    order = order[starts]
    cluster, code = cluster[order], code[order]
    group = np.cumsum(changes(cluster, code))
    repeated = np.bincount(group)[group] > 1
    kept = np.ones(len(order), bool)
    if repeated.any():
        rivals = np.flatnonzero(repeated)
        by_loc = np.empty(len(rivals), np.int64)
        by_loc[pc.sort_indices(members["loc"].combine_chunks().take(pa.array(order[rivals])))] = np.arange(len(rivals))
        best = np.lexsort((by_loc, ~own[rivals], group[rivals]))
        kept[rivals] = False
        kept[rivals[best[changes(group[rivals][best])]]] = True
        lost = ~kept
        tally.add("hreflang-duplicate", times[lost], page[order][lost], code[lost])
    settled = members.take(pa.array(order[kept]))
    for name, values in (("own", own), ("times", times)):
        settled = settled.set_column(MEMBER.get_field_index(name), MEMBER.field(name), pa.array(values[kept]))
    return settled
