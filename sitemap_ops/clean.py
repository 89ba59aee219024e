"""One chunk of a section's rows into entries and rejects. What happened to every row is counted by a stable code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import arrow, column
from sitemap_ops.entries import (
    check_certain,
    fill_template,
    filtered,
    non_canonical,
    parse_changefreq,
    parse_lastmod,
    parse_priority,
)
from sitemap_ops.examples import examples_by_code, examples_of, printable
from sitemap_ops.extensions import alternates_of, extensions_of
from sitemap_ops.filesets import fragment_columns
from sitemap_ops.inventory.chunk import REJECT_SCHEMA, Chunk
from sitemap_ops.ordering import ENTRY_SCHEMA
from sitemap_ops.site import Section, Site
from sitemap_ops.tracking import FINGERPRINT, fingerprints
from sitemap_ops.urls import CHANGES, UrlPolicy, canonicalize, change_codes, count_changes


@dataclass(frozen=True)
class Cleaned:
    """What became of a chunk.

    entries: `entry_schema`. rejects: REJECT_SCHEMA. changed: rows by code of what was rewritten or is worth a look, of
    URLs and of optional values, and how often what of the source's container was repaired. examples: a few rows with
    their values for each code, of `changed` and of rejects. members: what the rows say of hreflang clusters
    (MEMBER_SCHEMA), None where the section names no alternates.
    """

    rows: int
    entries: pa.Table
    rejects: pa.Table
    changed: Counter[str]
    examples: dict[str, list[str]]
    members: pa.Table | None


def clean(chunk: Chunk, section: Section, policy: UrlPolicy, site: Site, as_of: datetime) -> Cleaned:
    """The chunk's entries and rejects (DESIGN 5); a bad optional value costs the tag, not the row."""
    rows = chunk.rows
    raw = _raw(rows, section)
    urls = canonicalize(raw, policy)
    reason = pc.coalesce(arrow(urls["reason"]).cast(pa.string()), *_unlisted(rows, urls["loc"], section, policy, as_of))
    accepted = pc.is_null(reason)
    lastmod = parse_lastmod(
        _values(rows, section.lastmod),
        timezone=section.lastmod_timezone,
        coarse_dates=site.coarse_dates,
        as_of=as_of,
    )
    changefreq = parse_changefreq(_values(rows, section.changefreq_column, constant=section.changefreq_constant))
    priority = parse_priority(_values(rows, section.priority_column, constant=section.priority_constant))
    values = {
        "loc": arrow(urls["loc"]),
        "lastmod": arrow(lastmod["lastmod"]),
        "instant": arrow(lastmod["instant"]),
        "changefreq": arrow(changefreq["changefreq"]),
        "priority": arrow(priority["priority"]),
    }
    if section.track:
        values[FINGERPRINT.name] = fingerprints(rows, section.track)
    extensions = list(extensions_of(rows, urls["loc"], section, site, policy, as_of))
    for extension, _ in extensions:
        values |= {str(name): arrow(fragments) for name, fragments in extension.columns.items()}
    schema = entry_schema(site)
    columns = [values.get(each.name, pa.nulls(len(rows), each.type)) for each in schema]
    entries = pa.table(columns, schema=schema)
    if accepted.false_count:
        entries = entries.filter(accepted)
    rejects = _rejects(_shown(raw, section, rows), reason, accepted, chunk)
    changes = pc.if_else(accepted, arrow(urls["changes"]), pa.scalar(0, pa.uint32()))
    changed = Counter(count_changes(column(changes))) + Counter(chunk.repaired)
    examples = {code: examples_of(found, raw) for code, found in _rows_by_change(changes)}
    examples |= _reject_examples(rejects)
    for name, notes in (
        (section.lastmod, lastmod["note"]),
        (section.changefreq_column, changefreq["note"]),
        (section.priority_column, priority["note"]),
    ):
        noted = pc.if_else(accepted, arrow(notes), pa.scalar(None, pa.string()))
        changed += _count(noted)
        if name is not None:
            examples |= examples_by_code(noted, rows[name])
    is_entry = accepted.to_numpy(zero_copy_only=False)
    for extension, name in extensions:
        for code, positions in extension.notes.items():
            if len(found := positions[is_entry[positions]]):
                changed[code] += len(found)
                examples.setdefault(code, examples_of(found, rows[name]))
    links = alternates_of(rows, urls["loc"], section, site, policy, accepted=accepted, instants=lastmod["instant"])
    if links is not None:
        changed += links.counts
        examples |= links.examples
    members = links.members if links is not None else None
    return Cleaned(len(rows) + len(chunk.rejects), entries, rejects, changed, examples, members)


