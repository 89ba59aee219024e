"""Order all sections' entries, remove duplicates, cut shards and render them into the workspace."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import frame
from sitemap_ops.connections import Connections
from sitemap_ops.engines import Limits, common_limits
from sitemap_ops.errors import SourceError
from sitemap_ops.hashing import hash64
from sitemap_ops.ordering import KeyRange, distinct, key_ranges
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.publish import RenderedShard
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.xml import FOOTER, HEADER, render_entries
from sitemap_ops.sharding import Piece, Shard, Sharder
from sitemap_ops.site import Site
from sitemap_ops.steps.run import Progress, Run, no_progress, workspace_of
from sitemap_ops.workspace import Workspace

REJECTS = "rejects.csv.gz"
_REJECTS_HEADER = b"section,row,value,reason\n"


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
        shards, entries = _render(site, runs, workspace, lambda done: progress("assemble", done, staged))
        _collect_rejects(sections, workspace)
        result = {
            "sections": [_summary(part, entries[rank]) for rank, part in enumerate(sections)],
            "shards": [asdict(shard) for shard in shards],
            "duplicates": sum(part["duplicates"] for part in sections) + staged - entries.total(),
            "seconds": round(time.monotonic() - started, 3),
        }
        reference = workspace.write_json("assemble.json", result)
    return {**reference, "entries": entries.total(), "shards": len(shards)}


def _summary(part: dict[str, Any], entries: int) -> dict[str, Any]:
    kept = ("section", "rows", "rejected", "changed", "examples", "lastmod_uniform", "seconds")
    return {key: part[key] for key in kept} | {"entries": entries}


def _render(
    site: Site, runs: list[tuple[int, Any]], workspace: Workspace, progress: Any
) -> tuple[list[RenderedShard], Counter[int]]:
    """Every shard as a file of the workspace, and the entries of each section by its rank."""
    limits = common_limits(site.engines)
    entries: Counter[int] = Counter()
    done = 0

    def pieces() -> Iterator[tuple[int, Piece]]:
        nonlocal done
        for ordered in ordered_map(_order, key_ranges(runs)):
            for rank, piece in ordered:
                entries[rank] += len(piece)
                yield rank, piece
            done += sum(len(piece) for _, piece in ordered)
            progress(done)

    write = _Writer(site, workspace)
    return list(ordered_map(write, _shards(pieces(), len(site.sections), limits))), entries


def _order(range_: KeyRange) -> list[tuple[int, Piece]]:
    """One key range: its surviving entries as a rendered piece for each section that has some."""
    survivors = distinct(range_.rows, of_runs=True)
    section = survivors["section"]
    ranks = sorted(pc.unique(section).to_pylist())
    return [
        (rank, _piece(survivors.filter(pc.equal(section, rank)) if len(ranks) > 1 else survivors)) for rank in ranks
    ]


def _piece(entries: pa.Table) -> Piece:
    offsets, data = render_entries(frame(entries))
    return Piece(offsets, data, hash64(entries["loc"].combine_chunks()))


def _shards(pieces: Iterable[tuple[int, Piece]], sections: int, limits: Limits) -> Iterator[tuple[int, Shard]]:
    room = limits.max_bytes - len(HEADER) - len(FOOTER)
    sharders = [Sharder(limits.max_urls, room) for _ in range(sections)]
    for rank, piece in pieces:
        for shard in sharders[rank].add(piece):
            yield rank, shard
    for rank, sharder in enumerate(sharders):
        for shard in sharder.finish():
            yield rank, shard


@dataclass(frozen=True)
class _Writer:
    """Makes a shard's file."""

    site: Site
    workspace: Workspace

    def __call__(self, numbered: tuple[int, Shard]) -> RenderedShard:
        rank, shard = numbered
        section = self.site.sections[rank].name
        content = b"".join([HEADER, *(piece.data.data for piece in shard.pieces), FOOTER])
        digest = hashlib.sha256(content).hexdigest()
        body = compress(content)
        suffix = f"-{digest[:16]}" if self.site.names == "immutable" else ""
        key = f"{self.site.site}-{section}-{shard.key}{suffix}.xml.gz"
        with self.workspace.create(f"shards/{key}") as path:
            path.write_bytes(body)
        return RenderedShard(
            key=key,
            set="main",
            section=section,
            entries=shard.entries,
            xml_bytes=len(content),
            gzip_bytes=len(body),
            sha256=digest,
        )


def _collect_rejects(sections: list[dict[str, Any]], workspace: Workspace) -> None:
    """One file of all rejects; gzip members one after the other are one gzip file to every reader."""
    with workspace.create(REJECTS) as path, path.open("wb") as out:
        out.write(compress(_REJECTS_HEADER))
        for name in (name for part in sections for name in part["rejects"]):
            with workspace.fetch(name).open("rb") as source:
                shutil.copyfileobj(source, out)
