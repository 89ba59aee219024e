"""Airflow with CeleryExecutor: PostgreSQL for its metadata, Redis as its broker, workers that share nothing but those.

Each worker has its own home, its own copy of the DAG folder and its own temporary folder, as on a machine of its own;
tasks name it as their host.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil

from tests.services.airflow import Airflow, environment, migrate
from tests.services.airflow_servers import AirflowServers, airflow_servers, free_port
from tests.services.postgres import new_database
from tests.services.process import running
from tests.services.shared import missing

START_SECONDS = 120.0
_NAME = "TESTED_WORKER"


def worker_name() -> str:
    """What a task calls its host: Airflow's `hostname_callable`."""
    return os.environ.get(_NAME) or socket.gethostname()


@dataclass(frozen=True)
class Worker:
    """One worker, which does one task at a time."""

    name: str
    log: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, f"{self.name} ended\n{self.log.read_text()[-3000:]}"
        return " ready." in self.log.read_text()

    def kill(self) -> int:
        """As when its machine is lost: it and all that it has started, at once. Gives how many processes that were."""
        mother = psutil.Process(self.process.pid)
        family = [mother, *mother.children(recursive=True)]
        for each in family:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait()
        return len(family)


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """A Redis on a free port of loopback that keeps nothing: its URL."""
    program = shutil.which("redis-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        missing("redis-server: RUNLEVEL=1 apt-get install --no-install-recommends redis-server")
        raise AssertionError
    port = free_port()
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    with running(command, environment=os.environ, folder=folder, log=folder / "redis.log") as process:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(port):
            assert process.poll() is None and time.monotonic() < deadline, (folder / "redis.log").read_text()
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/0"


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as line:
        line.sendall(b"PING\r\n")
        return line.recv(7) == b"+PONG\r\n"
    return False


def celery_airflow(postgres_url: str, broker: str, home: Path, dags: Path) -> Airflow:
    """An Airflow whose executor is Celery's, with a metadata database of its own; nothing of it runs yet."""
    if find_spec("airflow.providers.celery") is None:
        missing("Celery for Airflow: pip install -r requirements-celery.txt")
    metadata = new_database(postgres_url)
    home.mkdir()
    variables = environment(home, dags) | {
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": metadata.replace("postgresql://", "postgresql+psycopg2://"),
        "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
        "AIRFLOW__CORE__PARALLELISM": "8",
        "AIRFLOW__CORE__HOSTNAME_CALLABLE": f"{__name__}.worker_name",
        "AIRFLOW__CELERY__BROKER_URL": broker,
        "AIRFLOW__CELERY__RESULT_BACKEND": metadata.replace("postgresql://", "db+postgresql://"),
    }
    migrate(variables)
    return Airflow(home, dags, variables)


@contextmanager
def celery_servers(
    airflow: Airflow, names: Sequence[str], **settings: str
) -> Iterator[tuple[AirflowServers, dict[str, Worker]]]:
    """The servers of a `celery_airflow` and its workers by name, all up. settings: further environment variables.

    The DAG folder is copied to each worker now.
    """
    # What `airflow_servers` sets for an executor of its own.
    given = {name: airflow.variables[name] for name in ("AIRFLOW__CORE__EXECUTOR", "AIRFLOW__CORE__PARALLELISM")}
    with ExitStack() as stack:
        servers = stack.enter_context(airflow_servers(airflow, **given, **settings))
        url = {"AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{servers.url}/execution/"}
        workers = {name: stack.enter_context(_worker(airflow, name, url | settings)) for name in names}
        servers.wait_for("ready workers", lambda: all(each.is_ready() for each in workers.values()), START_SECONDS)
        yield servers, workers


@contextmanager
def _worker(airflow: Airflow, name: str, settings: dict[str, str]) -> Iterator[Worker]:
    home = airflow.home.with_name(name)
    dags, temporary = home / "dags", home / "tmp"
    shutil.copytree(airflow.dags, dags)
    temporary.mkdir()
    own = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        _NAME: name,
    }
    command = [
        *(sys.executable, "-m", "airflow", "celery", "worker", "--celery-hostname", f"{name}@loopback"),
        *("--concurrency", "1", "--skip-serve-logs", "--without-gossip", "--without-mingle"),
        *("--pid", str(home / "worker.pid")),
    ]
    log = airflow.home / f"{name}.log"  # beside those of the servers
    with running(command, environment=airflow.variables | settings | own, folder=home, log=log) as process:
        yield Worker(name, log, process)
