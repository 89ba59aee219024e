"""Credentials from Airflow's connections. Airflow finds them in the environment, as in a deployment."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sitemap_ops.credentials import Credentials
from sitemap_ops.errors import UsageError

pytestmark = pytest.mark.airflow

TOKEN = "S3cr3t/t@ken"


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Any:
    from airflow.sdk.execution_time.cache import SecretCache

    from sitemap_ops.airflow.connections import AirflowConnections

    SecretCache.reset()
    return AirflowConnections()


def define(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_API", json.dumps(fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"conn_type": "generic", "password": TOKEN}, Credentials("api", None, TOKEN)),
        ({"conn_type": "http", "host": "api.example", "schema": "https", "port": 8443, "password": TOKEN},
         Credentials("api", "https://api.example:8443", TOKEN)),
        ({"conn_type": "http", "host": "http://127.0.0.1:81/base/", "password": TOKEN},
         Credentials("api", "http://127.0.0.1:81/base", TOKEN)),
        ({"conn_type": "google_cloud_platform", "extra": {"keyfile_dict": {"private_key": "k"}}},
         Credentials("api", None, None, {"keyfile_dict": {"private_key": "k"}})),
    ],
    ids=["a token", "http", "host with a scheme", "google"],
)  # fmt: skip
def test_credentials(
    monkeypatch: pytest.MonkeyPatch, connections: Any, fields: dict[str, Any], expected: Credentials
) -> None:
    """A connection of any type holds an API's key; its host may name another address of the API."""
    define(monkeypatch, **fields)
    assert connections.secret("api") == expected


@pytest.mark.parametrize("host", ["ftp://x", f"https://me:{TOKEN}@api.example", "https://", "https://a.example/?k=v"])
def test_host_that_is_no_address(monkeypatch: pytest.MonkeyPatch, connections: Any, host: str) -> None:
    """Told by the connection's id, without what is in it."""
    define(monkeypatch, conn_type="generic", host=host, password=TOKEN)
    with pytest.raises(UsageError, match="'api' has a host that is no address of an API") as raised:
        connections.secret("api")
    assert TOKEN not in str(raised.value)


def test_no_such_connection(connections: Any) -> None:
    """The id and what to do."""
    with pytest.raises(UsageError, match="There is no Airflow connection 'api'"):
        connections.secret("api")


def test_airflow_masks_what_is_secret(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """Should a library log a key, Airflow's masker takes it out: the password, and what the extra holds."""
    masked: list[str] = []
    monkeypatch.setattr("sitemap_ops.airflow.connections.mask_secret", masked.append)
    define(monkeypatch, conn_type="generic", password=TOKEN, extra={"keyfile_dict": {"private_key": "-----BEGIN KEY"}})
    connections.secret("api")
    assert {"S3cr3t%2Ft%40ken", "-----BEGIN%20KEY"} <= set(masked)
