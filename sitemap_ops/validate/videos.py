"""Rules for <video:video> (G-24 to G-32, Y-22)."""

from __future__ import annotations

import numpy as np

from sitemap_ops.reading.column import Column, characters
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.origins import Origin
from sitemap_ops.reading.record import Record
from sitemap_ops.validate import dates
from sitemap_ops.validate.groups import Groups
from sitemap_ops.validate.hosts import Origins
from sitemap_ops.validate.locs import judge_urls

REQUIRED = ("thumbnail_loc", "title", "description")
LOCATIONS = ("content_loc", "player_loc")
FLAGS = ("family_friendly", "requires_subscription", "live")
DATES = ("publication_date", "expiration_date")
DEPRECATED = ("category", "gallery_loc", "price", "tvshow")
"""Not read since 2022-08-06 (G-31)."""
KNOWN = {
    *REQUIRED, *LOCATIONS, *FLAGS, *DATES, *DEPRECATED,
    "duration", "rating", "view_count", "restriction", "platform", "uploader", "tag", "id", "content_segment_loc",
}  # fmt: skip
MAX_DESCRIPTION, MAX_TITLE, MAX_TAGS, MAX_UPLOADER, MAX_SECONDS = 2_048, 100, 32, 255, 28_800


def judge_videos(batch: Elements, record: Record, pages: Column, origins: Origins) -> None:
    """pages: the locs of the batch's entries, by which a video's own location is told from its page."""
    videos = Groups(batch, "video:video")
    if not len(videos):
        return
    record.add("yandex-video-ignored", line=int(videos.tags.line[0]), count=len(videos))
    _required(videos, record)
    page_of = dict(zip(pages.entry.tolist(), pages.text.to_pylist(), strict=True))
    _locations(videos, record, page_of)
    _uploader(videos, record, page_of, origins)
    _texts(videos, record)
    _numbers(videos, record)
    for name in DATES:
        column, _ = videos.child(name)
        record.add_rows("video-date", column, ~dates.is_w3c(column.text), f"A video's {name} is no W3C date.")
    for name in FLAGS:
        column, _ = videos.child(name)
        record.add_rows(
            "video-flag", column, ~column.matches("^(?:yes|no)$"), f"A video's {name} is neither yes nor no."
        )
    _relationship(videos, record, "restriction", r"^[A-Za-z]{2}(?: [A-Za-z]{2})*$")
    _relationship(videos, record, "platform", r"^(?:web|mobile|tv)(?: (?:web|mobile|tv)){0,2}$")
    _deprecated(videos, record)
    videos.report_unknown(KNOWN, record, "video-unknown-tag")


def _required(videos: Groups, record: Record) -> None:
    for name in REQUIRED:
        record.add_rows("video-missing-tag", videos.tags, videos.counts(name) == 0, f"A video has no {name}.")
    nowhere = (videos.counts("content_loc") == 0) & (videos.counts("player_loc") == 0)
    record.add_rows("video-missing-tag", videos.tags, nowhere, "A video has neither content_loc nor player_loc.")


def _locations(videos: Groups, record: Record, pages: dict[int, str]) -> None:
    for name in LOCATIONS:
        column, _ = videos.child(name)
        same = [
            pages.get(entry) == loc for entry, loc in zip(column.entry.tolist(), column.text.to_pylist(), strict=True)
        ]
        record.add_rows("video-loc-equals-page", column, np.array(same, bool))
    for name in (*LOCATIONS, "thumbnail_loc"):
        column, _ = videos.child(name)
        scheme = column.matches(r"(?i)^[a-z][a-z0-9+.-]*:") & ~column.matches("(?i)^(?:https?|ftp)://")
        record.add_rows("video-loc-scheme", column, scheme)
        judge_urls(column.where(~scheme & ~column.matches("(?i)^ftp://")), record, f"video:{name}")


def _texts(videos: Groups, record: Record) -> None:
    for name, limit, code in (
        ("description", MAX_DESCRIPTION, "video-description-too-long"),
        ("title", MAX_TITLE, "video-title-over-100"),
        ("uploader", MAX_UPLOADER, "video-uploader"),
    ):
        column, _ = videos.child(name)
        record.add_rows(code, column, characters(column.text) > limit)


def _uploader(videos: Groups, record: Record, pages: dict[int, str], origins: Origins) -> None:
    """G-27: the uploader's `info` is on the page's domain."""
    info = videos.attribute("uploader", "info")
    foreign = [
        bool(url) and not _same_domain(origins.of_url(url), origins.of_url(pages.get(entry, url)))
        for entry, url in zip(info.entry.tolist(), info.text.to_pylist(), strict=True)
    ]
    record.add_rows("video-uploader", info, np.array(foreign, bool), "An uploader's info is on another domain.")


def _same_domain(one: Origin | None, other: Origin | None) -> bool:
    hosts = [origin.host.removeprefix("www.") for origin in (one, other) if origin is not None]
    return len(hosts) == 2 and (f".{hosts[0]}".endswith(f".{hosts[1]}") or f".{hosts[1]}".endswith(f".{hosts[0]}"))


def _numbers(videos: Groups, record: Record) -> None:
    for name, form, low, high in (
        ("duration", r"^[0-9]{1,6}$", 1, MAX_SECONDS),
        ("rating", r"^[0-9](?:\.[0-9]+)?$", 0, 5),
        ("view_count", r"^[0-9]{1,15}$", 0, 10**15),
    ):
        column, _ = videos.child(name)
        record.add_rows(f"video-{name.replace('_', '-')}", column, ~_between(column, form, low, high))
    _, owners = videos.child("tag")
    record.add_rows("video-too-many-tags", videos.tags, np.bincount(owners, minlength=len(videos)) > MAX_TAGS)


def _between(column: Column, form: str, low: float, high: float) -> np.ndarray:
    """Which values are numbers of this form within the bounds."""
    good = column.matches(form)
    good[good] = [low <= float(value) <= high for value in column.where(good).text.to_pylist()]
    return good


def _relationship(videos: Groups, record: Record, name: str, form: str) -> None:
    """G-29: once, with relationship="allow" or "deny", and values of one form."""
    column, owners = videos.child(name)
    relationship = videos.attribute(name, "relationship")
    code = f"video-{name}"
    record.add_rows(code, column, ~column.matches(form))
    record.add_rows(
        code, relationship, ~relationship.matches("^(?:allow|deny)$"), f"A video's {name} has no relationship."
    )
    record.add_rows(
        code, videos.tags, np.bincount(owners, minlength=len(videos)) > 1, f"A video has several {name} tags."
    )


def _deprecated(videos: Groups, record: Record) -> None:
    for name in DEPRECATED:
        column, _ = videos.child(name)
        record.add_rows("deprecated-tag", column, np.ones(len(column), bool), f"Google no longer reads <video:{name}>.")
    for attribute in ("autoplay", "allow_embed"):
        column = videos.attribute("player_loc", attribute)
        said = f"Google no longer reads player_loc's {attribute}."
        record.add_rows("deprecated-tag", column, column.matches("."), said)
