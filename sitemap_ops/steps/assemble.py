"""Order all sections' entries, remove duplicates, make every file set's shards and render them into the workspace."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import frame
from sitemap_ops.connections import Connections
from sitemap_ops.errors import SourceError
from sitemap_ops.filesets import FileSet, file_sets, members
from sitemap_ops.hashing import hash64
from sitemap_ops.ordering import SECTION, KeyRange, distinct, key_ranges
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.publish import RenderedShard
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.text import render_lines
from sitemap_ops.render.xml import EXTENSIONS, FOOTER, header, loc_of, prefixes_in, render_entries
from sitemap_ops.sharding import Piece, Shard, Sharder
from sitemap_ops.site import Site
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.workspace import Workspace

REJECTS = "rejects.csv.gz"
_REJECTS_HEADER = b"section,row,value,reason\n"
_HASH = "hash"


def assemble(
    site: Site, run: Run, parts: list[dict[str, Any]], connections: Connections, progress: Progress = no_progress
) -> dict[str, Any]:
    """All shards of the run, rendered, from what `extract` made of each section. Returns a reference with counts."""
    started = time.monotonic()
    with workspace_of(site, run, connections) as workspace:
        by_section = {part["section"]: workspace.read_json(part) for part in parts}
        missing = [section.name for section in site.sections if section.name not in by_section]
        if missing:
            raise SourceError(f"The section {missing[0]!r} was not read in this run: run its extract step again.")
        sections = [by_section[section.name] for section in site.sections]
        runs = [(rank, workspace.fetch(name)) for rank, part in enumerate(sections) for name in part["runs"]]
        staged = sum(part["entries"] for part in sections)
        sets = file_sets(site)
        made = _Made(Counter(), {each.name: Counter() for each in sets})
        pieces = _pieces(runs, sets, instant_of(run), made, lambda done: progress("assemble", done, staged))
        shards = list(ordered_map(_Writer(site, workspace), _shards(pieces, sets, len(sections))))
        _collect_rejects(sections, workspace)
        result = {
            "sections": [_summary(part, made.entries[rank]) for rank, part in enumerate(sections)],
            "sets": [{"set": name, "kept_out": dict(codes)} for name, codes in made.kept_out.items()],
            "shards": [asdict(shard) for shard in shards],
            "duplicates": sum(part["duplicates"] for part in sections) + staged - made.entries.total(),
            "seconds": round(time.monotonic() - started, 3),
        }
        reference = workspace.write_json("assemble.json", result)
    return {**reference, "entries": made.entries.total(), "shards": len(shards)}


def _summary(part: dict[str, Any], entries: int) -> dict[str, Any]:
    kept = ("section", "rows", "rejected", "changed", "examples", "lastmod_uniform", "seconds")
    return {key: part[key] for key in kept} | {"entries": entries}


@dataclass(frozen=True)
class _Made:
    """Counts, filled while entries stream: survivors by section's rank; by set, what its limits keep out, by code."""

    entries: Counter[int]
    kept_out: dict[str, Counter[str]]


@dataclass(frozen=True)
class _SetPiece:
    """Consecutive entries of one section in one file set, rendered."""

    set_: int
    rank: int
    piece: Piece


@dataclass(frozen=True)
class _Ordered:
    """What one key range came to."""

    entries: dict[int, int]
    kept_out: list[dict[str, int]]
    pieces: list[_SetPiece]


def _pieces(
    runs: list[tuple[int, Path]],
    sets: list[FileSet],
    as_of: datetime,
    made: _Made,
    progress: Callable[[int], None],
) -> Iterator[_SetPiece]:
    for ordered in ordered_map(_Order(sets, as_of), key_ranges(runs)):
        made.entries.update(ordered.entries)
        for fileset, kept_out in zip(sets, ordered.kept_out, strict=True):
            made.kept_out[fileset.name].update(kept_out)
        yield from ordered.pieces
        progress(made.entries.total())


@dataclass(frozen=True)
class _Order:
    """Orders one key range: its survivors, as rendered pieces for each set and section that has some."""

    sets: list[FileSet]
    as_of: datetime

    def __call__(self, key_range: KeyRange) -> _Ordered:
        survivors = _hashed(distinct(key_range.rows, of_runs=True))
        kept_out: list[dict[str, int]] = []
        pieces: list[_SetPiece] = []
        for number, fileset in enumerate(self.sets):
            entries = _hashed(_articles(key_range.rows)) if fileset.news else survivors
            listed, left = members(fileset, entries, self.as_of)
            kept_out.append(left)
            pieces += [_SetPiece(number, rank, _piece(fileset, of_section)) for rank, of_section in _by_section(listed)]
        return _Ordered({rank: part.num_rows for rank, part in _by_section(survivors)}, kept_out, pieces)


