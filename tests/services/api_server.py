"""Airflow's API server alone, with users who have to log in, and the project's plugin: what the UI is tested with."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.services.airflow import Airflow
from tests.services.airflow_servers import START_SECONDS, free_port
from tests.services.process import running
from tests.services.shared import ROOT

PASSWORDS = {"viewer": "viewer-0f2c", "nobody": "nobody-7d1e"}
"""Two users: one who may see everything, one without any permission."""


@dataclass(frozen=True)
class ApiServer:
    """A running server. `url` is Airflow's own address, with its path and without a slash at the end."""

    url: str

    def client(self, user: str | None = None, accept: str = "text/html") -> httpx.Client:
        """As a browser would ask (or a program, by `accept`), logged in or not; redirects are not followed."""
        headers = {"Accept": accept}
        if user:
            login = {"username": user, "password": PASSWORDS[user]}
            answer = httpx.post(f"{self.url}/auth/token", json=login, trust_env=False)
            headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['access_token']}"
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=60)


@contextmanager
def api_server(airflow: Airflow, path: str = "") -> Iterator[ApiServer]:
    """The server, up; `path` is where a proxy would put Airflow, such as `/airflow`."""
    passwords = airflow.home / "passwords.json"
    passwords.write_text(json.dumps(PASSWORDS))
    port = free_port()
    url = f"http://127.0.0.1:{port}{path}"
    variables = airflow.variables | {
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "viewer:viewer,nobody:",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
    }
    log = airflow.home / "api-server.log"
    command = [sys.executable, "-m", "airflow", "api-server"]
    with running(command, environment=variables, folder=airflow.home, log=log) as process:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"{url}/api/v2/version"):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text(errors="replace")[-4000:]
            time.sleep(0.3)
        yield ApiServer(url)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
