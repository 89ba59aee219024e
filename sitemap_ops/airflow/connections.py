"""Airflow's connections as this project's: a database's URL, an S3 client.

The URL is made here where the type is known, since the hooks' own URLs drop the driver's options that a connection
keeps in its extra (a PostgreSQL connection's sslmode, for one).
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowException, AirflowNotFoundException
from airflow.sdk.log import mask_secret
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from sitemap_ops.connections import Database
from sitemap_ops.credentials import Credentials, base_url_of
from sitemap_ops.errors import UsageError
from sitemap_ops.storage.s3_client import client_config

if TYPE_CHECKING:
    from airflow.sdk import Connection
    from botocore.client import BaseClient
    from mypy_boto3_s3 import S3Client

AWS_DEFAULT = "aws_default"
"""The id that Airflow itself takes for boto3's own credential chain where no such connection exists."""

_BY_HOOK = {"iam", "azure_conn_id"}
"""Extras that get a password at the moment of connecting: the hook's work, which no URL can say."""

_POSTGRES_AIRFLOW = {
    "aws_conn_id", "cluster-identifier", "cursor", "redshift", "redshift-serverless", "sqlalchemy_query",
    "sqlalchemy_scheme", "workgroup-name",
}  # fmt: skip
"""Extras that Airflow's PostgresHook keeps to itself; all others are libpq's."""

_MYSQL_AIRFLOW = {"aws_conn_id", "client", "cursor"}
_MYSQL_DRIVER = {"charset", "connect_timeout", "init_command", "read_timeout", "unix_socket", "write_timeout"}
_MYSQL_SSL = {"ca", "cert", "check_hostname", "key"}


class AirflowConnections:
    """`sitemap_ops.connections.Connections` in an Airflow task. Nothing is logged, and no message holds a value."""

    def database(self, conn_id: str) -> Database:
        """The database behind an Airflow connection of any type that has a DB-API hook.

        Raises UsageError where there is no such connection, or none that a database can be reached by.
        """
        connection = _connection(conn_id)
        if _BY_HOOK & connection.extra_dejson.keys():
            return Database(conn_id, connect=_hook(connection).get_conn)
        if connection.conn_type in _URLS:
            return Database(conn_id, url=_URLS[connection.conn_type](connection))
        hook = _hook(connection)
        try:
            return Database(conn_id, url=make_url(hook.sqlalchemy_url))
        except (AttributeError, NotImplementedError, ArgumentError):
            return Database(conn_id, connect=hook.get_conn)

    def s3(self, conn_id: str | None) -> S3Client:
        """A client of the connection's credentials, region, endpoint and `config_kwargs`; None is boto3's own chain.

        Raises UsageError where there is no such connection: the hook would go on without credentials.
        """
        hook = _aws_hook(conn_id, "s3")
        session = hook.get_session(region_name=hook.region_name)
        endpoint = hook.conn_config.get_service_endpoint_url("s3")
        # Without one in the connection, boto3's environment and profile may still name an endpoint.
        actual = endpoint or session.client("s3").meta.endpoint_url
        client: S3Client = session.client(
            "s3", endpoint_url=endpoint, verify=hook.verify, config=client_config(actual).merge(hook.config)
        )
        return client

    def cloudfront(self, conn_id: str | None) -> BaseClient:
        """A CloudFront client of the same connection; an endpoint that it names for all services is not CloudFront's.

        Raises UsageError where there is no such connection.
        """
        hook = _aws_hook(conn_id, "cloudfront")
        endpoint = hook.conn_config.get_service_config("cloudfront").get("endpoint_url")
        client: BaseClient = hook.get_session(region_name=hook.region_name).client(
            "cloudfront", endpoint_url=endpoint, verify=hook.verify, config=client_config(None).merge(hook.config)
        )
        return client

    def secret(self, conn_id: str) -> Credentials:
        """A connection's password, extra, and the API's address where it names another; of any type.

        Raises UsageError where there is no such connection, or its host is no web address.
        """
        connection = _connection(conn_id)
        try:
            base_url = base_url_of(connection.host, connection.port, connection.schema)
        except ValueError:
            raise UsageError(
                f"The Airflow connection {conn_id!r} has a host that is no address of an API: leave it empty, or write"
                " https://host/path."
            ) from None
        credentials = Credentials(conn_id, base_url, connection.password, connection.extra_dejson)
        for secret in credentials.secrets():
            _mask(secret)
        return credentials


