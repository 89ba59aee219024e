"""What the tasks do, called as Airflow calls them but without it: a site of two CSV files, published to a folder."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.errors import GuardError, UsageError

pytestmark = pytest.mark.airflow

AS_OF = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SITE = """\
site: shop
base_url: https://www.example.com/
target: public
work: work
sections:
  - name: products
    source: {type: csv, path: products.csv}
  - name: pages
    source: {type: csv, path: pages.csv}
"""


@pytest.fixture
def site_file(tmp_path: Path) -> Path:
    (tmp_path / "products.csv").write_text("loc\n" + "".join(f"/p/{n}\n" for n in range(100)))
    (tmp_path / "pages.csv").write_text("loc\n/a\n/b\n/p/7\n")
    path = tmp_path / "shop.yaml"
    path.write_text(SITE)
    return path


def run_to_publish(
    site_file: Path, run_id: str, order: Callable[[list[Any]], Any] = list, *, force: bool = False
) -> dict[str, Any]:
    from sitemap_ops.airflow import tasks

    run = tasks.prepare(site_file, run_id, AS_OF)
    parts = [tasks.extract(site_file, run, section) for section in ("products", "pages")]
    assembled = tasks.assemble(site_file, run, list(order(parts)))
    facts = tasks.publish(site_file, run, assembled, plan_only=False, force=force)
    tasks.cleanup(site_file, run)
    return facts


def test_parts_are_known_by_their_names(site_file: Path) -> None:
    """C-102: the order in which mapped tasks' results arrive is nothing: each names its section."""
    first = run_to_publish(site_file, "one")
    assert (first["entries"], first["duplicates"]) == (102, 1)
    second = run_to_publish(site_file, "two", reversed)
    assert second["shards"] == {"total": 2, "added": 0, "changed": 0, "removed": 0, "unchanged": 2}


def test_staged_files_are_removed(site_file: Path) -> None:
    """A run that is done leaves nothing in `work`."""
    run_to_publish(site_file, "one")
    assert [path for path in (site_file.parent / "work").rglob("*") if path.is_file()] == []


def test_site_file_changed_in_mid_run(site_file: Path) -> None:
    """A run that began with one site file does not go on with another: the next run takes it up."""
    from sitemap_ops.airflow import tasks

    run = tasks.prepare(site_file, "one", AS_OF)
    site_file.write_text(SITE.replace("/www.", "/shop."))
    with pytest.raises(UsageError, match=r"shop\.yaml was changed while this run was under way: trigger a new run"):
        tasks.extract(site_file, run, "products")


def test_site_file_changed_before_airflow_has_seen_it(site_file: Path) -> None:
    """A DAG that was made for other sections has no tasks for those of the file: its first task says so."""
    from sitemap_ops.airflow import tasks

    with pytest.raises(UsageError, match=r"shop\.yaml names other sections than the DAG, .*trigger a new run"):
        tasks.prepare(site_file, "one", AS_OF, ["products"])


def test_most_parts_fit_into_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-100: what `split` returns of as many parts as there may be, with long names and times as keys, is no more than
    the smallest of metadata databases takes."""
    from sitemap_ops.airflow import tasks
    from sitemap_ops.airflow.dag import MAX_PARTS
    from sitemap_ops.inventory import Span

    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE page (loc TEXT, id INTEGER)")
        connection.executemany("INSERT INTO page VALUES ('/', ?)", [(-(2**62),), (2**62,)])
    connection.close()
    monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", f"sqlite:///{tmp_path}/shop.db")
    path = tmp_path / "shop.yaml"
    source = f"{{type: sql, conn_id: shop_db, query: SELECT * FROM page, key: id, split: {MAX_PARTS}}}"
    path.write_text(SITE[: SITE.index("sections:")] + f"sections: [{{name: {'n' * 100}, source: {source}}}]\n")
    parts = tasks.split(path, tasks.prepare(path, "one", AS_OF))
    assert len(parts) == MAX_PARTS
    longest = datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    largest = [parts[-1] | {"span": Span(MAX_PARTS, longest, longest).to_json()}] * MAX_PARTS
    assert len(json.dumps(parts)) < len(json.dumps(largest)) < tasks.MAX_PARTS_BYTES


def test_retry_finds_its_run(site_file: Path) -> None:
    """The run is a function of run id and instant: a second attempt of a task works on the first one's files."""
    from sitemap_ops.airflow import tasks

    first, again = (tasks.prepare(site_file, "one", AS_OF) for _ in range(2))
    assert {**first, "started": ""} == {**again, "started": ""}
    assert tasks.prepare(site_file, "two", AS_OF)["work"] != first["work"]


def test_failed_cleanup_spoils_nothing(site_file: Path) -> None:
    """When `cleanup` can't do its work the site is published already: the task says so and is skipped, not failed."""
    from airflow.sdk.exceptions import AirflowSkipException

    from sitemap_ops.airflow import tasks

    run = tasks.prepare(site_file, "one", AS_OF)
    site_file.unlink()
    with pytest.raises(AirflowSkipException, match=r"work/.* could not be removed: .*shop\.yaml does not exist"):
        tasks.cleanup(site_file, run)


def test_message_comes_first(site_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What stops a task is one line of its log, before Airflow writes its traceback."""
    site_file.write_text(SITE + "guards: {min_urls: 1000}\n")
    with pytest.raises(GuardError) as raised:
        run_to_publish(site_file, "one")
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [str(raised.value)]
    assert not (site_file.parent / "public").exists()
    assert run_to_publish(site_file, "two", force=True)["entries"] == 102


def test_results_stay_small() -> None:
    """C-100: a result that would not fit into every metadata database is a fault that shows at once."""
    from sitemap_ops.airflow import tasks

    assert tasks._small({"uri": "s3://x"}) == {"uri": "s3://x"}
    with pytest.raises(AssertionError, match="too large for an XCom"):
        tasks._small({"uri": "x" * 16_384})


def test_progress_is_logged_now_and_then(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A long step tells how far it is, at most twice a minute."""
    from sitemap_ops.airflow import tasks

    caplog.set_level(logging.INFO)
    now = 0.0
    monkeypatch.setattr(tasks.time, "monotonic", lambda: now)
    progress = tasks._logged_progress()
    for now in (1.0, 29.0, 31.0, 40.0, 62.0):
        progress("products", int(now) * 1_000, None if now < 60 else 100_000)
    assert [record.getMessage() for record in caplog.records] == ["products: 31,000", "products: 62,000 of 100,000"]
