"""What rows state about alternates, as members: one row for each page that a statement names.

Rows that say the same about the same pages make one statement, whatever their order and however many they are: it is
known by a hash of its pages. 64 bits make the odds that two of 100 million are taken for one 1 in 3,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.hashing import hash64

MEMBER_SCHEMA = pa.schema(
    [
        ("statement", pa.uint64()),
        ("page", pa.uint64()),
        ("loc", pa.string()),
        ("code", pa.string()),
        ("times", pa.int32()),
        ("doubt", pa.uint8()),
        ("own", pa.bool_()),
        ("listed", pa.bool_()),
        ("outside", pa.bool_()),
        ("instant", pa.int64()),
    ]
)
"""A page that a statement names.

statement: hash of the set of its pages, the stating row's own among them, or of a cluster's name. page: `hash64` of
loc. code: null where the statement does not say it, which only its own page's can be. times: how many rows say this.
doubt: 0 where an entry says it that names itself too, 1 where it names only others, 2 where only rejected rows do.
own: a row of this very page makes the statement; listed: that row is an entry; instant: its lastmod in seconds.
outside: the page is not on the site's main origin.
A row without a usable loc makes statements too: its member has no loc, and the statement's hash for its page.
"""

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Stating:
    """The rows that may state something.

    locs: string, their canonical URLs, null where they have none. listed: bool, they are entries. instants: int64.
    home: what URLs of the site's main origin start with. has_loc (bool) and page (uint64, 0 for none) follow from locs.
    """

    locs: pa.Array
    listed: np.ndarray
    instants: pa.Array
    home: str
    has_loc: np.ndarray = field(init=False)
    page: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_loc", self.locs.is_valid().to_numpy(zero_copy_only=False))
        object.__setattr__(self, "page", hash64(self.locs))


@dataclass(frozen=True)
class Named:
    """Alternates: `row` names loc number `at` (into locs) under code number `code` (into codes); all int64."""

    row: np.ndarray
    at: np.ndarray
    code: np.ndarray
    locs: pa.Array
    codes: Sequence[str]


def by_lists(named: Named, stating: Stating) -> pa.Table:
    """Members of statements that are lists of pages; a list of less than two pages, the row's own too, says nothing."""
    pairs = _pairs(named, stating)
    if not len(pairs.row):
        return MEMBER_SCHEMA.empty_table()
    pairs = pairs.take(np.lexsort((pairs.code, pairs.page, pairs.row)))
    again = np.concatenate([[False], (np.diff(pairs.row) == 0) & (pairs.page[1:] == pairs.page[:-1])])
    said_again = np.concatenate([[False], again[1:] & (np.diff(pairs.code) == 0)])
    starts = np.flatnonzero(np.diff(pairs.row, prepend=-1))
    sizes = np.diff(starts, append=len(pairs.row))
    has_page = pairs.page > 0
    statement = np.add.reduceat(np.where(again, np.uint64(0), pairs.page), starts)
    pages = np.add.reduceat((has_page & ~again).astype(np.int64), starts)
    content = statement * _MIX + np.add.reduceat(pairs.page * _odd(named.codes)[pairs.code], starts)
    names_itself = np.add.reduceat((pairs.own & (pairs.code < 0)).astype(np.int64), starts) == 0
    times, doubt = _said(content, names_itself, stating.listed[pairs.row[starts]])
    statement, times, doubt, pages = (np.repeat(each, sizes) for each in (statement, times, doubt, pages))
    kept = (pairs.own | (times > 0)) & ~said_again & (pages > 1)
    pairs, statement = pairs.take(kept), statement[kept]
    return _members(
        stating,
        pairs.row,
        statement=statement,
        page=np.where(has_page[kept], pairs.page, statement),
        loc=pa.concat_arrays([named.locs, stating.locs]).take(pa.array(pairs.at)),
        code=pa.array(named.codes, pa.string()).take(pa.array(pairs.code, mask=pairs.code < 0)),
        times=times[kept],
        doubt=doubt[kept],
        own=pairs.own,
    )


def by_names(clusters: pa.Array, row: np.ndarray, code: pa.Array, stating: Stating) -> pa.Table:
    """Members of statements that are clusters' names: each row is one under its codes.

    clusters: string, of each row, null where it is in none. row (int64), code (string, null for none): the rows' codes.
    """
    member = clusters.is_valid().to_numpy(zero_copy_only=False) & stating.has_loc
    kept = member[row]
    row, code = row[kept], code.filter(pa.array(kept))
    return _members(
        stating,
        row,
        statement=hash64(pc.binary_join_element_wise("cluster ", clusters, ""))[row],
        page=stating.page[row],
        loc=stating.locs.take(pa.array(row)),
        code=code,
        times=np.ones(len(row), np.int32),
        doubt=np.where(stating.listed, 0, 2).astype(np.uint8)[row],
        own=np.ones(len(row), bool),
    )


@dataclass(frozen=True)
class _Pairs:
    """Rows (int64) name pages (uint64, 0 for one without a loc) under codes (int64, -1 for none).

    own: the page is the row's own. at: the place of its loc in named's, and behind these stating's.
    """

    row: np.ndarray
    page: np.ndarray
    code: np.ndarray
    own: np.ndarray
    at: np.ndarray

    def take(self, rows: np.ndarray) -> _Pairs:
        return _Pairs(self.row[rows], self.page[rows], self.code[rows], self.own[rows], self.at[rows])


def _pairs(named: Named, stating: Stating) -> _Pairs:
    """What rows that name other pages name, and their own pages, without a code where they don't name them."""
    page = hash64(named.locs)[named.at]
    own = (page == stating.page[named.row]) & stating.has_loc[named.row]
    states = np.zeros(len(stating.page), bool)
    states[named.row[~own]] = True
    unnamed = states.copy()
    unnamed[named.row[own]] = False
    kept, extra = states[named.row], np.flatnonzero(unnamed)
    return _Pairs(
        np.concatenate([named.row[kept], extra]),
        np.concatenate([page[kept], stating.page[extra]]),
        np.concatenate([named.code[kept], np.full(len(extra), -1)]),
        np.concatenate([own[kept], np.ones(len(extra), bool)]),
        np.concatenate([named.at[kept], len(named.locs) + extra]),
    )


def _said(content: np.ndarray, names_itself: np.ndarray, listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the first row that says something how many say the same, 0 for the others; and the statement's doubt."""
    _, first, same, counts = np.unique(content, return_index=True, return_inverse=True, return_counts=True)
    times = np.zeros(len(content), np.int32)
    times[first] = counts
    by_an_entry = np.bincount(same, listed)[same] > 0
    return times, np.where(by_an_entry, np.where(names_itself, 0, 1), 2).astype(np.uint8)


def _odd(codes: Sequence[str]) -> np.ndarray:
    """An odd number for each code, and 0 for none (-1)."""
    return np.append(hash64(pa.array(codes, pa.string())) | np.uint64(1), np.uint64(0))


def _members(stating: Stating, row: np.ndarray, **columns: np.ndarray | pa.Array) -> pa.Table:
    """The columns as MEMBER_SCHEMA; `row` is the stating row of each."""
    of_row = {
        "listed": stating.listed[row],
        "outside": pc.invert(pc.starts_with(columns["loc"], stating.home)).fill_null(False),
        "instant": stating.instants.take(pa.array(row)),
    }
    return pa.table(columns | of_row, schema=MEMBER_SCHEMA)
