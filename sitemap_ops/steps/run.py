"""One run of a site: its id, its instant, its workspace."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.site import Site
from sitemap_ops.workspace import Workspace

Progress = Callable[[str, int, int | None], None]
"""Told what is being worked on, how much of it is done, and of how much (None: unknown)."""

Run = dict[str, Any]


def no_progress(what: str, done: int, total: int | None) -> None:
    pass


def prepare(site: Site, *, run_id: str, as_of: datetime) -> Run:
    """The run that all later steps belong to. The same run_id and instant give the same run, so a retry finds its work.

    as_of: aware; the only clock that decides what goes into a file.
    """
    instant = as_of.astimezone(UTC).replace(microsecond=0)
    suffix = hashlib.sha256(f"{site.site}\n{run_id}".encode()).hexdigest()[:8]
    release = f"{instant:%Y%m%dT%H%M%SZ}-{suffix}"
    return {
        "site": site.site,
        "run_id": run_id,
        "as_of": instant.isoformat(),
        "release": release,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "work": f"{site.work}{site.site}/{release}/",
    }


def instant_of(run: Run) -> datetime:
    return datetime.fromisoformat(run["as_of"])


def workspace_of(site: Site, run: Run, connections: Connections) -> Workspace:
    return Workspace(run["work"], connections, site.aws_conn_id)


def cleanup(site: Site, run: Run, connections: Connections) -> None:
    """Remove the run's staging files; for after a run that is done with."""
    with workspace_of(site, run, connections) as workspace:
        workspace.remove()
