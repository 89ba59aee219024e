"""What a site file says, as frozen models: the keys of DESIGN 4, their kinds and defaults.

Checks raise the faults of `faults`; `wording` turns them into sentences. A check that needs other keys is a validator
of the later field, so that several mistakes are reported together. Relative paths resolve against the folder in the
validation context (the site file's), or against the current folder where a `Site` is made in code.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from sitemap_ops.errors import UsageError
from sitemap_ops.site.faults import one_of, wrong
from sitemap_ops.site.part import Part
from sitemap_ops.site.places import (
    base_folder,
    files_folder,
    folder_uri,
    lies_in,
    origin_of,
    storage_folder,
    web_folder,
)
from sitemap_ops.site.robots import Robots
from sitemap_ops.site.sources import Source, SqlSource
from sitemap_ops.site.values import (
    CHANGEFREQS,
    Alternates,
    Changefreq,
    Charset,
    Column,
    Concurrency,
    ConnId,
    Count,
    Distribution,
    Flag,
    Images,
    IndexName,
    Lastmod,
    Loc,
    NewsLanguage,
    NewsName,
    Origin,
    ParameterGlob,
    Positive,
    Priority,
    Schedule,
    Share,
    Slug,
    Some,
    TimeZone,
    UrlPattern,
    Videos,
    placeholders,
)
from sitemap_ops.tags import news_column

Engine = Literal["google", "bing", "yandex", "baidu", "naver", "seznam", "core", "legacy-2005"]
Acl = Literal[
    "private", "public-read", "authenticated-read", "aws-exec-read", "bucket-owner-read", "bucket-owner-full-control"
]


class UrlRules(Part):
    """What a site adds to the URL policy of DESIGN 5; by default nothing."""

    charset: Charset = "utf-8"
    hosts: tuple[Origin, ...] = ()
    drop_params: tuple[ParameterGlob, ...] = ()
    trailing_slash: Literal["keep", "add", "remove"] = "keep"
    include: tuple[UrlPattern, ...] = ()
    exclude: tuple[UrlPattern, ...] = ()


class SectionGuards(Part):
    """What stops a publish because of one section; a guard that is not named is not set."""

    min_urls: Annotated[Count, Field(ge=0)] | None = None
    max_drop: Share | None = None
    max_rejected: Share | None = None


class Guards(SectionGuards):
    """What stops a publish, over all sections together.

    min_urls: entries at least. max_drop: the share of the last release's entries that may be gone. max_rejected: the
    share of the rows read that may be rejects.
    """

    min_urls: Annotated[Count, Field(ge=0)] | None = 1
    max_drop: Share | None = 0.2
    max_rejected: Share | None = 0.05


class Fresh(Part):
    """An extra file set with what is new or changed in the last days."""

    days: Annotated[Count, Field(ge=1)] = Field(description="the days an entry stays in the fresh set, such as 7")


class EngineSet(Part):
    """An engine that gets a set of its own.

    updated_days: only what is new or changed in so many days, or says that it changes daily or more often (Y-11).
    """

    engine: Engine = Field(description="the engine's name, such as yandex")
    updated_days: Annotated[Count, Field(ge=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"engine": data} if isinstance(data, str) else data


class Retention(Part):
    """What is kept of old releases: the last so many, and all of the last days."""

    releases: Annotated[Count, Field(ge=1)] = 5
    days: Annotated[Count, Field(ge=0)] = 30


class Notify(Part):
    """Who is told after a good publish; each value but `robots` is the connection that holds the credentials."""

    robots: Literal["print", "check", "publish"] | None = None
    indexnow: ConnId | None = None
    yandex: ConnId | None = None
    google: ConnId | None = None
    bing: ConnId | None = None


class Audit(Part):
    """How the live site is looked at: how many of its pages, at what pace, and when.

    sample: pages to ask for, 0 for none. seed: which ones. rate: requests a second. slow: seconds a page may take.
    allow_private: whether the site may be at an address that is not public.
    """

    sample: Annotated[Count, Field(ge=0)] = 1_000
    seed: Count = 1
    rate: Positive = 5.0
    concurrency: Concurrency = 4
    slow: Positive = 3.0
    allow_private: Flag = False
    schedule: Schedule | None = "@weekly"


class News(Part):
    """What makes a section a news section: the publication's name and language, and the columns of title and time.

    name, language: the same for all articles, or `{column}`.
    """

    name: NewsName = Field(description="the publication's name, or {column}")
    language: NewsLanguage = Field(description="the publication's language, such as en, or {column}")
    title: Column = Field(description="the column with each article's title")
    published: Column = Field(description="the column with each article's time of publication")

    def columns(self) -> tuple[str | None, ...]:
        """The columns that it names, None where a value is no column's."""
        return news_column(self.name), news_column(self.language), self.title, self.published


