"""Airflow's connections as database URLs and S3 clients. Airflow finds them in the environment, as in a deployment."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sitemap_ops.errors import UsageError
from tests.services.s3 import S3Service

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PASSWORD = "S3cr3t/p@ss w0rd"


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Any:
    from airflow.sdk.execution_time.cache import SecretCache

    from sitemap_ops.airflow.connections import AirflowConnections

    SecretCache.reset()
    return AirflowConnections()


def define(monkeypatch: pytest.MonkeyPatch, conn_id: str, **fields: Any) -> None:
    monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))


DATABASES = [
    pytest.param(
        {"conn_type": "postgres", "host": "db", "port": 5433, "login": "me", "schema": "shop"},
        "postgresql+psycopg://me:S3cr3t%2Fp%40ss w0rd@db:5433/shop",
        id="postgres",
    ),
    pytest.param(
        {"conn_type": "postgres", "host": "db", "login": "me", "schema": "shop",
         "extra": {"sslmode": "verify-full", "keepalives_idle": 30, "cursor": "dictcursor", "sqlalchemy_query": {}}},
        "postgresql+psycopg://me:S3cr3t%2Fp%40ss w0rd@db/shop?keepalives_idle=30&sslmode=verify-full",
        id="postgres: libpq's options are kept, Airflow's own are not",
    ),
    pytest.param(
        {"conn_type": "postgres", "host": "/run/postgresql", "login": "me", "schema": "shop"},
        "postgresql+psycopg://me:S3cr3t%2Fp%40ss w0rd@/shop?host=%2Frun%2Fpostgresql",
        id="postgres: a Unix socket",
    ),
    pytest.param(
        {"conn_type": "mysql", "host": "db", "login": "me", "schema": "shop", "extra": {"ssl": {"ca": "/etc/ca.pem"}}},
        "mysql+pymysql://me:S3cr3t%2Fp%40ss w0rd@db/shop?charset=utf8mb4&ssl_ca=%2Fetc%2Fca.pem",
        id="mysql: without the mysql provider",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), DATABASES)
def test_database_url(monkeypatch: pytest.MonkeyPatch, connections: Any, fields: dict[str, Any], expected: str) -> None:
    """A connection becomes a SQLAlchemy URL with a driver that the requirements install, options included."""
    define(monkeypatch, "shop_db", password=PASSWORD, **fields)
    database = connections.database("shop_db")
    assert database.url.render_as_string(hide_password=False) == expected
    assert PASSWORD not in repr(database)
    database.url.get_dialect().import_dbapi()


def test_driver_is_given_the_password_and_the_options(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """What the URL says reaches the driver as it was in the connection: no escape is left in the password."""
    define(
        monkeypatch, "shop_db",
        conn_type="postgres", host="db", login="me", password=PASSWORD, schema="shop", extra={"sslmode": "require"},
    )  # fmt: skip
    url = connections.database("shop_db").url
    _, arguments = url.get_dialect()().create_connect_args(url)
    assert (arguments["password"], arguments["sslmode"]) == (PASSWORD, "require")


@pytest.mark.parametrize(
    "definition",
    ["sqlite://%2Fsrv%2Fshop.db", "sqlite:////srv/shop.db", '{"conn_type": "sqlite", "host": "/srv/shop.db"}'],
)
def test_sqlite_file(monkeypatch: pytest.MonkeyPatch, connections: Any, definition: str) -> None:
    """The file's path, whichever of the ways of writing it is used."""
    monkeypatch.setenv("AIRFLOW_CONN_SHOP_DB", definition)
    assert connections.database("shop_db").url.database == "/srv/shop.db"


REFUSED = [
    pytest.param(
        {"conn_type": "mysql", "extra": {"ssl_mode": "VERIFY_CA"}}, "'ssl_mode'", id="an option that would be lost"
    ),
    pytest.param(
        {"conn_type": "postgres", "extra": {"options": {"a": "S3cr3t"}}}, "'options'", id="a value no URL can hold"
    ),
    pytest.param({"conn_type": "oracle"}, "'oracle', for which no provider is installed", id="no provider"),
    pytest.param({"conn_type": "http"}, "which is no database", id="no database"),
]


@pytest.mark.parametrize(("fields", "part"), REFUSED)
def test_unusable_database(
    monkeypatch: pytest.MonkeyPatch, connections: Any, fields: dict[str, Any], part: str
) -> None:
    """A connection that can't be used is refused by name, and what it holds is not shown."""
    define(monkeypatch, "shop_db", host="db", password=PASSWORD, **fields)
    with pytest.raises(UsageError, match=part) as raised:
        connections.database("shop_db")
    assert "'shop_db'" in str(raised.value)
    assert "S3cr3t" not in str(raised.value)


