"""report.html: a release's report as one page for people. It fetches nothing, runs nothing, and prints.

Values of rejected rows are hostile input: every value passes Jinja's escaping, what can't be seen is shown as an
escape, and the page's own policy refuses scripts and every request.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
MAX_SHOWN = 300
"""Characters of a value that a page shows."""


def render_report(report: Mapping[str, Any]) -> str:
    """The page of a `report.json`, whose keys are those of `report.build`."""
    style = stylesheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment().get_template("report.html").render(report=report, style=Markup(style), style_digest=digest)  # noqa: S704


def compile_pages() -> None:
    """Compile the templates, which takes longer than to render them: for a time when there is something to wait for."""
    for name in environment().list_templates(extensions=["html"]):
        environment().get_template(name)


@cache
def stylesheet() -> str:
    """The style of all pages: this one carries it, the pages in Airflow link to it."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


@cache
def environment(*folders: Path) -> Environment:
    """Jinja with the pages' filters; `folders` have further templates."""
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(number=number, size=size, share=share, visible=visible, web_link=web_link, moment=moment)
    return made


def number(value: float) -> str:
    return f"{value:,}"


def size(value: float) -> str:
    """Bytes in decimal units, such as `1.2 MB`."""
    units = ("B", "kB", "MB", "GB", "TB")
    power = 0
    while value >= 999.5 and power < len(units) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g} {units[power]}"


def share(part: float, whole: float) -> str:
    """A percentage that never calls something nothing, nor nearly everything all."""
    if not whole or not part:
        return "0 %"
    percent = 100 * part / whole
    if percent < 0.1:
        return "< 0.1 %"
    return "> 99.9 %" if 99.9 < percent < 100 else f"{percent:.3g} %"


def visible(text: object) -> str:
    """Text on one line: what has no shape of its own, or turns the direction of writing, is shown as an escape."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)[: MAX_SHOWN + 1])
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…"


def web_link(url: str) -> str:
    """The URL where a browser may follow it, else nothing."""
    return url if url.startswith(("https://", "http://")) else ""


def moment(instant: str | datetime) -> str:
    """An instant as a person reads it: `2026-12-01 04:44 UTC`."""
    when = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