def _articles(rows: pa.Table) -> pa.Table:
    """The news sections' own rows: a page that another section names too is an article all the same (DESIGN 5)."""
    return distinct(rows.filter(pc.is_valid(rows["news"])), of_runs=True)


def _hashed(entries: pa.Table) -> pa.Table:
    return entries.append_column(_HASH, pa.array(hash64(entries["loc"].combine_chunks())))


def _by_section(entries: pa.Table) -> list[tuple[int, pa.Table]]:
    section = entries[SECTION.name]
    ranks = sorted(pc.unique(section).to_pylist())
    if len(ranks) == 1:
        return [(ranks[0], entries)]
    return [(rank, entries.filter(pc.equal(section, rank))) for rank in ranks]


def _piece(fileset: FileSet, entries: pa.Table) -> Piece:
    rows = frame(entries)
    if fileset.format == "txt":
        offsets, data = render_lines(rows)
    else:
        offsets, data = render_entries(rows, fileset.extensions)
    return Piece(offsets, data, entries[_HASH].to_numpy())


def _shards(pieces: Iterable[_SetPiece], sets: list[FileSet], sections: int) -> Iterator[tuple[FileSet, int, Shard]]:
    sharders = [[Sharder(each.limits.max_urls, _room(each)) for _ in range(sections)] for each in sets]
    for each in pieces:
        for shard in sharders[each.set_][each.rank].add(each.piece):
            yield sets[each.set_], each.rank, shard
    for fileset, of_set in zip(sets, sharders, strict=True):
        for rank, sharder in enumerate(of_set):
            for shard in sharder.finish():
                yield fileset, rank, shard


def _room(fileset: FileSet) -> int:
    """The bytes that a file's entries may take: what is around them counts too (P-31)."""
    if fileset.format == "txt":
        return fileset.limits.max_bytes
    prefixes = [EXTENSIONS[name] for name in fileset.extensions]
    return fileset.limits.max_bytes - len(header(prefixes, schema_location=fileset.schema_location)) - len(FOOTER)


@dataclass(frozen=True)
class _Writer:
    """Makes a shard's file."""

    site: Site
    workspace: Workspace

    def __call__(self, shard_of: tuple[FileSet, int, Shard]) -> RenderedShard:
        fileset, rank, shard = shard_of
        section = self.site.sections[rank].name
        content = _content(fileset, shard)
        digest = hashlib.sha256(content).hexdigest()
        body = content if fileset.format == "txt" else compress(content)
        named = f"-{digest[:16]}" if self.site.names == "immutable" and fileset.format == "xml" else ""
        key = f"{self.site.site}-{section}-{shard.key}{named}{fileset.suffix}"
        with self.workspace.create(f"shards/{key}") as path:
            path.write_bytes(body)
        return RenderedShard(
            key=key,
            set=fileset.name,
            section=section,
            entries=shard.entries,
            xml_bytes=len(content),
            gzip_bytes=len(body),
            sha256=digest,
            first_loc=_first_loc(shard),
            last_loc=_last_loc(shard),
        )


def _first_loc(shard: Shard) -> str:
    piece = shard.pieces[0]
    return loc_of(piece.data[: piece.offsets[1]].tobytes())


def _last_loc(shard: Shard) -> str:
    piece = shard.pieces[-1]
    return loc_of(piece.data[piece.offsets[-2] :].tobytes())


def _content(fileset: FileSet, shard: Shard) -> bytes:
    rendered = [piece.data.data for piece in shard.pieces]
    if fileset.format == "txt":
        return b"".join(rendered)
    if not fileset.extensions:
        return b"".join([header(schema_location=fileset.schema_location), *rendered, FOOTER])
    entries = b"".join(rendered)
    return b"".join([header(prefixes_in(entries), schema_location=fileset.schema_location), entries, FOOTER])


def _collect_rejects(sections: list[dict[str, Any]], workspace: Workspace) -> None:
    """One file of all rejects; gzip members one after the other are one gzip file to every reader."""
    with workspace.create(REJECTS) as path, path.open("wb") as out:
        out.write(compress(_REJECTS_HEADER))
        for name in (name for part in sections for name in part["rejects"]):
            with workspace.fetch(name).open("rb") as source:
                shutil.copyfileobj(source, out)
