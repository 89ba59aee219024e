"""Airflow in a temporary home: for this process (structure tests), and for processes of its own (runs, servers).

Airflow reads its configuration when it is first imported: this module sets the environment when pytest loads it as a
plugin, before any test can import Airflow. What runs tasks does so in processes of its own, on a copy of a database
that is initialised once.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.services.shared import ROOT

SECRET_KEY = "only-for-tests-on-loopback-only-for-tests-on-loopback"


def settings(home: Path, dags: Path) -> dict[str, str]:
    """Airflow's own variables: everything below `home`, no example, no telemetry, no plugin."""
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(home / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW__API_AUTH__JWT_SECRET": SECRET_KEY,
        "AIRFLOW__API__SECRET_KEY": SECRET_KEY,
    }


def environment(home: Path, dags: Path) -> dict[str, str]:
    """All variables of a process that is to be an Airflow of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    # Some machines forbid bytecode files, and then each start of Airflow compiles 1,400 modules again.
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return (
        inherited | settings(home, dags) | {"PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    )


def copy_dags(folder: Path) -> Path:
    """The project's DAG folder as a user deploys it, without site files."""
    shutil.copytree(ROOT / "dags", folder, ignore=shutil.ignore_patterns("__pycache__", "*.yaml"), dirs_exist_ok=True)
    (folder / "sites").mkdir(exist_ok=True)
    return folder


def migrate(variables: Mapping[str, str]) -> None:
    """Initialise (or upgrade) the metadata database."""
    done = subprocess.run(
        [sys.executable, "-m", "airflow", "db", "migrate"], env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"airflow db migrate failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


@dataclass(frozen=True)
class TestedRuns:
    """What `dag.test()` did: its exit code, all output, and the task instances of each run, as dicts."""

    __test__ = False

    returncode: int
    output: str = field(repr=False)
    tasks: list[list[dict[str, Any]]] = field(repr=False)

    def states(self) -> list[dict[str, list[str]]]:
        return [states_of(tasks) for tasks in self.tasks]


def states_of(tasks: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The states of each task of one run, by map index."""
    found: dict[str, list[str]] = {}
    for task in sorted(tasks, key=lambda each: each["map_index"]):
        found.setdefault(task["task_id"], []).append(task["state"])
    return found


@dataclass(frozen=True)
class Airflow:
    """One installation: a home with a database of its own, a DAG folder, the variables that make it."""

    home: Path
    dags: Path
    variables: dict[str, str] = field(repr=False)

    def add_site(self, name: str, text: str) -> Path:
        """A site file in the DAG folder."""
        path = self.dags / "sites" / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def add_connection(self, conn_id: str, **fields: Any) -> None:
        self.variables[f"AIRFLOW_CONN_{conn_id.upper()}"] = json.dumps(fields)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`airflow ...` to its end."""
        return self.run("airflow", *arguments)

    def test_dag(self, dag_id: str, *runs: dict[str, Any]) -> TestedRuns:
        """`dag.test()`, once for each of `runs`; see `tests.services.dag_run`."""
        done = self.run("tests.services.dag_run", dag_id, *map(json.dumps, runs))
        record = self.home / "runs.jsonl"
        lines = record.read_text().splitlines() if record.exists() else []
        return TestedRuns(done.returncode, done.stdout + done.stderr, [json.loads(line) for line in lines])

    def run(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=self.variables,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def query(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of the metadata database."""
        with closing(sqlite3.connect(self.home / "airflow.db", timeout=30)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql, values)]

    def change(self, sql: str, *values: Any) -> int:
        """Change rows of the metadata database; gives how many."""
        with closing(sqlite3.connect(self.home / "airflow.db", timeout=30)) as database, database:
            return database.execute(sql, values).rowcount

    def xcoms(self) -> list[dict[str, Any]]:
        """All XComs, oldest first: task_id, map_index, key, `text` as stored, `value`."""
        rows = self.query("SELECT task_id, map_index, key, CAST(value AS TEXT) AS text FROM xcom ORDER BY timestamp")
        return [row | {"value": json.loads(row["text"])} for row in rows]


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An initialised SQLite metadata database, to be copied."""
    home = tmp_path_factory.mktemp("airflow")
    migrate(environment(home, home / "dags"))
    return home / "airflow.db"


def new_airflow(database: Path, folder: Path) -> Airflow:
    """A fresh Airflow with the project's DAG folder, no site yet, no connection yet; `database` is copied."""
    home = folder / "airflow"
    home.mkdir()
    shutil.copy(database, home / "airflow.db")
    dags = copy_dags(folder / "dags")
    return Airflow(home, dags, environment(home, dags))


@pytest.fixture
def airflow(airflow_database: Path, tmp_path: Path) -> Airflow:
    return new_airflow(airflow_database, tmp_path)


if "airflow" not in sys.modules:
    _home = Path(tempfile.mkdtemp(prefix="sitemap-ops-airflow-"))
    atexit.register(shutil.rmtree, _home, ignore_errors=True)
    os.environ.update(settings(_home, ROOT / "dags"))
