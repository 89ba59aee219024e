"""The DAGs of audits, and the task that tells the engines: what Airflow sees of them. No task runs here."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.services.airflow import copy_dags

pytestmark = pytest.mark.airflow

SITE = """\
site: {name}
base_url: https://www.example.com/
target: s3://public-{name}/
state: s3://private-{name}/
{more}
sections:
  - name: pages
    source: {{type: csv, path: pages.csv}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_dags(tmp_path / "dags")


def bag(folder: Path) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(dag_folder=str(folder))


def add_site(folder: Path, name: str, more: str = "") -> None:
    (folder / "sites" / f"{name}.yaml").write_text(SITE.format(name=name, more=more))


def test_one_audit_for_each_site_that_asks(folder: Path) -> None:
    """Issue 6: a DAG sitemap_audit__<site> where the file has `audit`, with its schedule; none where it has not."""
    add_site(folder, "shop", "audit: {sample: 7200, rate: 2, schedule: '0 4 * * 1'}")
    add_site(folder, "blog", "audit: {}")
    add_site(folder, "plain")
    loaded = bag(folder)
    assert loaded.import_errors == {}
    audits = {dag_id: dag for dag_id, dag in loaded.dags.items() if dag_id.startswith("sitemap_audit__")}
    assert sorted(audits) == ["sitemap_audit__blog", "sitemap_audit__shop"]
    assert audits["sitemap_audit__shop"].timetable.expression == "0 4 * * 1"
    assert audits["sitemap_audit__blog"].timetable.expression == "0 0 * * 0"
    (task,) = audits["sitemap_audit__shop"].tasks
    assert [asset.uri for asset in task.outlets] == ["s3://private-shop/audits"]
    assert task.execution_timeout == timedelta(hours=8)
    assert (task.retries, task.multiple_outputs) == (1, False)
    assert (audits["sitemap_audit__shop"].max_active_runs, audits["sitemap_audit__shop"].catchup) == (1, False)


def test_site_that_airflow_refuses_takes_no_other_audit_away(folder: Path) -> None:
    """A state whose URI Airflow refuses is the import error of that site alone."""
    add_site(folder, "shop", "audit: {}")
    (folder / "sites" / "long.yaml").write_text(
        SITE.format(name="long", more="audit: {}").replace("s3://private-long/", "s3://private-long/" + "folder/" * 220)
    )
    loaded = bag(folder)
    assert sorted(loaded.dags) == ["sitemap_audit__shop", "sitemaps__shop"]
    ((file, message),) = loaded.import_errors.items()
    assert Path(file).name == "site_file_errors.py"
    assert "long.yaml: Airflow can't make a DAG of it: Asset uri cannot exceed" in message


def test_notify_comes_after_publish_and_counts_for_nothing(folder: Path) -> None:
    """C-107: a teardown below `publish`, which Airflow leaves out when it says whether a run failed."""
    add_site(folder, "shop", "notify: {robots: print}")
    add_site(folder, "plain", "notify: {}\naudit: null")
    add_site(folder, "none")
    dags = bag(folder).dags
    task = dags["sitemaps__shop"].get_task("notify")
    assert (task.is_teardown, task.on_failure_fail_dagrun) == (True, False)
    assert task.upstream_task_ids == {"publish"} and task.downstream_task_ids == set()
    assert dags["sitemaps__shop"].get_task("cleanup").upstream_task_ids == {"prepare", "publish"}
    assert task.execution_timeout == timedelta(hours=1)
    assert "notify" not in dags["sitemaps__none"].task_ids


def test_audit_parses_without_what_only_a_run_needs(folder: Path) -> None:
    """The DAG folder stays light: nothing of the audit itself is imported to say that there is one."""
    import subprocess
    import sys

    add_site(folder, "shop", "audit: {}")
    script = (
        "import sys, airflow.sdk; from pathlib import Path; from sitemap_ops.airflow.audit import audit_dags;"
        f"print(list(audit_dags(Path({str(folder / 'sites')!r}))),"
        "sorted({'pandas', 'lxml', 'protego', 'sitemap_ops.audit', 'sitemap_ops.steps'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['sitemap_audit__shop'] []"