def _aws_hook(conn_id: str | None, service: str) -> Any:
    from airflow.providers.amazon.aws.hooks.base_aws import AwsBaseHook

    if conn_id and conn_id != AWS_DEFAULT:
        _connection(conn_id)
    return AwsBaseHook(aws_conn_id=conn_id, client_type=service)


def _connection(conn_id: str) -> Connection:
    try:
        connection: Connection = BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        raise UsageError(
            f"There is no Airflow connection {conn_id!r}: make it in Admin > Connections, or set"
            f" AIRFLOW_CONN_{conn_id.upper()}, or correct the id in the site file."
        ) from None
    if connection.password:
        _mask(connection.password)
    return connection


def _mask(password: str) -> None:
    """Airflow masks the password as it is; a driver's message may hold it as a URL or a header would."""
    for form in (quote(password, safe=""), quote(password, safe=" +"), quote_plus(password)):
        mask_secret(form)
    mask_secret(base64.b64encode(password.encode()).decode())


def _hook(connection: Connection) -> Any:
    try:
        hook: Any = connection.get_hook()  # type: ignore[no-untyped-call]
    except (AirflowException, ImportError):
        raise UsageError(
            f"The Airflow connection {connection.conn_id!r} is of type {connection.conn_type!r}, for which no provider"
            " is installed: install it (apache-airflow-providers-...), or correct the type."
        ) from None
    if not hasattr(hook, "get_cursor"):
        raise UsageError(
            f"The Airflow connection {connection.conn_id!r} is of type {connection.conn_type!r}, which is no database"
            " that SQL can be sent to: name another one in the site file."
        )
    return hook


def _postgres(connection: Connection) -> URL:
    extra = {key: value for key, value in connection.extra_dejson.items() if key not in _POSTGRES_AIRFLOW}
    url = _url("postgresql+psycopg", connection, _texts(connection, extra))
    if (url.host or "").startswith("/"):  # a Unix socket's folder can't stand where a URL has its host
        url = url.set(host="").update_query_dict({"host": connection.host or ""})
    return url


def _mysql(connection: Connection) -> URL:
    extra = {key: value for key, value in connection.extra_dejson.items() if key not in _MYSQL_AIRFLOW}
    ssl = extra.pop("ssl", None) or {}
    if not isinstance(ssl, dict) or ssl.keys() - _MYSQL_SSL:
        raise _unusable(connection, "ssl")
    for key in extra.keys() - _MYSQL_DRIVER:  # left out in silence, an option such as ssl_mode would be a hole
        raise _unusable(connection, key)
    extra |= {f"ssl_{key}": value for key, value in ssl.items()}
    return _url("mysql+pymysql", connection, _texts(connection, {"charset": "utf8mb4"} | extra))


def _sqlite(connection: Connection) -> URL:
    """The file is the host (`sqlite://%2Fsrv%2Fshop.db`); a URI written as SQLAlchemy's puts it into the schema."""
    path = "/".join(part for part in (connection.host, connection.schema) if part)
    return URL.create("sqlite", database=path, query=_texts(connection, connection.extra_dejson))


_URLS = {"postgres": _postgres, "mysql": _mysql, "sqlite": _sqlite}


def _url(drivername: str, connection: Connection, query: dict[str, str]) -> URL:
    return URL.create(
        drivername,
        username=connection.login,
        password=connection.password,
        host=connection.host,
        port=connection.port,
        database=connection.schema,
        query=query,
    )


def _texts(connection: Connection, extra: dict[str, Any]) -> dict[str, str]:
    for key, value in extra.items():
        if not isinstance(value, str | int | float):
            raise _unusable(connection, key)
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in extra.items()}


def _unusable(connection: Connection, key: str) -> UsageError:
    return UsageError(
        f"The Airflow connection {connection.conn_id!r} has the extra {key!r} (its value is not shown), which can't be"
        f" passed on to a {connection.conn_type} driver here: remove it, or write it as the driver's own options."
    )
