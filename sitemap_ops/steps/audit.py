"""Audit the live site, and leave the report in `state`."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime

from sitemap_ops.audit import Audited
from sitemap_ops.audit import audit as look_at
from sitemap_ops.connections import Connections
from sitemap_ops.errors import TargetError
from sitemap_ops.release.history import read_before
from sitemap_ops.site import Audit, Site
from sitemap_ops.steps.run import Progress, no_progress, release_id
from sitemap_ops.storage import Headers, Store, open_store

HEADERS = Headers("application/json")
FOLDER = "audits/"
KEPT = 100
"""Reports that stay; their names begin with their time."""


def audit(
    site: Site,
    connections: Connections,
    *,
    run_id: str,
    as_of: datetime,
    asked: Audit | None = None,
    progress: Progress = no_progress,
) -> tuple[Audited, str]:
    """Look at every public index of the site, its files and a sample of its pages.

    Returns what was found, and the report's URI.

    asked: in place of the site file's `audit`, or of the defaults where it has none. The same run_id and instant
    overwrite their report. Raises UsageError for a site at a private address that was not allowed, TargetError where
    `state` can't be reached.
    """
    state = open_store(site.state, connections, aws_conn_id=site.aws_conn_id)
    indexes = live_indexes(site, state)
    audited = look_at(site, indexes, asked or site.audit or Audit(), now=as_of, progress=progress)
    key = f"{FOLDER}{release_id(site, run_id, as_of)}.json"
    state.put(key, json.dumps(audited.report, indent=2, ensure_ascii=False).encode(), HEADERS)
    with suppress(TargetError):  # an old report that stays spoils nothing
        state.delete(sorted(each.key for each in state.list(FOLDER))[:-KEPT])
    return audited, f"{state.uri}{key}"


def live_indexes(site: Site, state: Store) -> list[str]:
    """The URLs of the live release's indexes; of the main index where this program has published none yet."""
    current = read_before(state, site.site).current
    names = [index.key for index in current.indexes] if current else []
    return [site.files_url + name for name in names or [site.index]]
