"""Which sites there are, and their runs, as Airflow's metadata database knows them; and where their records lie.

The API server need not have the DAG folder (a bundle from git is never there), so a site is found by the asset that its
DAG publishes: `dag.site_asset` writes into it what is needed here.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from airflow.models.asset import AssetModel, TaskOutletAssetReference
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sitemap_ops.airflow.assets import is_site
from sitemap_ops.airflow.connections import AirflowConnections
from sitemap_ops.report.archive import Archive
from sitemap_ops.storage import Store, open_store

CLIENT_SECONDS = 300
"""How long a store's client is used: a changed connection is noticed within this time."""


@dataclass(frozen=True)
class ListedSite:
    """One site's DAG. `next_run` is None where it is not scheduled; `state` is its private place, a URI."""

    dag_id: str
    site: str
    base_url: str
    state: str
    aws_conn_id: str | None
    paused: bool
    next_run: datetime | None

    def archive(self) -> Archive:
        """The site's records. Raises UsageError where the connection is missing."""
        return Archive(_store(self.state, self.aws_conn_id, int(time.monotonic() / CLIENT_SECONDS)), self.site)


@dataclass(frozen=True)
class ListedRun:
    """A DAG run's id and state."""

    run_id: str
    state: str


def listed_sites(session: Session, dag_ids: Collection[str]) -> list[ListedSite]:
    """The sites among these DAGs, by name."""
    query = (
        select(AssetModel.extra, DagModel.dag_id, DagModel.is_paused, DagModel.next_dagrun_create_after)
        .join(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id)
        .join(DagModel, DagModel.dag_id == TaskOutletAssetReference.dag_id)
        .where(AssetModel.name == DagModel.dag_id, DagModel.is_stale.is_(False))
    )
    found = [_listed(*row) for row in session.execute(query) if row.dag_id in dag_ids and is_site(row.extra)]
    return sorted(found, key=lambda each: each.site)


def last_runs(session: Session, dag_ids: Collection[str]) -> dict[str, ListedRun]:
    """The newest run of each DAG that has one."""
    newest = select(func.max(DagRun.id)).where(DagRun.dag_id.in_(dag_ids)).group_by(DagRun.dag_id)
    rows = session.execute(select(DagRun.dag_id, DagRun.run_id, DagRun.state).where(DagRun.id.in_(newest)))
    return {dag_id: ListedRun(run_id, str(state)) for dag_id, run_id, state in rows}


def known_runs(session: Session, dag_id: str, run_ids: Collection[str]) -> dict[str, ListedRun]:
    """Those of the runs that Airflow still has: a release may be older, or made by the command line."""
    rows = session.execute(
        select(DagRun.run_id, DagRun.state).where(DagRun.dag_id == dag_id, DagRun.run_id.in_(run_ids))
    )
    return {run_id: ListedRun(run_id, str(state)) for run_id, state in rows}


def _listed(extra: dict[str, Any], dag_id: str, paused: bool, next_run: datetime | None) -> ListedSite:
    return ListedSite(
        dag_id=dag_id,
        site=extra["site"],
        base_url=extra["base_url"],
        state=extra["state"],
        aws_conn_id=extra["aws_conn_id"],
        paused=paused,
        next_run=None if paused else next_run,
    )


@lru_cache(maxsize=256)
def _store(uri: str, aws_conn_id: str | None, _period: int) -> Store:
    return open_store(uri, AirflowConnections(), aws_conn_id=aws_conn_id)
