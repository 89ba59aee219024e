"""A section of a site file: a source, and which of its columns mean what."""

from __future__ import annotations

from pydantic import Field

from sitemap_ops.site.part import Part
from sitemap_ops.site.settings import SectionGuards
from sitemap_ops.site.sources import Source
from sitemap_ops.site.values import (
    CHANGEFREQS,
    Alternates,
    Changefreq,
    Column,
    Images,
    Lastmod,
    Loc,
    NewsLanguage,
    NewsName,
    Priority,
    Slug,
    TimeZone,
    Videos,
    placeholders,
)
from sitemap_ops.tags import news_column


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

    @property
    def loc_columns(self) -> tuple[str, ...]:
        """The columns that locs are made of."""
        return tuple(placeholders(self.loc) or [self.loc])

    @property
    def url_columns(self) -> tuple[str, ...]:
        """The columns whose values are URLs or parts of them, one a row."""
        alternates = self.alternates.values() if isinstance(self.alternates, dict) else ()
        return (*self.loc_columns, *alternates, *([self.canonical] if self.canonical else []))

    def columns(self) -> tuple[str, ...]:
        """The source's columns that this section uses, each once, in the order of the section's keys.

        A SQL source's `key` is not among them: it is the reader's.
        """
        wanted: list[str | None] = [*self.loc_columns]
        wanted += [self.lastmod, self.changefreq_column, self.priority_column]
        for group in (self.alternates, self.images, self.videos):
            wanted += group.values() if isinstance(group, dict) else [group]
        if self.news:
            wanted += self.news.columns()
        wanted += [self.status, self.robots, self.canonical, self.published, *self.track]
        return tuple(dict.fromkeys(column for column in wanted if column is not None))
