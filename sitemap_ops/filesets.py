"""The file sets that one inventory becomes: the main set, text, one for each engine that has its own, news, fresh.

Sets are data: what a set's files may hold, which entries and extensions go into it, and what its index is called. All
are derived from the same surviving entries, so no set can know a URL that the others' rules have not passed (DESIGN 5).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.engines import PROFILES, Limits, Profile, common_limits, profile
from sitemap_ops.render.xml import EXTENSIONS
from sitemap_ops.site import Section, Site
from sitemap_ops.tracking import ADDED

MAIN = "main"
MAX_NEWS = 1_000
"""Articles in one file (G-42)."""

_SUFFIX = re.compile(rf"\.(?:({'|'.join([*PROFILES, 'news', 'fresh'])})\.xml|(txt))(?:\.gz)?$")
_OFTEN = ("always", "hourly", "daily")


@dataclass(frozen=True)
class FileSet:
    """One audience's files.

    index: the name of its first index, None where its reader takes none (BD-02). extensions: the fragment columns that
    its entries may carry. profile: the engine whose own content limits hold in it. days: only what is new or changed in
    so many days before the run; with `often`, also what says that it changes daily or more often (Y-11). news: only
    entries with a news fragment. schema_location: its files name their schemas (P-56).
    """

    name: str
    limits: Limits
    index: str | None
    format: Literal["xml", "txt"] = "xml"
    extensions: tuple[str, ...] = ()
    profile: Profile | None = None
    days: int | None = None
    often: bool = False
    news: bool = False
    schema_location: bool = False

    @property
    def windowed(self) -> bool:
        """Whether time alone makes entries leave it."""
        return self.news or self.days is not None

    @property
    def suffix(self) -> str:
        """What its files' names end in: no two sets can mean one object."""
        if self.format == "txt":
            return ".txt"
        return ".xml.gz" if self.name == MAIN else f".{self.name}.xml.gz"


def file_sets(site: Site) -> list[FileSet]:
    """All sets of a site, the main one (or text, where the site has no XML) first."""
    limits = common_limits(site.engines)
    read = {extension for name in site.engines for extension in profile(name).extensions}
    main = FileSet(
        MAIN,
        limits,
        site.index,
        extensions=_columns(site, read, texts=site.deprecated_tags),
        schema_location=site.schema_location,
    )
    sets = [main] if "xml" in site.formats else []
    if "txt" in site.formats:
        sets.append(FileSet("txt", limits, _index(site, "txt"), "txt"))
    sets += [_engine_set(site, one.engine, one.updated_days) for one in site.engine_sets]
    if any(section.news for section in site.sections):
        few = replace(limits, max_urls=min(limits.max_urls, MAX_NEWS))
        extensions = (*main.extensions, "news")
        sets.append(
            replace(main, name="news", limits=few, index=_index(site, "news"), extensions=extensions, news=True)
        )
    if site.fresh:
        sets.append(replace(main, name="fresh", index=_index(site, "fresh"), days=site.fresh.days))
    return sets


def set_of(name: str) -> str:
    """The set whose file has such a name or address (`FileSet.suffix`); the main one's where the name tells none."""
    match = _SUFFIX.search(name)
    return (match[1] or match[2]) if match else MAIN


def fragment_columns(site: Site) -> tuple[str, ...]:
    """The columns of ready fragments that the site's sets use, in the order of rendering."""
    used = {name for fileset in file_sets(site) for name in fileset.extensions}
    return tuple(name for name in EXTENSIONS if name in used)


def _engine_set(site: Site, engine: str, updated_days: int | None) -> FileSet:
    own = profile(engine)
    return FileSet(
        engine,
        common_limits([engine]),
        _index(site, engine) if own.index else None,
        extensions=_columns(site, own.extensions, texts=own.image_texts),
        profile=own,
        days=updated_days,
        often=updated_days is not None,
        schema_location=site.schema_location,
    )


def _columns(site: Site, prefixes: Collection[str], *, texts: bool) -> tuple[str, ...]:
    """The fragment columns that the site's sections fill and an audience reads; news go into a set of their own."""
    unwanted = "images" if texts else "image_texts"
    return tuple(
        name
        for name, prefix in EXTENSIONS.items()
        if name not in (unwanted, "news") and prefix in prefixes and any(_fills(each, name) for each in site.sections)
    )


def _fills(section: Section, name: str) -> bool:
    key = "images" if name == "image_texts" else name
    return getattr(section, key) is not None


def _index(site: Site, name: str) -> str:
    stem, dot, extension = site.index.partition(".xml")
    return f"{stem}-{name}{dot}{extension}"


def members(fileset: FileSet, entries: pa.Table, as_of: datetime) -> tuple[pa.Table, dict[str, int]]:
    """The entries that the set has, and how many its engine's limits keep out, by code.

    entries: ENTRY_SCHEMA, the site's fragment columns, and ADDED where it tracks. What is older than the set's window
    is not counted.
    """
    wanted = list(_conditions(fileset, entries, as_of))
    if wanted:
        entries = entries.filter(_all(wanted))
    kept_out: dict[str, int] = {}
    limits = list(_content_limits(fileset, entries))
    for code, fitting in limits:
        broken = entries.num_rows - (pc.sum(fitting).as_py() or 0)
        if broken:
            kept_out[code] = broken
    return (entries.filter(_all([fitting for _, fitting in limits])) if kept_out else entries), kept_out


def _conditions(fileset: FileSet, entries: pa.Table, as_of: datetime) -> Iterator[pa.ChunkedArray]:
    if fileset.news:
        yield pc.is_valid(entries["news"])
    if fileset.days is not None:
        since = int((as_of - timedelta(days=fileset.days)).timestamp())
        recent = pc.fill_null(pc.greater_equal(entries["instant"], since), False)
        if ADDED.name in entries.column_names:
            recent = pc.or_(recent, pc.fill_null(pc.greater_equal(entries[ADDED.name], since), False))
        if fileset.often:
            recent = pc.or_(recent, pc.is_in(entries["changefreq"], pa.array(_OFTEN)))
        yield recent


def _all(conditions: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    first, *others = conditions
    for other in others:
        first = pc.and_(first, other)
    return first


def _content_limits(fileset: FileSet, entries: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """The limits of the engine's own that some entry breaks: code, and whether each entry keeps it (Y-17, BD-03).

    A canonical loc is ASCII: its bytes are its characters.
    """
    own = fileset.profile
    if own is None:
        return
    size = pc.binary_length(entries["loc"])
    longest = pc.max(size).as_py() or 0
    if own.max_loc_bytes and longest > own.max_loc_bytes:
        yield f"{own.name}-loc-over-{own.max_loc_bytes}-bytes", pc.less_equal(size, own.max_loc_bytes)
    if own.max_path_chars and longest > own.max_path_chars:
        parts = pc.extract_regex(entries["loc"], r"^(?P<host>[a-z]+://[^/]*)(?P<path>.*)$")
        path = pc.binary_length(pc.struct_field(parts, "path"))
        host = pc.subtract(size, path)
        yield f"{own.name}-path-too-long", pc.less_equal(path, own.max_path_chars)
        yield f"{own.name}-host-too-long", pc.less_equal(host, own.max_host_chars)
