"""Tracked lastmod: when a page of a source without dates last changed, from what its tracked columns held before.

Each release keeps a fingerprint of every tracked page, sorted by loc, and the next one is joined with it by key range.
A page has no lastmod until a change was seen; from then on it is the `as_of` of that run (P-10: never a guess). Records
belong to their release: one that failed or was rolled back takes what it saw with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.entries.text import array_of, text_of
from sitemap_ops.hashing import hash64

FINGERPRINT = pa.field("fingerprint", pa.uint64())
"""An entry's tracked values, hashed; null where its section tracks none."""

ADDED = pa.field("added", pa.int64())
"""When an entry of a tracked section first came, in seconds since the epoch; null where nobody knows."""

TRACKED_SCHEMA = pa.schema([("loc", pa.string()), FINGERPRINT, ("basis", pa.uint64()), ADDED, ("changed", pa.int64())])
"""One tracked page of a release. basis: which columns were tracked. changed: of the last change seen, null for none."""


def fingerprints(rows: pd.DataFrame, columns: Sequence[str]) -> pa.Array:
    """One hash (uint64) for each row of what the columns hold; a null is not an empty text."""
    pieces: list[pa.Array] = []
    for name in columns:
        text = text_of(array_of(rows[name]))
        pieces += [pc.fill_null(pc.binary_length(text).cast(pa.string()), "-"), pc.fill_null(text, "")]
    return pa.array(hash64(pc.binary_join_element_wise(*pieces, ":")))


def basis(columns: Sequence[str]) -> int:
    """Which columns a section tracks, as a number: fingerprints of others can't be compared."""
    return int(hash64(pa.array(["\n".join(columns)]))[0])


def track(entries: pa.Table, before: pa.Table | None, bases: Sequence[int], as_of: int) -> tuple[pa.Table, pa.Table]:
    """The entries with the lastmod that tracking knows and the column ADDED; and their records for this release.

    entries: ENTRY_SCHEMA, `section` and FINGERPRINT. before: TRACKED_SCHEMA, each loc once; None on the first run that
    tracks, when nothing can be called new. bases: `basis` of each section by rank. as_of: seconds since the epoch. A
    lastmod that the source gives stays.
    """
    entries = entries.combine_chunks()
    tracked = pc.is_valid(entries[FINGERPRINT.name])
    based = pa.array(bases, pa.uint64()).take(entries["section"].combine_chunks())
    at = pc.index_in(entries["loc"], before["loc"].combine_chunks()) if before is not None else None
    old = before.take(at) if before is not None else TRACKED_SCHEMA.empty_table().take(pa.nulls(len(based), pa.int32()))
    known = pc.is_valid(old["loc"])
    comparable = pc.and_(known, pc.fill_null(pc.equal(old["basis"], based), False))
    differs = pc.and_(comparable, pc.fill_null(pc.not_equal(old["fingerprint"], entries["fingerprint"]), False))
    changed = pc.if_else(differs, as_of, old["changed"])
    fresh = pc.invert(known) if before is not None else pa.array([False] * len(based))
    added = pc.if_else(pc.and_(tracked, fresh), pa.scalar(as_of, pa.int64()), old["added"])
    records = pa.table([entries["loc"], entries["fingerprint"], based, added, changed], schema=TRACKED_SCHEMA).filter(
        tracked
    )
    seen = pc.and_(tracked, pc.and_(pc.is_null(entries["lastmod"]), pc.is_valid(changed)))
    return _dated(entries, seen, changed).append_column(ADDED, added), records


def _dated(entries: pa.Table, seen: pa.ChunkedArray, changed: pa.ChunkedArray) -> pa.Table:
    written = pc.strftime(changed.cast(pa.timestamp("s")), format="%Y-%m-%dT%H:%M:%SZ")
    for name, values in (("lastmod", written), ("instant", changed)):
        at = entries.schema.get_field_index(name)
        entries = entries.set_column(at, entries.schema.field(at), pc.if_else(seen, values, entries[name]))
    return entries
