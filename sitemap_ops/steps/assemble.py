"""Order all sections' entries, remove duplicates, make every file set's shards and render them into the workspace."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.errors import SourceError
from sitemap_ops.filesets import FileSet, file_sets
from sitemap_ops.ordering import KeyRange, key_ranges
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.plan import RenderedShard
from sitemap_ops.render.gzip import compress
from sitemap_ops.site import Site
from sitemap_ops.steps.derive import Derive, Derived, SetPiece
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.steps.shards import SetShard, cut, shard_file
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
        sets = file_sets(site)
        made = _Made(Counter(), {each.name: Counter() for each in sets})
        pieces = _pieces(runs, sets, instant_of(run), made, lambda done: progress("assemble", done, staged))
        write = partial(_write, site, workspace)
        shards = list(ordered_map(write, cut(pieces, sets, len(sections))))
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


def _pieces(
    runs: list[tuple[int, Path]],
    sets: list[FileSet],
    as_of: datetime,
    made: _Made,
    progress: Callable[[int], None],
) -> Iterator[SetPiece]:
    derive = Derive(sets, as_of)

    def derived(key_range: KeyRange) -> Derived:
        return derive(key_range.rows, {})

    for range_ in ordered_map(derived, key_ranges(runs)):
        made.entries.update(range_.entries)
        for fileset, kept_out in zip(sets, range_.kept_out, strict=True):
            made.kept_out[fileset.name].update(kept_out)
        yield from range_.pieces
        progress(made.entries.total())


def _write(site: Site, workspace: Workspace, made: SetShard) -> RenderedShard:
    record, body = shard_file(site, made)
    with workspace.create(f"shards/{record.key}") as path:
        path.write_bytes(body)
    return record


def _collect_rejects(sections: list[dict[str, Any]], workspace: Workspace) -> None:
    """One file of all rejects; gzip members one after the other are one gzip file to every reader."""
    with workspace.create(REJECTS) as path, path.open("wb") as out:
        out.write(compress(_REJECTS_HEADER))
        for name in (name for part in sections for name in part["rejects"]):
            with workspace.fetch(name).open("rb") as source:
                shutil.copyfileobj(source, out)
