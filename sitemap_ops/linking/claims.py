"""What all sections state, read from their members files and divided by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitemap_ops.entries.statements import MEMBER_SCHEMA
from sitemap_ops.hashing import hash64
from sitemap_ops.linking.arrays import changes, column_of
from sitemap_ops.linking.spill import Spill

CLAIM = pa.schema(
    [
        ("page", pa.uint64()),
        ("cluster", pa.uint64()),
        ("code", pa.int32()),
        ("times", pa.int32()),
        ("doubt", pa.uint8()),
        ("own", pa.bool_()),
        ("outside", pa.bool_()),
    ]
)
"""A statement names a page under a code; `cluster` is the statement, and later what it is a part of."""

FOLLOWS = pa.schema([("page", pa.uint64()), ("cluster", pa.uint64())])
"""The one statement that a page's own rows make; each page once."""

TEXT = pa.schema([("page", pa.uint64()), ("loc", pa.string()), ("entry", pa.bool_())])
"""Pages by name: entries, and those outside that are named."""

_OWNER = pa.schema([*FOLLOWS, ("rank", pa.int32()), ("age", pa.int64())])
_ROW_GROUP = 131_072
_REJECTED = 1 << 30
_AGELESS = np.iinfo(np.int64).max
_MAX_SLOTS = 1 << 27


def write_members(members: pa.Table, path: Path) -> None:
    """A chunk's members (MEMBER_SCHEMA) as Parquet, for `link`."""
    pq.write_table(
        members, path, row_group_size=_ROW_GROUP, compression="zstd", use_dictionary=["code"], write_statistics=False
    )


class Claims:
    """All members of a run: claims, and owners of statements; `texts` names pages once entries have been added.

    codes: the codes of claims, by number. parts: how many parts each of its spills has.
    """

    def __init__(self, files: Sequence[tuple[int, Path]], folder: Path, parts: int, opened: ExitStack) -> None:
        """files: (section's place, path) of files of `write_members`."""
        self.parts = parts
        self.claims = opened.enter_context(Spill(CLAIM, "page", folder, parts))
        self.owners = opened.enter_context(Spill(_OWNER, "page", folder, parts))
        self.texts = opened.enter_context(Spill(TEXT, "page", folder, parts))
        self.codes: list[str] = []
        self._numbers: dict[str, int] = {}
        self._named = np.zeros(min(_MAX_SLOTS, 1 << (8 * members_in(files)).bit_length()), bool)
        for rank, path in files:
            with pq.ParquetFile(path, read_dictionary=["code"]) as file:
                for group in range(file.num_row_groups):
                    self._take(file, group, rank)

    def name_entries(self, locs: Iterable[pa.Array]) -> None:
        """locs: of all entries, in any order, repeated or not; those that no statement names are passed over."""
        for batch in locs:
            page = hash64(batch)
            named = pa.array(self._named[self._slots(page)])
            self.texts.add(_texts(pa.array(page).filter(named), batch.filter(named), entry=True))

    def _take(self, file: pq.ParquetFile, group: int, rank: int) -> None:
        columns = [name for name in MEMBER_SCHEMA.names if name != "loc"]
        rows = file.read_row_group(group, columns=columns).combine_chunks()
        page = column_of(rows, "page")
        self._named[self._slots(page)] = True
        code = rows["code"].combine_chunks()
        numbers = np.array([self._number(text) for text in code.dictionary.to_pylist()], np.int32)
        coded = rows.set_column(
            rows.schema.get_field_index("code"), "code", pa.array(numbers, pa.int32()).take(code.indices)
        )
        claims = coded.filter(code.is_valid()).rename_columns({"statement": "cluster"})
        self.claims.add(claims)
        self._own(rows.filter(rows["own"]), rank)
        if (outside := rows["outside"].combine_chunks()).true_count:
            locs = file.read_row_group(group, columns=["loc"])["loc"].filter(outside).combine_chunks()
            first = pa.array(np.unique(page[column_of(rows, "outside")], return_index=True)[1])
            self.texts.add(_texts(rows["page"].filter(outside).take(first), locs.take(first), entry=False))

    def _number(self, code: str) -> int:
        if code not in self._numbers:
            self._numbers[code] = len(self.codes)
            self.codes.append(code)
        return self._numbers[code]

    def _own(self, rows: pa.Table, rank: int) -> None:
        age = np.where(rows["instant"].is_valid().to_numpy(), -rows["instant"].fill_null(0).to_numpy(), _AGELESS)
        ranks = np.where(column_of(rows, "listed"), rank, rank + _REJECTED)
        self.owners.add(first_owners(column_of(rows, "page"), column_of(rows, "statement"), ranks, age))

    def _slots(self, page: np.ndarray) -> np.ndarray:
        return page & np.uint64(len(self._named) - 1)


def members_in(files: Sequence[tuple[int, Path]]) -> int:
    return sum(pq.read_metadata(path).num_rows for _, path in files)


def first_owners(page: np.ndarray, cluster: np.ndarray, rank: np.ndarray, age: np.ndarray) -> pa.Table:
    """Of each page's statements the one it follows, by page: as of duplicates the row that survives (DESIGN 5)."""
    order = np.lexsort((cluster, age, rank, page))
    order = order[changes(page[order])]
    columns = [page[order], cluster[order], rank[order].astype(np.int32), age[order]]
    return pa.table(columns, schema=_OWNER)


def _texts(pages: pa.Array, locs: pa.Array, *, entry: bool) -> pa.Table:
    return pa.table([pages, locs, pa.repeat(pa.scalar(entry), len(locs))], schema=TEXT)