class Section(Part):
    """A named part of the inventory: where its rows come from, and which columns mean what."""

    name: Slug = Field(description="a short name such as products, used in file names")
    source: Source = Field(description="where the rows come from, such as {type: csv, path: pages.csv}")
    loc: Loc = "loc"
    lastmod: Lastmod | None = None
    lastmod_timezone: TimeZone | None = None
    changefreq: Changefreq | None = None
    priority: Priority | None = None
    """A number is the constant of all rows, text the name of a column."""
    alternates: Alternates | None = None
    images: Images | None = None
    videos: Videos | None = None
    news: News | None = None
    status: Column | None = None
    robots: Column | None = None
    canonical: Column | None = None
    published: Column | None = None
    guards: SectionGuards = SectionGuards()
    track: tuple[Column, ...] = ()

    @property
    def loc_is_template(self) -> bool:
        """Whether `loc` has `{column}` placeholders; else it is a column's name."""
        return bool(placeholders(self.loc))

    @property
    def changefreq_constant(self) -> str | None:
        return self.changefreq if self.changefreq in CHANGEFREQS else None

    @property
    def changefreq_column(self) -> str | None:
        return None if self.changefreq in CHANGEFREQS else self.changefreq

    @property
    def priority_constant(self) -> str | None:
        """The priority of all rows, as text such as `0.8`."""
        return str(self.priority) if isinstance(self.priority, float) else None

    @property
    def priority_column(self) -> str | None:
        return self.priority if isinstance(self.priority, str) else None

    def columns(self) -> tuple[str, ...]:
        """The source's columns that this section uses, each once, in the order of the section's keys.

        A SQL source's `key` is not among them: it is the reader's.
        """
        wanted: list[str | None] = list(placeholders(self.loc) or [self.loc])
        wanted += [self.lastmod, self.changefreq_column, self.priority_column]
        for group in (self.alternates, self.images, self.videos):
            wanted += group.values() if isinstance(group, dict) else [group]
        if self.news:
            wanted += self.news.columns()
        wanted += [self.status, self.robots, self.canonical, self.published, *self.track]
        return tuple(dict.fromkeys(column for column in wanted if column is not None))


