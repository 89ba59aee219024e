"""A running Airflow on loopback: API server, scheduler with LocalExecutor, DAG processor; stopped whatever happens."""

from __future__ import annotations

import json
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.services.airflow import Airflow
from tests.services.process import running

START_SECONDS = 180.0
POLL_SECONDS = 0.5

Found = TypeVar("Found")


@dataclass(frozen=True)
class AirflowServers:
    """The REST API of a running Airflow."""

    airflow: Airflow
    url: str
    token: str = field(repr=False)

    def get(self, path: str) -> Any:
        return _request(f"{self.url}/api/v2/{path}", token=self.token)

    def post(self, path: str, body: dict[str, Any], method: str = "POST") -> Any:
        return _request(f"{self.url}/api/v2/{path}", body, method=method, token=self.token)

    def wait_for(self, what: str, look: Callable[[], Found | None], seconds: float) -> Found:
        """What `look` finds, once it finds something. Fails with the servers' logs where it does not."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := look():
                return found
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"no {what} within {seconds:.0f} s\n{self.logs()}")

    def logs(self) -> str:
        """The ends of the servers' logs."""
        return "\n".join(f"== {log.name}\n{log.read_text()[-3000:]}" for log in self.airflow.home.glob("*.log"))


@contextmanager
def airflow_servers(airflow: Airflow, **settings: str) -> Iterator[AirflowServers]:
    """The three servers of an Airflow, up and healthy. settings: further environment variables of theirs."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    variables = (
        airflow.variables
        | {
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__BASE_URL": url,
            "AIRFLOW__API__WORKERS": "1",
            # It does not follow the port: tasks would call another server, or none.
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC": "2",
        }
        | settings
    )
    commands = {
        "api-server": ["api-server"],
        "scheduler": ["scheduler", "--skip-serve-logs"],  # that server would listen on all addresses
        "dag-processor": ["dag-processor"],
    }
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                running(
                    [sys.executable, "-m", "airflow", *arguments],
                    environment=variables,
                    folder=airflow.home,
                    log=airflow.home / f"{name}.log",
                )
            )
            for name, arguments in commands.items()
        ]
        starting = AirflowServers(airflow, url, "")

        def healthy() -> bool:
            stopped = [name for name, process in zip(commands, processes, strict=True) if process.poll() is not None]
            assert not stopped, f"{stopped} ended\n{starting.logs()}"
            try:
                health = starting.get("monitor/health")
            except OSError:
                return False
            return all(health[name]["status"] == "healthy" for name in ("metadatabase", "scheduler", "dag_processor"))

        starting.wait_for("healthy Airflow", healthy, START_SECONDS)
        yield AirflowServers(airflow, url, _request(f"{url}/auth/token")["access_token"])


def _request(url: str, body: dict[str, Any] | None = None, *, method: str = "GET", token: str = "") -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise OSError(f"{method} {url}: {error.code} {error.read()[:500]!r}") from None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
