"""The DAG folder: what Airflow sees of it, and what a broken site file does to it. No task runs here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitemap_ops.errors import ColumnError, ConflictError, GuardError, SourceError, TargetError, UsageError
from tests.services.airflow import copy_dags
from tests.services.shared import ROOT

pytestmark = pytest.mark.airflow

SITE = """\
site: {name}
base_url: https://www.example.com/
target: s3://public-{name}/maps/
state: s3://private-{name}/
schedule: "{schedule}"
sections:
  - name: products
    source: {{type: sql, conn_id: shop_db, query: "SELECT slug FROM product"}}
    loc: "/p/{{slug}}"
  - name: pages
    source: {{type: csv, path: pages.csv}}
"""


def add_site(folder: Path, name: str, *, schedule: str = "@daily", file: str | None = None) -> Path:
    path = folder / "sites" / f"{file or name}.yaml"
    path.write_text(SITE.format(name=name, schedule=schedule))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The DAG folder as it is deployed, without site files."""
    return copy_dags(tmp_path / "dags")


def bag(folder: Path) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(dag_folder=str(folder))


@pytest.fixture
def dag(folder: Path) -> Any:
    add_site(folder, "shop")
    loaded = bag(folder)
    assert loaded.import_errors == {}
    return loaded.dags["sitemaps__shop"]


def test_fresh_deployment_has_no_failing_dag() -> None:
    """What the repository ships loads as it is: no DAG without a site file of the user's, and no import error."""
    loaded = bag(ROOT / "dags")
    assert loaded.import_errors == {}
    assert loaded.dags == {}


def test_shipped_sample_is_a_valid_site_file(folder: Path) -> None:
    """The sample in dags/sites becomes a DAG when it is renamed."""
    sample = folder / "sites" / "example.yaml.sample"
    sample.rename(sample.with_suffix(""))
    loaded = bag(folder)
    assert loaded.import_errors == {}
    assert list(loaded.dags) == ["sitemaps__example"]


def test_tasks_are_the_steps(dag: Any) -> None:
    """The steps of DESIGN 2 as tasks, in order; each one's upstream is what it takes a reference from."""
    assert {task.task_id: task.upstream_task_ids for task in dag.tasks} == {
        "prepare": set(),
        "extract": {"prepare"},
        "assemble": {"prepare", "extract"},
        "publish": {"prepare", "assemble"},
        "cleanup": {"prepare", "publish"},
    }


def test_one_dag_a_site(folder: Path) -> None:
    """Each site file is a DAG with its own id; other files in the folder are none."""
    for name in ("shop", "blog"):
        add_site(folder, name)
    (folder / "sites" / "pages.csv").write_text("loc\n/\n")
    (folder / "sites" / "._shop.yaml").write_text("what some systems leave beside a file")
    loaded = bag(folder)
    assert loaded.import_errors == {}
    assert sorted(loaded.dags) == ["sitemaps__blog", "sitemaps__shop"]


def test_settings_of_the_dag(dag: Any) -> None:
    """One run at a time, no backlog of runs, the site's schedule, and what a reader of the UI is told."""
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    assert dag.timetable.expression == "0 0 * * *"
    assert dag.tags == {"sitemap", "shop"}
    assert "s3://public-shop/maps/sitemap.xml" in dag.doc_md
    assert "`pages` (csv)" in dag.doc_md


