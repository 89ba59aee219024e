"""What a site file says, as frozen models: the keys of DESIGN 4, their kinds and defaults.

Checks raise the faults of `faults`; `wording` turns them into sentences. A check that needs other keys is a validator
of the later field, so that several mistakes are reported together. Relative paths resolve against the folder in the
validation context (the site file's), or against the current folder where a `Site` is made in code.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Literal, Self

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
from sitemap_ops.site.section import Section
from sitemap_ops.site.settings import Audit, Engine, EngineSet, Fresh, Guards, Notify, Retention, UrlRules
from sitemap_ops.site.sources import SqlSource
from sitemap_ops.site.values import ConnId, Distribution, Flag, IndexName, Schedule, Slug, Some

Acl = Literal[
    "private", "public-read", "authenticated-read", "aws-exec-read", "bucket-owner-read", "bucket-owner-full-control"
]


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
