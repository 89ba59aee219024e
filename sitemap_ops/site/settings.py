"""The parts of a site file that are about the whole site: URL rules, guards, sets, retention, who is told, audits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from sitemap_ops.site.part import Part
from sitemap_ops.site.values import (
    Charset,
    Concurrency,
    ConnId,
    Count,
    Flag,
    Origin,
    ParameterGlob,
    Positive,
    Schedule,
    Share,
    UrlPattern,
)

Engine = Literal["google", "bing", "yandex", "baidu", "naver", "seznam", "core", "legacy-2005"]


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