def entry_schema(site: Site) -> pa.Schema:
    """ENTRY_SCHEMA and what this site's sections and sets need beside it; links come when all entries are known."""
    fragments = [pa.field(name, pa.string()) for name in fragment_columns(site) if name != "alternates"]
    tracked = [FINGERPRINT] if any(each.track for each in site.sections) else []
    return pa.schema([*ENTRY_SCHEMA, *fragments, *tracked])


def _raw(rows: pd.DataFrame, section: Section) -> pd.Series:
    """Each row's loc as its source says it."""
    if section.loc_is_template:
        return fill_template(section.loc, rows)
    check_certain(rows, section.loc)
    return rows[section.loc]


def _unlisted(
    rows: pd.DataFrame, locs: pd.Series, section: Section, policy: UrlPolicy, as_of: datetime
) -> Iterator[pa.Array]:
    """Reasons of what the inventory's own filter columns say (C-95), for the columns that the section names."""
    if section.status or section.robots or section.published:
        yield arrow(
            filtered(
                rows,
                as_of=as_of,
                status=section.status,
                robots=section.robots,
                published=section.published,
                timezone=section.lastmod_timezone,
            )
        )
    if section.canonical:
        stated = rows[section.canonical]
        yield arrow(non_canonical(locs, stated, canonicalize(stated, policy)["loc"]))


def _values(rows: pd.DataFrame, name: str | None, *, constant: str | None = None) -> pd.Series:
    """A source column, or the same value for every row."""
    if name is not None:
        return rows[name]
    return pd.Series(column(pa.repeat(pa.scalar(constant, pa.string()), len(rows))).array, index=rows.index)


def _shown(raw: pd.Series, section: Section, rows: pd.DataFrame) -> pd.Series:
    """What a reject shows: the loc as it came, or, where a template made none, the values that it was to be made of."""
    if not section.loc_is_template or not raw.isna().any():
        return raw
    unmade = raw.isna()
    values = rows.loc[unmade, list(dict.fromkeys(section.loc_columns))].astype(object)
    shown = raw.astype(object)
    shown[unmade] = [", ".join(f"{name}={value!r}" for name, value in row.items()) for row in values.to_dict("records")]
    return shown


def _rejects(raw: pd.Series, reason: pa.Array, accepted: pa.Array, chunk: Chunk) -> pa.Table:
    """The rows that are no entries, as REJECT_SCHEMA; a password in a URL is not carried along (U-04)."""
    refused = pc.invert(accepted)
    values = [printable(value) for value in raw[refused.to_numpy(zero_copy_only=False)]]
    rejected = pa.table(
        {
            "row": pa.array(chunk.rows.index.to_numpy()).filter(refused),
            "value": pa.array(values, pa.string()),
            "reason": reason.filter(refused),
        },
        schema=REJECT_SCHEMA,
    )
    by_reader = pa.Table.from_pandas(chunk.rejects, schema=REJECT_SCHEMA, preserve_index=False)
    # One chunk: pyarrow's CSV writer leaves rubbish where a table's first chunk is empty.
    return pa.concat_tables([rejected, by_reader]).combine_chunks()


def _reject_examples(rejects: pa.Table) -> dict[str, list[str]]:
    values = pd.Series(rejects["value"].to_pylist(), index=rejects["row"].to_pylist(), dtype=object)
    return examples_by_code(rejects["reason"].combine_chunks(), values)


def _rows_by_change(changes: pa.Array) -> Iterator[tuple[str, np.ndarray]]:
    """Each change's code with the positions of its rows."""
    bits = changes.to_numpy(zero_copy_only=False)
    changed = np.flatnonzero(bits)
    bits = bits[changed]
    for code in change_codes(int(np.bitwise_or.reduce(bits, initial=0))):
        yield code, changed[np.flatnonzero(bits & np.uint32(1 << CHANGES.index(code)))]


def _count(codes: pa.Array) -> Counter[str]:
    return Counter({str(item["values"]): item["counts"] for item in pc.value_counts(pc.drop_null(codes)).to_pylist()})
