"""Small inventories with alternates for tests: rows of sections, through parsing and linking to each entry's links."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sitemap_ops.columns import column, frame
from sitemap_ops.entries.alternates import Alternates, parse_alternates
from sitemap_ops.linking import Linked, attach, link, write_members
from sitemap_ops.ordering import write_run
from sitemap_ops.urls import UrlPolicy, canonicalize

BASE = "https://shop.example/"
FURTHER = "https://shop.example.de"
POLICY = UrlPolicy(base=BASE, hosts=(FURTHER,), exclude=("/cart/**",))
_LINK = re.compile(r'<xhtml:link rel="alternate" hreflang="([^"]*)" href="([^"]*)"/>')

Row = Mapping[str, Any]
Spec = str | Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """rows: column -> value; `loc` is the row's own URL, `rejected` (bool) and `instant` (int) may be there too."""

    spec: Spec
    rows: Sequence[Row]


@dataclass
class Result:
    """What linking gave: links of each entry as (code, href) in order; counts of parsing and of linking together."""

    links: dict[str, list[tuple[str, str]]]
    counts: Counter[str]
    examples: dict[str, list[str]]
    fragments: dict[str, str] = field(default_factory=dict)


def parsed(spec: Spec, rows: Sequence[Row], first: int = 1) -> tuple[Alternates, pa.Array]:
    """One chunk's alternates, and the locs of its entries. first: the number of its first row."""
    columns = dict.fromkeys([*(spec.values() if isinstance(spec, Mapping) else [spec])])
    data = frame(pa.table({name: pa.array([row.get(name) for row in rows]) for name in columns}))
    data.index = pd.RangeIndex(first, first + len(rows))
    locs = canonicalize(column(pa.array([row.get("loc") for row in rows], pa.string())), POLICY)["loc"]
    listed = [not row.get("rejected") and not pd.isna(loc) for row, loc in zip(rows, locs, strict=True)]
    accepted = pa.array(listed, pa.bool_())
    instants = column(pa.array([row.get("instant") for row in rows], pa.int64()))
    found = parse_alternates(data, spec, POLICY, locs, accepted=accepted, instants=instants)
    return found, pa.array(locs.array, from_pandas=True).filter(accepted)


def linked(*sections: Section, chunk: int = 1_000) -> Result:
    """The sections' entries with their links; chunk: rows that are parsed at a time."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        members: list[tuple[int, Path]] = []
        runs: list[Path] = []
        entries: set[str] = set()
        for rank, section in enumerate(sections):
            for start in range(0, len(section.rows), chunk):
                found, locs = parsed(section.spec, section.rows[start : start + chunk], start + 1)
                counts += found.counts
                examples |= found.examples
                members.append((rank, folder / f"members-{len(members)}.parquet"))
                runs.append(folder / f"run-{len(runs)}.parquet")
                write_members(found.members, members[-1][1])
                write_run(pa.table({"loc": locs}), runs[-1])
                entries.update(locs.to_pylist())
        made = link(members, runs, folder)
        return _result(made, sorted(entries), counts, examples)


def _result(made: Linked, entries: list[str], counts: Counter[str], examples: dict[str, list[str]]) -> Result:
    tables = [pq.read_table(path) for path in made.files]
    for table in tables:
        assert table["loc"].to_pylist() == sorted(table["loc"].to_pylist())
    alternates = attach(pa.array(entries, pa.string()), tables).to_pylist()
    fragments = {loc: text for loc, text in zip(entries, alternates, strict=True) if text is not None}
    assert len(fragments) == made.entries == sum(table.num_rows for table in tables)
    assert sum(map(len, fragments.values())) == made.bytes
    links = {loc: _LINK.findall(text) for loc, text in fragments.items()}
    assert all(_LINK.sub("", text) == "" for text in fragments.values())
    return Result(links, counts + made.counts, examples | made.examples, fragments)


def listed(pairs: Mapping[str, str] | Sequence[tuple[str, str]]) -> str:
    """The alternates of a row as `import` writes them."""
    return json.dumps(dict(pairs))
