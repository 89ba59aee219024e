"""Read one section and clean it: its rows become sorted runs of entries in the workspace, its rejects files beside."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from sitemap_ops import inventory
from sitemap_ops.clean import clean
from sitemap_ops.connections import Connections
from sitemap_ops.entries import LastmodSpread
from sitemap_ops.examples import add_examples
from sitemap_ops.inventory.chunk import Chunk
from sitemap_ops.ordering import SECTION, distinct, write_run
from sitemap_ops.parallel import ordered_map
from sitemap_ops.site import Section, Site
from sitemap_ops.steps.rejects import by_reason, write_rejects
from sitemap_ops.steps.robots import robots_text
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.urls import UrlPolicy
from sitemap_ops.workspace import Workspace


@dataclass
class _Tally:
    """What became of the rows so far."""

    rows: int = 0
    entries: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    rejects: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)


def extract(
    site: Site,
    run: Run,
    section: str,
    connections: Connections,
    progress: Progress = no_progress,
    *,
    span: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Read and clean a section, or of it the span that `split` gave. Returns a reference with counts.

    Raises SourceError where the source can't be read to its end: then nothing of it counts.
    """
    started = time.monotonic()
    configured = site.section(section)
    # A section's own name has no dot.
    name = f"{section}.{span['number']}" if span else section
    with workspace_of(site, run, connections) as workspace:
        policy = policy_of(site, robots_text(site, connections))
        stage = _Stage(site, configured, name, policy, instant_of(run), workspace)
        of_key = inventory.Span.from_json(span) if span else None
        chunks = inventory.read(
            configured.source, configured.columns(), connections, urls=configured.url_columns, span=of_key
        )
        tally, spread = _Tally(), LastmodSpread()
        for staged in ordered_map(stage, enumerate(chunks)):
            _add(tally, staged)
            spread.update(staged.instants)
            progress(name, tally.rows, None)
        result = {
            "section": section,
            "span": span,
            **vars(tally),
            "spread": spread.to_json(),
            "seconds": round(time.monotonic() - started, 3),
        }
        reference = workspace.write_json(f"extract-{name}.json", result)
    counts = {"rows": tally.rows, "entries": tally.entries, "rejected": tally.rejected.total()}
    return {"section": section, **reference, **counts}


@dataclass(frozen=True)
class _Staged:
    rows: int
    entries: int
    duplicates: int
    changed: Counter[str]
    rejected: dict[str, int]
    examples: dict[str, list[str]]
    instants: pa.Array
    run: str | None
    rejects: str | None
    members: str | None


@dataclass(frozen=True)
class _Stage:
    """Cleans one chunk and leaves its sorted run and its rejects in the workspace."""

    site: Site
    section: Section
    name: str
    policy: UrlPolicy
    as_of: datetime
    workspace: Workspace

    def __call__(self, numbered: tuple[int, Chunk]) -> _Staged:
        number, chunk = numbered
        cleaned = clean(chunk, self.section, self.policy, self.site, self.as_of)
        alone = pa.array(np.zeros(cleaned.entries.num_rows, np.int32))
        entries = distinct(cleaned.entries.append_column(SECTION, alone)).drop_columns(SECTION.name)
        name = f"{self.name}-{number:06d}"
        run = self._write_run(entries, f"{name}.arrow")
        rejects = write_rejects(self.workspace, self.section, cleaned.rejects, f"{name}.rejects.csv.gz")
        return _Staged(
            cleaned.rows,
            entries.num_rows,
            cleaned.entries.num_rows - entries.num_rows,
            cleaned.changed,
            by_reason(cleaned.rejects),
            cleaned.examples,
            entries["instant"],
            run,
            rejects,
            self._write_members(cleaned.members, f"{name}.members.parquet"),
        )

    def _write_run(self, entries: pa.Table, name: str) -> str | None:
        if not entries.num_rows:
            return None
        with self.workspace.create(name) as path:
            write_run(entries, path)
        return name

    def _write_members(self, members: pa.Table | None, name: str) -> str | None:
        if members is None or not members.num_rows:
            return None
        from sitemap_ops.linking import write_members

        with self.workspace.create(name) as path:
            write_members(members, path)
        return name


def policy_of(site: Site, robots: str | None = None) -> UrlPolicy:
    """The site file's URL policy, and the text of the robots.txt that it names."""
    urls = site.urls
    return UrlPolicy(
        base=site.base_url,
        hosts=urls.hosts,
        charset=urls.charset,
        drop_params=urls.drop_params,
        trailing_slash=urls.trailing_slash,
        include=urls.include,
        exclude=urls.exclude,
        robots=robots,
    )


def _add(tally: _Tally, staged: _Staged) -> None:
    tally.rows += staged.rows
    tally.entries += staged.entries
    tally.duplicates += staged.duplicates
    tally.changed += staged.changed
    tally.runs += [staged.run] if staged.run else []
    tally.rejects += [staged.rejects] if staged.rejects else []
    tally.members += [staged.members] if staged.members else []
    for reason, count in staged.rejected.items():
        tally.rejected[reason] += count
    add_examples(tally.examples, staged.examples)
