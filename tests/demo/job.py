"""What the demo does, step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg.conninfo import conninfo_to_dict
from rich.console import Console

from tests.demo import DemoError, inventory, summary
from tests.services.airflow import Airflow, copy_dags, environment
from tests.services.postgres import postgres
from tests.services.process import running
from tests.services.s3 import REGION, S3Service, seaweedfs

if TYPE_CHECKING:
    from sitemap_ops.validate.findings import Validation

SITE_FILE = Path(__file__).with_name("site.yaml")
SITE_URL = "https://www.demo-shop.example/"
DAG_ID = "sitemaps__demo-shop"
PUBLIC, PRIVATE = "demo-public", "demo-private"
POLL_SECONDS = 0.3


@dataclass
class Steps:
    """Tells what is being done, on a line that moves where the console is a terminal, and how long each step took."""

    console: Console
    times: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, doing: str) -> Iterator[Callable[[str], None]]:
        """Gives what changes the line."""
        started = time.monotonic()
        if self.console.is_terminal:
            with self.console.status(doing) as status:
                yield status.update
        else:
            self.console.print(doing)
            yield lambda text: None
        self.times.append((name, time.monotonic() - started))


def run(folder: Path, console: Console) -> int:
    """The whole demo in a folder, which may hold an earlier one, whole or cut off. Returns the exit code."""
    steps = Steps(console)
    with ExitStack() as stack:
        with steps.step("servers", "Starting an S3 server, PostgreSQL and Airflow's database ..."):
            airflow, migrated = stack.enter_context(_airflow(folder))
            s3 = stack.enter_context(seaweedfs(folder / "s3"))
            database = stack.enter_context(_postgres(folder))
            _connect(airflow, s3, database)
            rows = inventory.PRODUCTS + inventory.PAGES
        with steps.step("inventory", f"Loading an inventory of {rows:,} rows ..."):
            inventory.load_products(database)
            site = airflow.add_site("demo-shop", SITE_FILE.read_text(encoding="utf-8"))
            inventory.write_pages(site.with_name("pages.csv"))
            migrated()
        with steps.step("Airflow", "Running the DAG through Airflow ...") as tell:
            _run_dag(airflow, folder, tell)
        with steps.step("validate", "Fetching back and validating what was published ..."):
            report = _bring_home(folder, airflow, s3)
            validation = _validate(s3)
    _print(console, folder, report, validation, steps)
    return 1 if validation.totals()["error"] else 0


@contextmanager
def _airflow(folder: Path) -> Iterator[tuple[Airflow, Callable[[], None]]]:
    """An Airflow whose database is made in the background where there is none; the second value waits for that."""
    home, log = folder / "airflow", folder / "airflow.log"
    ready = home / "ready"
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
    shutil.rmtree(folder / "dags", ignore_errors=True)
    dags = copy_dags(folder / "dags")
    airflow = Airflow(home, dags, environment(home, dags))
    log.write_bytes(b"")
    if ready.exists():
        yield airflow, lambda: None
        return
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    with running(command, environment=airflow.variables, folder=home, log=log) as migration:

        def migrated() -> None:
            if migration.wait():
                raise DemoError(f"Airflow's database could not be made: see {log}.")
            ready.touch()

        yield airflow, migrated


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    """PostgreSQL; data that an interrupted start left half made is made anew."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgres(folder / "database"))
        except (subprocess.SubprocessError, OSError, RuntimeError):
            shutil.rmtree(folder / "database", ignore_errors=True)
            url = stack.enter_context(postgres(folder / "database"))
        yield url


def _connect(airflow: Airflow, s3: S3Service, database: str) -> None:
    """The connections and variables that the site file names, and the buckets."""
    parts = conninfo_to_dict(database)
    airflow.add_connection(
        "demo_db", conn_type="postgres", host=parts["host"], login=parts["user"], schema=parts["dbname"]
    )
    airflow.add_connection(
        "demo_s3",
        conn_type="aws",
        login=s3.access_key,
        password=s3.secret_key,
        extra={"endpoint_url": s3.endpoint_url, "region_name": REGION},
    )
    airflow.variables.update(DEMO_PUBLIC=PUBLIC, DEMO_PRIVATE=PRIVATE)
    for bucket in (PUBLIC, PRIVATE):
        s3.create_bucket(bucket)


