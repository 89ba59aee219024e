"""From the rows of one key range to rendered pieces of every file set. Pure: a range's result depends on it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import frame
from sitemap_ops.filesets import FileSet, members
from sitemap_ops.hashing import hash64
from sitemap_ops.ordering import SECTION, distinct
from sitemap_ops.render.text import render_lines
from sitemap_ops.render.xml import render_entries
from sitemap_ops.sharding import Piece
from sitemap_ops.tracking import track

TRACKED, LINKS = "tracked", "links"
"""What may lie beside the rows: TRACKED_SCHEMA of the live release; loc and alternates, of locs in clusters."""

Beside = Mapping[str, Sequence[pa.Table]]
"""By name, a key range's part of each file of that name."""

_HASH = "hash"


@dataclass(frozen=True)
class SetPiece:
    """Consecutive entries of one section (its rank) in one file set (its place), rendered."""

    set_: int
    rank: int
    piece: Piece


@dataclass(frozen=True)
class Derived:
    """What one key range came to.

    entries: survivors by section's rank. kept_out: for each set what its limits keep out, by code. tracked:
    TRACKED_SCHEMA, None where the site tracks nothing.
    """

    entries: dict[int, int]
    kept_out: list[dict[str, int]]
    pieces: list[SetPiece]
    tracked: pa.Table | None


@dataclass(frozen=True)
class Derive:
    """Derives ranges. bases: what each section tracks (`tracking.basis`), empty where none does."""

    sets: Sequence[FileSet]
    as_of: datetime
    bases: Sequence[int] = ()

    def __call__(self, rows: pa.Table, beside: Beside) -> Derived:
        """rows: a key range's rows of all sections. beside: LINKS, where a set has links."""
        survivors, tracked = self._completed(distinct(rows), beside)
        kept_out: list[dict[str, int]] = []
        pieces: list[SetPiece] = []
        for place, fileset in enumerate(self.sets):
            entries = self._completed(_articles(rows), beside)[0] if fileset.news else survivors
            listed, left = members(fileset, entries, self.as_of)
            kept_out.append(left)
            pieces += [SetPiece(place, rank, _piece(fileset, part)) for rank, part in _by_section(listed)]
        return Derived({rank: part.num_rows for rank, part in _by_section(survivors)}, kept_out, pieces, tracked)

    def _completed(self, entries: pa.Table, beside: Beside) -> tuple[pa.Table, pa.Table | None]:
        """The entries with all that is known only now that they are one for each loc; and their records of tracking."""
        tracked = None
        if self.bases:
            before = next(iter(beside.get(TRACKED, ())), None)
            entries, tracked = track(entries, before, self.bases, int(self.as_of.timestamp()))
        if LINKS in beside:
            from sitemap_ops.linking import attach

            links = attach(entries["loc"].combine_chunks(), beside[LINKS])
            entries = entries.append_column("alternates", links)
        return entries.append_column(_HASH, pa.array(hash64(entries["loc"].combine_chunks()))), tracked


def _articles(rows: pa.Table) -> pa.Table:
    """The news sections' own rows: a page that another section names too is an article all the same (DESIGN 5)."""
    return distinct(rows.filter(pc.is_valid(rows["news"])))


def _by_section(entries: pa.Table) -> list[tuple[int, pa.Table]]:
    section = entries[SECTION.name]
    ranks = sorted(pc.unique(section).to_pylist())
    if len(ranks) == 1:
        return [(ranks[0], entries)]
    return [(rank, entries.filter(pc.equal(section, rank))) for rank in ranks]


def _piece(fileset: FileSet, entries: pa.Table) -> Piece:
    rows = frame(entries)
    offsets, data = render_lines(rows) if fileset.format == "txt" else render_entries(rows, fileset.extensions)
    return Piece(offsets, data, entries[_HASH].to_numpy())
