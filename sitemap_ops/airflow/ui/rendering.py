"""Pages from templates, and the few links that lead out of them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment

from sitemap_ops.airflow.plugin import PREFIX
from sitemap_ops.report.html import environment, number, size, stylesheet

FOLDER = Path(__file__).parent


def render(request: Request, template: str, **values: Any) -> str:
    """A page. `root` is where this app lies, `airflow` where Airflow does, both without a slash at the end."""
    root = request.scope.get("root_path", "")
    return _templates().get_template(template).render(root=root, airflow=root.removesuffix(PREFIX), **values)


@cache
def static_files() -> dict[str, tuple[str, str]]:
    """Style and script by name: media type and text."""
    script = (FOLDER / "static" / "app.js").read_text(encoding="utf-8")
    style = stylesheet() + (FOLDER / "static" / "app.css").read_text(encoding="utf-8")
    return {"app.css": ("text/css", style), "app.js": ("text/javascript", script)}


@cache
def _templates() -> Environment:
    made = environment(FOLDER / "templates")
    made.filters.update(ago=ago, segment=segment)
    made.globals.update(shown=_shown, version=_version())
    return made


def segment(text: str) -> str:
    """Text as one segment of a URL's path."""
    return quote(text, safe="")


def ago(instant: str | datetime, now: datetime | None = None) -> str:
    """How far an instant is from now, in its largest unit: `3 h ago`, `in 2 d`."""
    when = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if count := int(abs(seconds) // length):
            return f"{count} {unit} ago" if seconds > 0 else f"in {count} {unit}"
    return "now"


def _shown(value: int, unit: str) -> str:
    """A figure on a chart's scale."""
    return size(value) if unit == "bytes" else number(value)


def _version() -> str:
    """Of style and script: a browser keeps them until they change."""
    return hashlib.sha256("".join(text for _, text in static_files().values()).encode()).hexdigest()[:12]