class Site(Part):
    """One site: everything its file says, with defaults filled in and every path and address absolute.

    target, state, work: `s3://bucket/prefix/` or `file:///folder/`, ending in "/". base_url, files_url: canonical web
    addresses ending in "/".
    """

    site: Slug = Field(description="a short name such as shop, used in the DAG's id and in file names")
    base_url: str = Field(
        description="the address that relative locs resolve against, such as https://www.example.com/"
    )
    files_url: str = Field("", validate_default=True)
    target: str = Field(description="where the files are published, such as s3://shop-sitemaps/ or a folder's path")
    state: str = Field("", validate_default=True)
    work: str = Field("", validate_default=True)
    index: IndexName = "sitemap.xml"
    names: Literal["stable", "immutable"] = "stable"
    formats: Annotated[tuple[Literal["xml", "txt"], ...], Some] = ("xml",)
    engine: Literal["local", "spark"] = "local"
    aws_conn_id: ConnId | None = "aws_default"
    engines: Annotated[tuple[Engine, ...], Some] = ("google", "bing", "yandex")
    engine_sets: tuple[EngineSet, ...] = ()
    fresh: Fresh | None = None
    allow_empty: Flag = False
    allow_unsafe_store: Flag = False
    retention: Retention = Retention()
    coarse_dates: Literal["drop", "keep"] = "drop"
    schema_location: Flag = False
    deprecated_tags: Flag = False
    robots: Robots | None = None
    acl: Acl | None = None
    cloudfront: Distribution | None = None
    notify: Notify | None = None
    audit: Audit | None = None
    schedule: Schedule | None = "@daily"
    urls: UrlRules = UrlRules()
    guards: Guards = Guards()
    sections: Annotated[tuple[Section, ...], Some] = Field(
        description="the parts of the inventory, a list that starts with '- name: pages'"
    )

    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    @property
    def folder(self) -> Path:
        """The site file's folder."""
        return self._folder

    def section(self, name: str) -> Section:
        """The section of that name. Raises UsageError where there is none."""
        for section in self.sections:
            if section.name == name:
                return section
        raise UsageError(f"Site {self.site!r} has no section {name!r}: it has {one_of(s.name for s in self.sections)}.")

    @property
    def dag_id(self) -> str:
        return f"sitemaps__{self.site}"

    @property
    def audit_dag_id(self) -> str:
        return f"sitemap_audit__{self.site}"

    @property
    def cross_host(self) -> bool:
        """Whether the files lie on another scheme, host or port than the site: robots.txt has to prove it (P-47)."""
        return origin_of(self.files_url) != origin_of(self.base_url)

    @field_validator("base_url")
    @classmethod
    def _canonical_base(cls, value: str) -> str:
        return web_folder(value)

    @field_validator("files_url")
    @classmethod
    def _canonical_files_url(cls, value: str, info: ValidationInfo) -> str:
        return files_folder(value) if value else info.data.get("base_url", "")

    @field_validator("index")
    @classmethod
    def _no_shard_name(cls, value: str, info: ValidationInfo) -> str:
        site = info.data.get("site")
        if site and value.startswith(f"{site}-"):
            raise wrong(f"is {value!r}, and names that start with '{site}-' are the shards': write sitemap.xml.")
        return value

    @field_validator("engine_sets")
    @classmethod
    def _one_set_each(cls, value: tuple[EngineSet, ...]) -> tuple[EngineSet, ...]:
        names = [one.engine for one in value]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise wrong(f"names {name!r} twice: an engine has one set.", at=(position,))
        return value

    @field_validator("target")
    @classmethod
    def _target_place(cls, value: str, info: ValidationInfo) -> str:
        return storage_folder(value, base_folder(info))

    @field_validator("state")
    @classmethod
    def _state_place(cls, value: str, info: ValidationInfo) -> str:
        site, target = info.data.get("site"), info.data.get("target")
        if value:
            state = storage_folder(value, base_folder(info))
        elif target is None or site is None:
            return ""
        elif target.startswith("file:"):
            state = folder_uri(base_folder(info) / ".sitemap-ops" / site)
            if lies_in(state, target):
                raise wrong(
                    "is missing: its default place, .sitemap-ops beside the site file, lies in target: name another."
                )
        else:
            raise wrong(
                "is missing: a target on S3 needs a private place for releases, such as s3://shop-private/sitemap-ops/."
            )
        _keep_apart("state", state, "target", target)
        return state

    @field_validator("work")
    @classmethod
    def _work_place(cls, value: str, info: ValidationInfo) -> str:
        default = _cache_folder() / "sitemap-ops"
        work = storage_folder(value, base_folder(info)) if value else folder_uri(default)
        _keep_apart("work", work, "target", info.data.get("target"))
        _keep_apart("work", work, "state", info.data.get("state"))
        return work

    @field_validator("sections")
    @classmethod
    def _complete_sections(cls, value: tuple[Section, ...], info: ValidationInfo) -> tuple[Section, ...]:
        """Names differ; a source without an aws_conn_id of its own has the site's."""
        first: dict[str, int] = {}
        for position, section in enumerate(value):
            if first.setdefault(section.name, position) != position:
                raise wrong(
                    f"is {section.name!r}, as sections[{first[section.name]}].name is: give each section its own name.",
                    at=(position, "name"),
                )
        return tuple(_with_connection(section, info.data.get("aws_conn_id")) for section in value)

    @model_validator(mode="after")
    def _remember_folder(self, info: ValidationInfo) -> Self:
        self._folder = base_folder(info)
        return self


def _with_connection(section: Section, aws_conn_id: str | None) -> Section:
    source = section.source
    if isinstance(source, SqlSource) or "aws_conn_id" in source.model_fields_set:
        return section
    return section.model_copy(update={"source": source.model_copy(update={"aws_conn_id": aws_conn_id})})


def _keep_apart(key: str, place: str, other_key: str, other: str | None) -> None:
    if other and (lies_in(place, other) or lies_in(other, place)):
        relation = "is the same place as" if place == other else "lies in" if lies_in(place, other) else "holds"
        reason = (
            "target is public and state and work are private"
            if other_key == "target"
            else "work is cleared, state is kept"
        )
        raise wrong(f"{relation} {other_key}: {reason}, so give {key} a place apart.")


def _cache_folder() -> Path:
    """The user's cache folder (XDG Base Directory), or the system's temporary one for a user without a home."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return Path(tempfile.gettempdir())