def test_every_task_is_retried_and_bounded(dag: Any) -> None:
    """Each task has retries with a growing delay and an end to its patience."""
    for task in dag.tasks:
        assert task.retries == 3, task.task_id
        assert task.retry_exponential_backoff == 2.0, task.task_id
        assert task.max_retry_delay == timedelta(minutes=15), task.task_id
        assert task.execution_timeout is not None, task.task_id
        assert task.owner == "sitemap-ops", task.task_id


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (UsageError("x"), "fail"),
        (ColumnError("x"), "fail"),
        (GuardError("x"), "fail"),
        (ConflictError("x"), "fail"),
        (TargetError("x"), "default"),
        (SourceError("x"), "default"),
        (OSError("x"), "default"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_what_is_retried(dag: Any, error: Exception, action: str) -> None:
    """What would end the same way again fails at once, mapped tasks included; what may pass is tried again."""
    for task in dag.tasks:
        assert task.retry_policy.evaluate(error, 1, 3).action.value == action, task.task_id


def test_mapped_over_sections_only(dag: Any) -> None:
    """C-98: the one mapped task maps over the sections, a literal list of the site file, not over URLs or shards."""
    from airflow.sdk.definitions.mappedoperator import MappedOperator

    mapped = [task for task in dag.tasks if isinstance(task, MappedOperator)]
    assert [task.task_id for task in mapped] == ["extract"]
    assert mapped[0].op_kwargs_expand_input.value == {"section": ["products", "pages"]}


def test_too_many_sections_are_refused_when_parsed(folder: Path) -> None:
    """C-98: a site with more sections than Airflow can map over is an import error, not a frozen scheduler."""
    path = add_site(folder, "vast")
    section = "  - {{name: s{0}, source: {{type: csv, path: a.csv}}}}\n"
    path.write_text(path.read_text() + "".join(section.format(number) for number in range(300)))
    loaded = bag(folder)
    assert "vast.yaml has 302 sections" in str(loaded.import_errors)
    assert loaded.dags == {}


def test_results_are_not_taken_apart(dag: Any) -> None:
    """C-101: a returned dict is one XCom; inferred from the annotation it would become one for each key."""
    assert {task.task_id: task.multiple_outputs for task in dag.tasks} == dict.fromkeys(dag.task_ids, False)


def test_mapped_over_the_parts_of_a_large_query(folder: Path) -> None:
    """Issue 5, Build 5: with `split` a task asks the database where the parts begin, and each part is a task's own."""
    path = add_site(folder, "shop")
    path.write_text(path.read_text().replace('product"}', 'product", key: id, split: 4}'))
    dag = bag(folder).dags["sitemaps__shop"]
    assert {task.task_id: task.upstream_task_ids for task in dag.tasks if task.task_id in ("split", "extract")} == {
        "split": {"prepare"},
        "extract": {"prepare", "split"},
    }
    mapped = dag.get_task("extract")
    assert next(iter(mapped.op_kwargs_expand_input.iter_references()))[0].task_id == "split"
    assert (dag.get_task("split").retries, mapped.partial_kwargs["retries"]) == (3, 3)


def test_too_many_parts_are_refused_when_parsed(folder: Path) -> None:
    """C-98: the parts of sections count, too."""
    path = add_site(folder, "vast")
    path.write_text(path.read_text().replace('product"}', 'product", key: id, split: 256}'))
    loaded = bag(folder)
    assert "vast.yaml has 2 sections in 257 parts" in str(loaded.import_errors)
    assert loaded.dags == {}


def test_nothing_is_templated_but_the_name_of_a_part(dag: Any) -> None:
    """C-105: no bucket, prefix or date comes from a template, so that no kind of run can lack one."""
    given = {task.task_id: getattr(task, "partial_kwargs", {}).get("op_kwargs") or task.op_kwargs for task in dag.tasks}
    assert "{{" not in str(given)
    template = dag.get_task("extract").partial_kwargs["map_index_template"]
    for given, shown in (
        ({"section": "pages"}, "pages"),
        ({"section": "pages", "span": None}, "pages"),
        ({"section": "pages", "span": {"number": 7}}, "pages 7"),
    ):
        assert dag.get_template_env().from_string(template).render(task=SimpleNamespace(op_kwargs=given)) == shown


def test_publish_updates_the_asset_of_the_index(dag: Any) -> None:
    """Other DAGs can be scheduled on the public index; only the last public step updates it."""
    outlets = {task.task_id: [asset.uri for asset in task.outlets] for task in dag.tasks if task.outlets}
    assert outlets == {"publish": ["s3://public-shop/maps/sitemap.xml"]}


def test_params_have_a_form(dag: Any) -> None:
    """A run can be asked to plan only, or to pass a guard: both are off unless asked for, and are yes or no."""
    from airflow.sdk.exceptions import ParamValidationError

    assert dict(dag.params.items()).keys() == {"plan_only", "force"}
    assert dag.params.dump() == {"plan_only": False, "force": False}
    for name in ("plan_only", "force"):
        schema = dag.params.get_param(name).schema
        assert (schema["type"], bool(schema["title"])) == ("boolean", True)
        with pytest.raises(ParamValidationError):
            dag.params.get_param(name).resolve("maybe")


def test_serialised_dag_is_the_same_for_every_parse_and_place(folder: Path, tmp_path: Path) -> None:
    """Airflow makes a new version of a DAG when its serialised form changes: time and the folder's place do not."""
    from airflow.serialization.serialized_objects import DagSerialization

    add_site(folder, "shop")
    elsewhere = copy_dags(tmp_path / "elsewhere" / "dags")
    add_site(elsewhere, "shop")
    forms = [
        json.dumps(DagSerialization.to_dict(bag(each).dags["sitemaps__shop"]), sort_keys=True).replace(str(each), "")
        for each in (folder, folder, elsewhere)
    ]
    assert forms[0] == forms[1] == forms[2]


def test_broken_site_file_is_an_import_error_with_its_line(folder: Path) -> None:
    """A broken site file says file and line as an import error, and the other sites' DAGs are as they were."""
    add_site(folder, "shop")
    broken = add_site(folder, "blog")
    broken.write_text(broken.read_text().replace("target:", "taget:"))
    (folder / "sites" / "worse.yaml").write_text("site: worse\nbase_url: [unclosed\n")
    loaded = bag(folder)
    assert list(loaded.dags) == ["sitemaps__shop"]
    ((file, message),) = loaded.import_errors.items()
    assert Path(file).name == "site_file_errors.py"
    assert "blog.yaml line 3: " in message
    assert "worse.yaml line " in message


def test_broken_site_file_takes_no_other_dag_out_of_service(folder: Path) -> None:
    """Airflow marks every DAG of a Python file stale that has an import error: the good sites' file has none."""
    add_site(folder, "shop")
    add_site(folder, "blog").write_text("site: [")
    loaded = bag(folder)
    assert Path(loaded.dags["sitemaps__shop"].fileloc).name == "sitemaps.py"
    assert not any(file.endswith("sitemaps.py") for file in loaded.import_errors)


def test_two_files_for_one_site(folder: Path) -> None:
    """A copied site file with the old name in it is told; the one that is called after the site keeps its DAG."""
    add_site(folder, "shop")
    add_site(folder, "shop", file="a-copy")
    loaded = bag(folder)
    assert list(loaded.dags) == ["sitemaps__shop"]
    assert "a-copy.yaml names the same site as shop.yaml, and has no DAG until" in str(loaded.import_errors)


def test_two_files_for_one_site_of_neither_name(folder: Path) -> None:
    """Which of them is the copy can't be told, and the copy may name another target: neither publishes."""
    add_site(folder, "shop", file="a")
    add_site(folder, "shop", file="b")
    loaded = bag(folder)
    assert list(loaded.dags) == []
    assert "a.yaml names the same site as b.yaml, and neither has a DAG" in str(loaded.import_errors)


def test_two_files_for_one_site_of_its_name(folder: Path) -> None:
    """`shop.yaml` and `shop.yml`: which of them counts can't be told either."""
    path = add_site(folder, "shop")
    path.with_suffix(".yml").write_text(path.read_text().replace("s3://public-shop/", "s3://other/"))
    loaded = bag(folder)
    assert list(loaded.dags) == []
    assert "shop.yml names the same site as shop.yaml, and neither has a DAG" in str(loaded.import_errors)


def test_two_sites_of_one_index(folder: Path) -> None:
    """Two sites that publish the same index would take it from each other, run by run."""
    add_site(folder, "shop")
    path = add_site(folder, "thief")
    path.write_text(path.read_text().replace("s3://public-thief/", "s3://public-shop/"))
    loaded = bag(folder)
    assert list(loaded.dags) == ["sitemaps__shop"]
    assert "thief.yaml publishes s3://public-shop/maps/sitemap.xml, and so does shop.yaml" in str(loaded.import_errors)


def test_site_that_only_airflow_refuses(folder: Path) -> None:
    """What the site file's checks let through and Airflow does not breaks its own DAG only, too."""
    add_site(folder, "shop")
    path = add_site(folder, "blog")
    path.write_text(path.read_text().replace("s3://public-blog/maps/", "file:///" + 20 * f"{'folder' * 15}/"))
    loaded = bag(folder)
    assert list(loaded.dags) == ["sitemaps__shop"]
    (message,) = loaded.import_errors.values()
    assert "blog.yaml: Airflow can't make a DAG of it: Asset uri cannot exceed 1500" in message


MEASURE = """
import json, socket, sys, time
def refused(*_): raise AssertionError("the DAG folder opened a connection while it was parsed")
socket.socket.connect = socket.socket.connect_ex = refused
import airflow.sdk
from airflow.sdk import Asset
Asset(name="x", uri="s3://bucket/x")  # Airflow itself then imports what knows the scheme
from airflow.dag_processing.importers.python_importer import PythonDagImporter
airflow_itself = set(sys.modules)
import sitemap_ops.airflow.sites
seconds = []
for _ in range(5):
    started = time.process_time()  # of the processor: others on the machine don't count
    results = [PythonDagImporter().import_file(file) for file in sys.argv[1:]]
    seconds.append(time.process_time() - started)
print(json.dumps({
    "seconds": min(seconds),
    "dags": sum(len(result.dags) for result in results),
    "errors": [error.message for result in results for error in result.errors],
    "modules": sorted(set(sys.modules) - airflow_itself),
    "pandas": "pandas" in sys.modules,
}))
"""


def test_parsing_the_folder_is_light_and_fast(folder: Path) -> None:
    """25 site files parse well within a second after the imports; no pandas, no network, nothing that only a run needs.

    The second is the issue's own bar; a file takes about 10 ms of the processor, so a busy machine does not break it.
    """
    for number in range(25):
        add_site(folder, f"site-{number}")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder / "sitemaps.py"), str(folder / "site_file_errors.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    measured = json.loads(done.stdout.splitlines()[-1])
    assert (measured["dags"], measured["errors"]) == (25, [])
    assert not measured["pandas"]
    ours = {name for name in measured["modules"] if name.startswith("sitemap_ops.")}
    assert ours.isdisjoint({"sitemap_ops.steps", "sitemap_ops.columns", "sitemap_ops.storage.s3"})
    assert {"numpy", "pyarrow", "lxml", "boto3", "isal"}.isdisjoint(measured["modules"])
    assert measured["seconds"] < 1.0
