"""One run of a site: its id, its instant, its workspace."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sitemap_ops.connections import Connections, EnvironmentConnections
from sitemap_ops.release.history import read_fence
from sitemap_ops.site import Site
from sitemap_ops.storage import open_store
from sitemap_ops.workspace import Workspace

Progress = Callable[[str, int, int | None], None]
"""Told what is being worked on, how much of it is done, and of how much (None: unknown)."""

Run = dict[str, Any]

ABANDONED_AFTER = timedelta(days=7)
_INSTANT = "%Y%m%dT%H%M%SZ"
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_RELEASE_ID = re.compile(r"(\d{8}T\d{6}Z-[0-9a-f]{8})/")


def no_progress(what: str, done: int, total: int | None) -> None:
    pass


def prepare(site: Site, *, run_id: str, as_of: datetime, connections: Connections | None = None) -> Run:
    """The run that all later steps belong to. The same run_id and instant give the same run, so a retry finds its work.

    as_of: aware; the only clock that decides what goes into a file. One from before the live release, as a run has
    that is late or cleared, counts as that release's: no index lastmod goes back (P-41). connections: the environment's
    where None. The run carries the fence (DESIGN 7): it can commit only as long as the release that is live now is the
    live one.
    """
    state = open_store(site.state, connections or EnvironmentConnections(), aws_conn_id=site.aws_conn_id)
    fence = read_fence(state, site.site)
    instant = max(as_of.astimezone(UTC).replace(microsecond=0), _instant_in(fence.release) or _BEGINNING)
    release = release_id(site, run_id, instant)
    return {
        "site": site.site,
        "run_id": run_id,
        "as_of": instant.isoformat(),
        "release": release,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "work": f"{site.work}{site.site}/{release}/",
        "fence": asdict(fence),
    }


def release_id(site: Site, run_id: str, as_of: datetime) -> str:
    """What the release of a run is called: its instant, so that names sort by time, and a part of the run's own."""
    suffix = hashlib.sha256(f"{site.site}\n{run_id}".encode()).hexdigest()[:8]
    return f"{as_of.astimezone(UTC):{_INSTANT}}-{suffix}"


def _instant_in(release: str | None) -> datetime | None:
    """The instant that a release's id begins with; None where another program made it up."""
    if not release or not _RELEASE_ID.fullmatch(f"{release}/"):
        return None
    return datetime.strptime(release.partition("-")[0], _INSTANT).replace(tzinfo=UTC)


def instant_of(run: Run) -> datetime:
    return datetime.fromisoformat(run["as_of"])


def workspace_of(site: Site, run: Run, connections: Connections) -> Workspace:
    """The run's workspace, for one attempt of a step."""
    return Workspace(run["work"], connections, site.aws_conn_id, attempt=uuid4().hex[:12])


def cleanup(site: Site, run: Run, connections: Connections) -> None:
    """Remove the run's staging files; for after a run that is done with. Those of runs that were cut off long before
    it, and that nobody has tried again since, go too."""
    folder = f"{site.work}{site.site}/"
    for name in sorted({run["release"], *_abandoned(site, folder, instant_of(run), connections)}):
        with Workspace(f"{folder}{name}/", connections, site.aws_conn_id) as workspace:
            workspace.remove()


def _abandoned(site: Site, folder: str, as_of: datetime, connections: Connections) -> set[str]:
    """The runs whose staging files are older than ABANDONED_AFTER."""
    store = open_store(folder, connections, aws_conn_id=site.aws_conn_id)
    names = {match[1] for each in store.list() if (match := _RELEASE_ID.match(each.key))}
    oldest = f"{as_of - ABANDONED_AFTER:{_INSTANT}}"
    return {name for name in names if name < oldest}
