"""Order all sections' entries, remove duplicates, make every file set's shards and render them into the workspace."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sitemap_ops.connections import Connections
from sitemap_ops.filesets import file_sets, fragment_columns
from sitemap_ops.ordering import RANGE_ROWS, WIDE_RANGE_ROWS, KeyRange, key_ranges
from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.plan import RenderedShard
from sitemap_ops.site import Site
from sitemap_ops.steps.derive import LINKS, TRACKED, Derive, Derived, SetPiece
from sitemap_ops.steps.parts import read_sections
from sitemap_ops.steps.rejects import collect_rejects
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.steps.shards import SetShard, cut, shard_file
from sitemap_ops.steps.tracked import new_records, records_before, tracks
from sitemap_ops.tracking import basis
from sitemap_ops.workspace import Workspace

if TYPE_CHECKING:
    from sitemap_ops.linking import Linked


def assemble(
    site: Site, run: Run, parts: list[dict[str, Any]], connections: Connections, progress: Progress = no_progress
) -> dict[str, Any]:
    """All shards of the run, rendered, from what `extract` made of each part. Returns a reference with counts.

    Raises SourceError where the parts are not all rows of all sections, each once.
    """
    started = time.monotonic()
    with workspace_of(site, run, connections) as workspace:
        sections = read_sections(site, parts, workspace, instant_of(run))
        runs = _files(sections, "runs", workspace)
        staged = sum(part["entries"] for part in sections)
        sets = file_sets(site)
        made = _Made(Counter(), {each.name: Counter() for each in sets})
        write = partial(_write, site, workspace)
        with ExitStack() as opened:
            keep = opened.enter_context(new_records(workspace)) if tracks(site) else _no_records
            before = records_before(site, run, connections, workspace) if tracks(site) else []
            links = _linked(site, sections, runs, workspace, opened)
            beside = {TRACKED: before} if links is None else {TRACKED: before, LINKS: links.files}
            ranges = _derived(Derive(sets, instant_of(run), _bases(site)), runs, beside, _range_rows(site))
            pieces = _pieces(ranges, made, keep, lambda done: progress("assemble", done, staged))
            shards = list(ordered_map(write, cut(pieces, sets, len(sections))))
        collect_rejects((file for part in sections for file in part["rejects"]), workspace)
        result = {
            "sections": [section_summary(part, made.entries[rank]) for rank, part in enumerate(sections)],
            "sets": [{"set": name, "kept_out": dict(codes)} for name, codes in made.kept_out.items()],
            "links": {"entries": links.entries, "changed": links.counts, "examples": links.examples} if links else None,
            "shards": [asdict(shard) for shard in shards],
            "duplicates": sum(part["duplicates"] for part in sections) + staged - made.entries.total(),
            "seconds": round(time.monotonic() - started, 3),
        }
        reference = workspace.write_json("assemble.json", result)
    return {**reference, "entries": made.entries.total(), "shards": len(shards)}


def section_summary(part: dict[str, Any], entries: int) -> dict[str, Any]:
    kept = ("section", "rows", "rejected", "changed", "examples", "lastmod_uniform", "seconds")
    return {key: part[key] for key in kept} | {"entries": entries}


@dataclass(frozen=True)
class _Made:
    """Counts, filled while entries stream: survivors by section's rank; by set, what its limits keep out, by code.

    kept_out has all sets, in their order.
    """

    entries: Counter[int]
    kept_out: dict[str, Counter[str]]


def _files(sections: list[dict[str, Any]], kind: str, workspace: Workspace) -> list[tuple[int, Path]]:
    """Files that `extract` left, each with its section's rank."""
    return [(rank, workspace.fetch(name)) for rank, part in enumerate(sections) for name in part[kind]]


def _linked(
    site: Site, sections: list[dict[str, Any]], runs: list[tuple[int, Path]], workspace: Workspace, opened: ExitStack
) -> Linked | None:
    """The hreflang links of all entries; None where no file set has any."""
    if "alternates" not in fragment_columns(site):
        return None
    from sitemap_ops.linking import link

    folder = opened.enter_context(workspace.scratch())
    return link(_files(sections, "members", workspace), [path for _, path in runs], folder)


def _bases(site: Site) -> list[int]:
    return [basis(section.track) for section in site.sections] if tracks(site) else []


def _range_rows(site: Site) -> int:
    return WIDE_RANGE_ROWS if fragment_columns(site) else RANGE_ROWS


def _derived(
    derive: Derive, runs: list[tuple[int, Path]], beside: Mapping[str, Sequence[Path]], rows: int
) -> Iterator[Derived]:
    def derived(key_range: KeyRange) -> Derived:
        sides = iter(key_range.sides)
        return derive(key_range.rows, {name: list(islice(sides, len(files))) for name, files in beside.items()})

    return ordered_map(derived, key_ranges(runs, rows, sides=list(chain.from_iterable(beside.values()))))


def _pieces(
    ranges: Iterable[Derived], made: _Made, keep: Callable[[pa.Table], None], progress: Callable[[int], None]
) -> Iterator[SetPiece]:
    for derived in ranges:
        made.entries.update(derived.entries)
        for kept_out, of_range in zip(made.kept_out.values(), derived.kept_out, strict=True):
            kept_out.update(of_range)
        if derived.tracked is not None:
            keep(derived.tracked)
        yield from derived.pieces
        progress(made.entries.total())


def _no_records(_: pa.Table) -> None:
    pass


def _write(site: Site, workspace: Workspace, made: SetShard) -> RenderedShard:
    record, body = shard_file(site, made)
    with workspace.create(f"shards/{record.key}") as path:
        path.write_bytes(body)
    return record
