"""A report where people and programs find it: as JSON, and as a page of its own."""

from __future__ import annotations

import json
from typing import Any

from sitemap_ops.report.html import render_report
from sitemap_ops.storage import Headers, Store

_JSON = Headers("application/json", "no-store")
_HTML = Headers("text/html; charset=utf-8", "no-store")


def keep_report(report: dict[str, Any], folder: str, state: Store) -> None:
    """Store `report.json` and `report.html` below a folder of `state`, which ends in "/"."""
    state.put(f"{folder}report.json", json.dumps(report, indent=2, ensure_ascii=False).encode(), _JSON)
    state.put(f"{folder}report.html", render_report(report).encode(), _HTML)