def _run_dag(airflow: Airflow, folder: Path, tell: Callable[[str], None]) -> None:
    """One run of the DAG by `dag.test()`."""
    log = folder / "airflow.log"
    known = airflow.query("SELECT coalesce(max(id), 0) AS id FROM dag_run")[0]["id"]
    command = [sys.executable, "-m", "tests.services.dag_run", DAG_ID]
    started = time.monotonic()
    with running(command, environment=airflow.variables, folder=airflow.home, log=log) as process:
        while process.poll() is None:
            tasks = _tasks(airflow, known)
            doing = ", ".join(_name(task) for task in tasks if task["state"] == "running") or "Airflow itself"
            done = sum(task["state"] == "success" for task in tasks)
            tell(
                f"Running the DAG through Airflow: {doing} ({done} tasks done, {time.monotonic() - started:.0f} s) ..."
            )
            time.sleep(POLL_SECONDS)
    if process.returncode:
        failed = next((_name(task) for task in _tasks(airflow, known) if task["state"] == "failed"), "the run")
        raise DemoError(f"{failed} failed: {_first_error(log)} The whole log is {log}.")


def _tasks(airflow: Airflow, known: int) -> list[dict[str, Any]]:
    return airflow.query(
        "SELECT task_id, rendered_map_index, task_instance.state FROM task_instance"
        " JOIN dag_run USING (dag_id, run_id) WHERE dag_run.id > ? ORDER BY task_instance.start_date",
        known,
    )


def _name(task: dict[str, Any]) -> str:
    return " ".join(filter(None, (task["task_id"], task["rendered_map_index"])))


def _first_error(log: Path) -> str:
    errors = [line for line in log.read_text(errors="replace").splitlines() if "[error" in line]
    return errors[0].split("]", 1)[1].split(" [", 1)[0].strip() if errors else ""


def _bring_home(folder: Path, airflow: Airflow, s3: S3Service) -> dict[str, Any]:
    """Copies of what is public, of the report and of the rejects into the folder. Returns the report."""
    (facts,) = [x["value"] for x in airflow.xcoms() if x["task_id"] == "publish"][-1:]
    uri = f"s3://{PRIVATE}/"
    private = s3.store(PRIVATE)
    for name in ("report.json", "rejects.csv.gz"):
        private.download(facts["report"].removeprefix(uri).replace("report.json", name), folder / name)
    published = folder / "published"
    shutil.rmtree(published, ignore_errors=True)
    published.mkdir()
    public = s3.store(PUBLIC)
    for stored in public.list():
        public.download(stored.key, published / stored.key)
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def _validate(s3: S3Service) -> Validation:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.validate import validate

    os.environ.update(s3.environment())
    return validate(
        f"s3://{PUBLIC}/sitemap.xml",
        connections=EnvironmentConnections(),
        base_url=SITE_URL,
        hosts=["https://demo-shop.example"],
    )


def _print(console: Console, folder: Path, report: dict[str, Any], validation: Validation, steps: Steps) -> None:
    console.print(f"\n[bold]Published[/] {report['indexes'][0]} to s3://{PUBLIC}/, release {report['release']}\n")
    if not report["bytes"]["uploaded"]:
        console.print("Everything is as the last run left it: nothing was uploaded.\n")
    summary.print_report(console, report)
    summary.print_validation(console, validation)
    summary.print_times(console, steps.times, report["timings"])
    summary.print_places(
        console,
        {
            "what is public": folder / "published",
            "what happened to every row": folder / "report.json",
            "rows left out, and why": folder / "rejects.csv.gz",
            "the DAG and its site file": folder / "dags",
            "Airflow's log": folder / "airflow.log",
        },
    )