def test_token_connections_are_opened_by_their_hook(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """A password that exists only at the moment of connecting (IAM) can't be in a URL: the hook connects."""
    define(monkeypatch, "shop_db", conn_type="postgres", host="db", extra={"iam": True})
    database = connections.database("shop_db")
    assert database.url is None
    assert database.connect.__self__.__class__.__name__ == "PostgresHook"


@pytest.mark.parametrize("method", ["database", "s3"])
def test_missing_connection(connections: Any, method: str) -> None:
    """A connection that isn't there is named, with the ways to make it."""
    with pytest.raises(UsageError, match=r"no Airflow connection 'nowhere'.*AIRFLOW_CONN_NOWHERE"):
        getattr(connections, method)("nowhere")


def test_password_is_masked_in_all_its_forms(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """Airflow's log masks the password as it is, and as a URL or a header would hold it."""
    from airflow.sdk._shared.secrets_masker import redact

    define(monkeypatch, "shop_db", conn_type="postgres", host="db", login="me", password=PASSWORD, schema="shop")
    url = connections.database("shop_db").url
    shown = redact(
        f"{PASSWORD} {url.render_as_string(hide_password=False)} S3cr3t%2Fp%40ss+w0rd UzNjcjN0L3BAc3MgdzByZA=="
    )
    assert shown == "*** postgresql+psycopg://me:***@db/shop *** ***"


def test_s3_client_of_a_connection(monkeypatch: pytest.MonkeyPatch, connections: Any, s3_service: S3Service) -> None:
    """The client has the connection's endpoint, keys and region, and this project's retries, for any S3 server."""
    define(
        monkeypatch, "files",
        conn_type="aws", login=s3_service.access_key, password=s3_service.secret_key,
        extra={"endpoint_url": s3_service.endpoint_url, "region_name": "us-east-1"},
    )  # fmt: skip
    client = connections.s3("files")
    client.create_bucket(Bucket="airflow-connection")
    client.put_object(Bucket="airflow-connection", Key="a", Body=b"x")
    assert client.get_object(Bucket="airflow-connection", Key="a")["Body"].read() == b"x"
    assert client.meta.config.retries == {"mode": "standard", "total_max_attempts": 8}
    assert client.meta.config.s3["addressing_style"] == "path"


def test_s3_options_of_the_connection_win(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """`config_kwargs` of the connection are the user's word and override the project's defaults."""
    options = {"read_timeout": 7, "s3": {"addressing_style": "virtual"}}
    define(monkeypatch, "files", conn_type="aws", extra={"region_name": "eu-west-1", "config_kwargs": options})
    config = connections.s3("files").meta.config
    assert (config.read_timeout, config.connect_timeout) == (7, 5)
    assert config.s3["addressing_style"] == "virtual"


@pytest.mark.parametrize("conn_id", [None, "aws_default"])
def test_s3_without_a_connection(monkeypatch: pytest.MonkeyPatch, connections: Any, conn_id: str | None) -> None:
    """Without one, or with Airflow's own default id undefined, boto3's credential chain and environment count."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "from-the-environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = connections.s3(conn_id)
    assert client.meta.endpoint_url == "http://127.0.0.1:9"
    assert client.meta.config.s3["addressing_style"] == "path"
    assert client._get_credentials().access_key == "from-the-environment"


def test_cloudfront_is_reached_with_the_connections_key(monkeypatch: pytest.MonkeyPatch, connections: Any) -> None:
    """An endpoint of another S3 is not CloudFront's; one of its own can be named."""
    extra = {"region_name": "eu-west-1", "endpoint_url": "http://127.0.0.1:8333"}
    define(monkeypatch, "s3", conn_type="aws", login="AKIAEXAMPLE", password=PASSWORD, extra=extra)
    assert connections.cloudfront("s3").meta.endpoint_url == "https://cloudfront.amazonaws.com"
    services = {"cloudfront": {"endpoint_url": "http://127.0.0.1:1"}}
    define(
        monkeypatch, "own", conn_type="aws", login="AKIAEXAMPLE", password=PASSWORD, extra={"service_config": services}
    )
    client = connections.cloudfront("own")
    assert client.meta.endpoint_url == "http://127.0.0.1:1"
    assert client.meta.config.retries["total_max_attempts"] == 8
    with pytest.raises(UsageError, match="There is no Airflow connection 'none'"):
        connections.cloudfront("none")
