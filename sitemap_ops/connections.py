"""How a run reaches databases and S3: by an id that the site file names, never by a secret in it.

Inside Airflow the ids are connections (`sitemap_ops.airflow.connections`); elsewhere they come from the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sitemap_ops.errors import UsageError

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_s3 import S3Client
    from sqlalchemy import URL

    from sitemap_ops.credentials import Credentials

ENVIRONMENT_PREFIX = "SITEMAP_OPS_CONN_"


@dataclass(frozen=True)
class Database:
    """One database: by its SQLAlchemy URL where there is one, else by a factory of DB-API connections.

    The repr holds neither: both carry the password.
    """

    conn_id: str
    url: URL | None = field(default=None, repr=False)
    connect: Callable[[], Any] | None = field(default=None, repr=False)


class Connections(Protocol):
    """What a run needs to reach the world."""

    def database(self, conn_id: str) -> Database:
        """The database behind an id. Raises UsageError where there is none."""

    def s3(self, conn_id: str | None) -> S3Client:
        """A boto3 S3 client with this project's timeouts and retries (see `storage.s3_client.client_config`)."""

    def cloudfront(self, conn_id: str | None) -> BaseClient:
        """A boto3 CloudFront client of the same credentials, time-outs and retries."""

    def secret(self, conn_id: str) -> Credentials:
        """What a search engine's API asks for. Raises UsageError where there is no such connection."""


class EnvironmentConnections:
    """Outside Airflow: SITEMAP_OPS_CONN_<ID> is a database's SQLAlchemy URL or an API's key; S3 has boto3's chain."""

    def database(self, conn_id: str) -> Database:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError

        name = _variable(conn_id)
        value = os.environ.get(name)
        if not value:
            raise UsageError(
                f"There is no connection {conn_id!r} outside Airflow: set {name} to its SQLAlchemy URL,"
                " such as postgresql://user:password@host:5432/database."
            )
        try:
            url = make_url(value)
            # libpq and many hosts also spell it so; SQLAlchemy does not.
            return Database(conn_id, url=url.set(drivername="postgresql") if url.drivername == "postgres" else url)
        except ArgumentError:
            raise UsageError(
                f"{name} is not a SQLAlchemy URL (its value is not shown): write it as"
                " postgresql://user:password@host:5432/database, special characters percent-encoded."
            ) from None

    def s3(self, conn_id: str | None) -> S3Client:
        import boto3
        from botocore.exceptions import BotoCoreError

        from sitemap_ops.storage.s3_client import client_config

        try:
            session = boto3.Session()
            endpoint_url = session.client("s3").meta.endpoint_url
            return session.client("s3", config=client_config(endpoint_url))
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"boto3 can't make an S3 client of your AWS settings: {error}.") from None

    def cloudfront(self, conn_id: str | None) -> BaseClient:
        import boto3
        from botocore.exceptions import BotoCoreError

        from sitemap_ops.storage.s3_client import client_config

        try:
            client: BaseClient = boto3.Session().client("cloudfront", config=client_config(None))
            return client
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"boto3 can't make a CloudFront client of your AWS settings: {error}.") from None

    def secret(self, conn_id: str) -> Credentials:
        from sitemap_ops.credentials import parse_credentials

        name = _variable(conn_id)
        value = os.environ.get(name, "").strip()
        if not value:
            raise UsageError(
                f"There is no connection {conn_id!r} outside Airflow: set {name} to the API's key or token."
            )
        return parse_credentials(conn_id, value, name)


def _variable(conn_id: str) -> str:
    return ENVIRONMENT_PREFIX + conn_id.upper().replace("-", "_").replace(".", "_")
