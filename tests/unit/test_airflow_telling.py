"""What tasks tell others of a run: metrics, lineage, and whoever wants to know of a guard's stop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.errors import GuardError, TargetError
from sitemap_ops.report.build import facts
from sitemap_ops.site.sources import CsvSource, ParquetSource, SitemapSource, SqlSource
from tests.releases import run, small_site
from tests.services.shared import ROOT

pytestmark = pytest.mark.airflow


class Recorder:
    """A metrics backend that remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, Any, Any]] = []

    def gauge(self, stat: str, value: Any, *, tags: Any = None) -> None:
        self.told.append(("gauge", stat, value, tags))

    def incr(self, stat: str, *, tags: Any = None) -> None:
        self.told.append(("incr", stat, 1, tags))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    from airflow.sdk._shared.observability.metrics import base_stats_logger
    from airflow.sdk.observability import stats

    found = Recorder()
    stats.initialize(factory=lambda: found, export_legacy_names=True)
    yield found
    stats.initialize(factory=base_stats_logger.NoStatsLogger, export_legacy_names=True)


def test_a_release_s_figures_are_gauges(tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure is a gauge with the site as a tag, and for backends without tags one with the site in its name."""
    from sitemap_ops.airflow.metrics import tell_release

    report = run(small_site(tmp_path), 0, 10)
    tell_release("shop", facts(report))
    told = {stat: value for _, stat, value, tags in recorder.told if tags == {"site": "shop"}}
    assert told == {
        "sitemap_ops.rows": 13,
        "sitemap_ops.entries": 11,
        "sitemap_ops.duplicates": 0,
        "sitemap_ops.rejected": 2,
        "sitemap_ops.shards": 2,
        "sitemap_ops.shards_rewritten": 2,
        "sitemap_ops.bytes_uploaded": report["bytes"]["uploaded"],
    }
    assert {stat: value for _, stat, value, tags in recorder.told if not tags} == {
        f"{stat}.shop": value for stat, value in told.items()
    }
    recorder.told.clear()
    monkeypatch.setenv("AIRFLOW__METRICS__LEGACY_NAMES_ON", "False")
    tell_release("shop", facts(report))
    assert {stat for _, stat, _, _ in recorder.told} == told.keys()


def test_only_a_guard_s_stop_is_counted_as_one(recorder: Recorder) -> None:
    """A stopped run is counted and stays an error; other failures are Airflow's to count."""
    from sitemap_ops.airflow.metrics import counting_stops

    with pytest.raises(GuardError), counting_stops("shop"):
        raise GuardError("no")
    assert [(kind, stat, tags) for kind, stat, _, tags in recorder.told] == [
        ("incr", "sitemap_ops.stopped", {"site": "shop"}),
        ("incr", "sitemap_ops.stopped.shop", None),
    ]
    recorder.told.clear()
    with pytest.raises(TargetError), counting_stops("shop"):
        raise TargetError("away")
    assert recorder.told == []


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Airflow's own collector, as it is where a provider reads lineage."""
    from airflow.sdk import lineage, plugins_manager

    monkeypatch.setattr(plugins_manager, "get_hook_lineage_readers_plugins", lambda: [object])
    lineage.get_hook_lineage_collector.cache_clear()
    yield lineage.get_hook_lineage_collector()
    lineage.get_hook_lineage_collector.cache_clear()


def test_lineage_of_files_and_sitemaps(tmp_path: Path, collected: Any) -> None:
    """Files, S3 objects and sitemaps that were read are inputs by their addresses, the index is the output."""
    from sitemap_ops.airflow.lineage import tell_source, tell_target

    site = small_site(tmp_path)
    tell_source(CsvSource(type="csv", path=str(tmp_path / "a b.csv")))
    tell_source(ParquetSource(type="parquet", path="s3://bucket/in"))
    tell_source(SitemapSource(type="sitemap", location="https://www.shop.example/sitemap.xml"))
    tell_target(site)
    found = collected.collected_assets
    assert {info.asset.uri for info in found.inputs} == {
        f"{tmp_path.as_uri()}/a%20b.csv",
        "s3://bucket/in",
        "https://www.shop.example/sitemap.xml",
    }
    assert [info.asset.uri for info in found.outputs] == [f"{tmp_path.as_uri()}/public/sitemap.xml"]


def test_lineage_of_a_query(monkeypatch: pytest.MonkeyPatch, collected: Any) -> None:
    """A query goes to the collector with its connection's hook, of which OpenLineage finds out the tables."""
    from sitemap_ops.airflow.lineage import tell_source

    monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", '{"conn_type": "postgres", "host": "db", "password": "S3cret"}')
    tell_source(SqlSource(type="sql", conn_id="shop_db", query="SELECT url FROM page"))
    (extra,) = collected.collected_assets.extra
    assert (extra.key, extra.value["sql"]) == ("sql_job", "SELECT url FROM page")
    assert "S3cret" not in repr(extra.value)
    assert type(extra.context).__name__ == "PostgresHook"


def test_lineage_spoils_nothing(collected: Any, caplog: pytest.LogCaptureFixture) -> None:
    """What goes wrong when lineage is told is a line of the log; without a reader nothing is looked at."""

    from sitemap_ops.airflow.lineage import tell_source

    gone = SqlSource(type="sql", conn_id="not_there", query="SELECT 1")
    tell_source(gone)
    assert "Lineage could not be told (AirflowNotFoundException)" in caplog.text


def test_no_lineage_where_nothing_reads_it(caplog: pytest.LogCaptureFixture) -> None:
    """Where no provider reads lineage, not even the connection is looked up."""
    from sitemap_ops.airflow.lineage import tell_source

    tell_source(SqlSource(type="sql", conn_id="not_there", query="SELECT 1"))
    assert caplog.text == ""


def test_callbacks_of_guards_are_called_for_guards_only() -> None:
    """What is to be told when a guard stops a run is not told when a store is away."""
    from sitemap_ops.airflow.notifiers import on_guard_stop

    told: list[Any] = []
    (callback,) = on_guard_stop(told.append)
    callback({"exception": TargetError("away")})
    callback({})
    assert told == []
    stopped = {"exception": GuardError("no")}
    callback(stopped)
    assert told == [stopped]


def test_documented_dag_after_a_publish(tmp_path: Path) -> None:
    """The DAG of docs/ui.md that runs after a site's publish waits for the asset that the site's DAG has."""
    from airflow.dag_processing.dagbag import DagBag

    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/ui.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (each for each in blocks if "Asset.ref" in each)
    (tmp_path / "after.py").write_text(block)
    bag = DagBag(dag_folder=str(tmp_path))
    assert bag.import_errors == {}
    assert "name='sitemaps__shop'" in repr(bag.dags["after_the_sitemap"].timetable.asset_condition)
