"""Columns of extensions for tests: rows in, fragments and notes out, and whole files of the fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import column
from sitemap_ops.entries import Extension, parse_images, parse_news, parse_videos
from sitemap_ops.render.xml import EXTENSIONS, FOOTER, header, prefixes_in, render_entries
from sitemap_ops.urls import UrlPolicy

HOME = "https://www.shop.example"
POLICY = UrlPolicy(base=f"{HOME}/")
AS_OF = datetime(2024, 6, 15, 12, tzinfo=UTC)


def series(values: Sequence[Any]) -> pd.Series:
    """Arrow-backed where Arrow can tell what the values are, else Python objects as they stand."""
    try:
        return column(pa.array(values))
    except (pa.ArrowException, UnicodeEncodeError, OverflowError):
        return pd.Series(list(values), dtype=object)


def table(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: series(values) for name, values in columns.items()})


def pages(rows: int) -> pd.Series:
    return column([f"{HOME}/p/{number}" for number in range(rows)], pa.string())


def notes(extension: Extension) -> dict[str, list[int]]:
    return {code: rows.tolist() for code, rows in extension.notes.items()}


def texts(fragments: pd.Series) -> list[str | None]:
    return [None if pd.isna(fragment) else fragment for fragment in fragments]


def images_of(rows: pd.DataFrame, spec: str | Mapping[str, str] = "images", policy: UrlPolicy = POLICY) -> Extension:
    return parse_images(rows, spec, policy, texts=True)


def videos_of(
    rows: pd.DataFrame, spec: str | Mapping[str, str] = "videos", *, timezone: str | None = None, old: bool = False
) -> Extension:
    return parse_videos(rows, spec, pages(len(rows)), POLICY, timezone=timezone, deprecated=old)


def news_of(rows: pd.DataFrame, *, timezone: str | None = None, **spec: str) -> Extension:
    named = {"name": "The Post", "language": "en", "title": "title", "published": "published"} | spec
    return parse_news(rows, named, timezone=timezone, as_of=AS_OF)


def file_of(*columns: pd.Series) -> bytes:
    """A whole sitemap of `pages` with these columns of fragments, named as in EXTENSIONS."""
    rows = len(columns[0])
    nothing = column(pa.nulls(rows, pa.string()))
    entries = pd.DataFrame({"loc": pages(rows)} | dict.fromkeys(("lastmod", "changefreq", "priority"), nothing))
    for fragments in columns:
        entries[fragments.name] = fragments.array
    _, data = render_entries(entries, [name for name in EXTENSIONS if name in entries])
    body = data.tobytes()
    return header(prefixes_in(body)) + body + FOOTER
