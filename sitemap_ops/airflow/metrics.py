"""A release's figures as gauges, stopped runs as a counter, through Airflow's own metrics (StatsD, OpenTelemetry)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow.sdk import conf
from airflow.sdk.observability import stats

from sitemap_ops.errors import GuardError

PREFIX = "sitemap_ops"


def tell_release(site: str, facts: Mapping[str, Any]) -> None:
    """Gauges of a publish. facts: as `report.build.facts`."""
    shards = facts["shards"]
    for name, value in {
        "rows": facts["rows"],
        "entries": facts["entries"],
        "duplicates": facts["duplicates"],
        "rejected": facts["rejected"],
        "shards": shards["total"],
        "shards_rewritten": shards["added"] + shards["changed"] + shards["removed"],
        "bytes_uploaded": facts["bytes"]["uploaded"],
    }.items():
        for stat, tags in _names(name, site):
            stats.gauge(stat, value, tags=tags)


@contextmanager
def counting_stops(site: str) -> Iterator[None]:
    """Counts a run that a guard stops."""
    try:
        yield
    except GuardError:
        for stat, tags in _names("stopped", site):
            stats.incr(stat, tags=tags)
        raise


def _names(name: str, site: str) -> list[tuple[str, dict[str, str] | None]]:
    """The name with the site as a tag; as Airflow's own, also with the site in it, where backends know no tags."""
    names: list[tuple[str, dict[str, str] | None]] = [(f"{PREFIX}.{name}", {"site": site})]
    if conf.getboolean("metrics", "legacy_names_on", fallback=True):
        names.append((f"{PREFIX}.{name}.{site}", None))
    return names
