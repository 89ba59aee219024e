"""The servers that sources and targets need, started when first asked for: those of the tests, on loopback."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from benchmarks.inventory import Inventory, into_postgres
from tests.services.postgres import new_database, postgres
from tests.services.s3 import S3Service, seaweedfs


class Servers(ExitStack):
    """PostgreSQL and SeaweedFS with their data below a folder; they stop with the context."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def database(self, inventory: Inventory) -> str:
        """The SQLAlchemy URL of a database with the table `inventory`."""
        url = new_database(self._postgres)
        into_postgres(inventory, url)
        return url

    def bucket(self) -> tuple[str, dict[str, str]]:
        """A fresh bucket, and the environment by which boto3 finds it."""
        return self._s3.create_bucket(), self._s3.environment()

    @cached_property
    def _postgres(self) -> str:
        return self.enter_context(postgres(self._folder))

    @cached_property
    def _s3(self) -> S3Service:
        return self.enter_context(seaweedfs(self._folder / "s3"))
