"""What was read and what was published, told to Airflow's lineage collector; OpenLineage's provider reads that.

Where nothing reads lineage Airflow's collector keeps nothing, and nothing that goes wrong here concerns the run.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from airflow.sdk import BaseHook
from airflow.sdk.lineage import NoOpCollector, get_hook_lineage_collector

from sitemap_ops.site import Site
from sitemap_ops.site.sources import SitemapSource, Source, SqlSource

log = logging.getLogger(__name__)


def tell_source(source: Source) -> None:
    """Tell of the query, file or sitemap that was read; of a query OpenLineage finds out the tables."""
    collector = get_hook_lineage_collector()
    if isinstance(collector, NoOpCollector):
        return
    with _spoiling_nothing():
        if isinstance(source, SqlSource):
            from airflow.providers.common.sql.hooks.lineage import send_sql_hook_lineage

            send_sql_hook_lineage(context=BaseHook.get_hook(source.conn_id), sql=source.query)
        else:
            place = source.location if isinstance(source, SitemapSource) else source.path
            collector.add_input_asset(BaseHook(), uri=place if "://" in place else Path(place).as_uri())


def tell_target(site: Site) -> None:
    """Tell of the main index: the task's outlet, but OpenLineage leaves outlets out once it has been told anything."""
    with _spoiling_nothing():
        get_hook_lineage_collector().add_output_asset(BaseHook(), uri=f"{site.target}{site.index}")


@contextmanager
def _spoiling_nothing() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever it is: the task has done its work
        log.warning("Lineage could not be told (%s).", type(error).__name__)
