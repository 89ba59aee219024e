"""The records of tracked pages: read from the live release, made anew by a run, kept with its release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sitemap_ops.connections import Connections
from sitemap_ops.errors import OutputError
from sitemap_ops.release.history import committed_already, fence_of, find_manifest, read_before
from sitemap_ops.release.manifest import Manifest
from sitemap_ops.release.prune import TRACKED
from sitemap_ops.site import Site
from sitemap_ops.steps.run import Run
from sitemap_ops.storage import Headers, Store, open_store
from sitemap_ops.tracking import TRACKED_SCHEMA
from sitemap_ops.workspace import Workspace

RECORDS = "tracked.parquet"
_BEFORE = "tracked-before.parquet"
_HEADERS = Headers("application/vnd.apache.parquet", "no-store")


def tracks(site: Site) -> bool:
    return any(section.track for section in site.sections)


def records_before(site: Site, run: Run, connections: Connections, workspace: Workspace) -> list[Path]:
    """The file of the live release's records (TRACKED_SCHEMA, sorted by loc); empty where it has none.

    Raises ConflictError where another run has committed since this one began.
    """
    state = open_store(site.state, connections, aws_conn_id=site.aws_conn_id)
    before = read_before(state, site.site)
    live = before.manifest
    if live and committed_already(before, fence_of(run), run["release"]):
        live = find_manifest(state, live.previous)
    if live is None or live.tracked is None:
        return []
    with workspace.create(_BEFORE) as path:
        state.download(live.tracked, path)
    return [workspace.fetch(_BEFORE)]


@contextmanager
def new_records(workspace: Workspace) -> Iterator[Callable[[pa.Table], None]]:
    """Takes a run's records, key range by key range; the file is there once the block has ended without an error."""
    with workspace.create(RECORDS) as path, pq.ParquetWriter(path, TRACKED_SCHEMA, compression="zstd") as writer:
        yield writer.write_table


def keep_records(site: Site, workspace: Workspace, live: Manifest | None, epoch: int, state: Store) -> str | None:
    """Store a run's records, unless they are those of the live release; gives their key, None for a site without."""
    if not tracks(site):
        return None
    path = workspace.fetch(RECORDS)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if live and live.tracked and live.tracked.endswith(f"-{digest}.parquet"):
        return live.tracked
    key = f"{TRACKED}{epoch:08d}-{digest}.parquet"
    state.upload(path, key, _HEADERS)
    if state.head(key) is None:
        raise OutputError(f"{state.uri}{key} is not there though it was stored: look at the bucket's rules, run again.")
    return key
