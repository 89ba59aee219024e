"""Real S3 APIs on loopback, each from a wheel and unlike the others.

| server    | keeps data | asks for the key | honours conditions | checks bodies by |
|-----------|------------|------------------|--------------------|------------------|
| SeaweedFS | on disk    | yes              | yes                | SHA-256, MD5     |
| ministack | no         | no               | yes                | MD5              |
| moto      | no         | no               | yes                | nothing          |
| nanio     | on disk    | yes              | no                 | MD5              |

Each is a plain context manager, so that the demo can use it too.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sitemap_ops.storage.s3 import S3Store
from sitemap_ops.storage.s3_client import client_config
from tests.services.shared import missing

REGION = "us-east-1"
ACCESS_KEY = "sitemapops"
SECRET_KEY = "S3cr3t/p@ss+w0rd&"
START_SECONDS = 30.0
START_ATTEMPTS = 3
VOLUMES = 10_000
"""Every bucket takes some of them; by default there are as many as the disk has free GiB, which tests use up."""

# The child asks the kernel to be killed with its parent (Linux): no orphan, however the parent ends. To the kernel the
# parent is the thread that started it, so start services from a thread that lasts.
_LAUNCH = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class S3Service:
    """A running S3 API and the key to it. The secret has letters that URLs and JSON would escape, to find leaks by."""

    name: str
    endpoint_url: str
    access_key: str
    secret_key: str = field(repr=False)

    def client(self, *, secret_key: str | None = None, config: Config | None = None, **overrides: Any) -> Any:
        """A client as the product makes it; `config` is merged over the product's."""
        base = client_config(self.endpoint_url)
        return _session().client(
            "s3",
            endpoint_url=overrides.pop("endpoint_url", self.endpoint_url),
            aws_access_key_id=overrides.pop("access_key", self.access_key),
            aws_secret_access_key=secret_key or self.secret_key,
            region_name=REGION,
            config=base.merge(config) if config else base,
            **overrides,
        )

    def create_bucket(self, name: str | None = None) -> str:
        """A bucket, with a fresh name unless one is given; one that is there already is kept."""
        name = name or f"test-{uuid.uuid4().hex[:16]}"
        client = self.client()
        with suppress(client.exceptions.BucketAlreadyOwnedByYou, client.exceptions.BucketAlreadyExists):
            client.create_bucket(Bucket=name)
        return name

    def store(self, bucket: str, prefix: str = "", **options: Any) -> S3Store:
        return S3Store(self.client(), bucket, prefix, **options)

    def environment(self) -> dict[str, str]:
        """What boto3 in another process needs to find this service."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def seaweedfs(folder: Path) -> Iterator[S3Service]:
    """SeaweedFS with its data below `folder` (kept), on free loopback ports, silent, telemetry off."""
    weed = _binary("weed")
    folder = folder.resolve()
    (folder / "tmp").mkdir(parents=True, exist_ok=True)

    def command(ports: list[int]) -> list[str]:
        names = ("s3", "master", "volume", "filer", "admin")
        options = [f"-{name}.port={port}" for name, port in zip(names, ports[0::2], strict=True)]
        options += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[1::2], strict=True)]
        return [
            weed, "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *options,
            "-master.telemetry=false", "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
            "-s3.autoCreateBucket=false", "-s3.allowDeleteBucketNotEmpty=false", f"-volume.max={VOLUMES}",
            f"-s3.localSocket={folder}/tmp/s3.sock", f"-filer.localSocket={folder}/tmp/filer.sock",
        ]  # fmt: skip

    with _started("seaweedfs", command, 10, folder) as service:
        yield service


@contextmanager
def moto(folder: Path) -> Iterator[S3Service]:
    server = _binary("moto_server")
    with _started("moto", lambda ports: [server, "-H", "127.0.0.1", "-p", str(ports[0])], 1, folder) as service:
        yield service


@contextmanager
def ministack(folder: Path) -> Iterator[S3Service]:
    """ministack's S3 alone. By default it would listen on all interfaces, and start SFTP and MQTT servers beside."""
    server = _binary("ministack")

    def settings(port: int) -> dict[str, str]:
        off = {"SFTP_ENABLED": "0", "IOT_MTLS_ENABLED": "0"}
        return off | {
            "BIND_HOST": "127.0.0.1", "MINISTACK_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "SERVICES": "s3"
        }  # fmt: skip

    with _started("ministack", lambda _: [server], 1, folder, settings) as service:
        yield service


@contextmanager
def nanio(folder: Path) -> Iterator[S3Service]:
    """nanio, which takes every conditional write for an unconditional one: publishing there is not safe."""
    server = _binary("nanio")

    def settings(port: int) -> dict[str, str]:
        return {
            "NANIO_ACCESS_KEY": ACCESS_KEY, "NANIO_SECRET_KEY": SECRET_KEY, "NANIO_DATA_DIR": f"{folder}/data",
            "NANIO_HOST": "127.0.0.1", "NANIO_PORT": str(port),
        }  # fmt: skip

    with _started("nanio", lambda _: [server, "serve", "--no-access-log"], 1, folder, settings) as service:
        yield service


@contextmanager
def _started(
    name: str,
    command: Callable[[list[int]], list[str]],
    ports_needed: int,
    folder: Path,
    settings: Callable[[int], dict[str, str]] = lambda _: {},
) -> Iterator[S3Service]:
    """command, settings: the program and its environment, given free ports, the first of which is the S3 API's."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for attempt in range(1, START_ATTEMPTS + 1):
            # Another process may take a port between the look and the start: then try with others.
            ports = _free_ports(ports_needed)
            service = S3Service(name, f"http://127.0.0.1:{ports[0]}", ACCESS_KEY, SECRET_KEY)
            process = stack.enter_context(_process(command(ports), settings(ports[0]), service, folder))
            try:
                _wait_until_ready(service, process, folder)
                break
            except RuntimeError:
                stack.close()
                if attempt == START_ATTEMPTS:
                    raise
        yield service


@contextmanager
def _process(
    command: list[str], settings: Mapping[str, str], service: S3Service, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    environment: Mapping[str, str] = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp") if (folder / "tmp").is_dir() else str(folder),
        "AWS_ACCESS_KEY_ID": service.access_key,
        "AWS_SECRET_ACCESS_KEY": service.secret_key,
        **settings,
    }
    with (folder / f"{service.name}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # a terminal's Ctrl-C reaches the parent only, which then stops it in order
        )
    try:
        yield process
    finally:
        # SeaweedFS needs 4.5 s for SIGTERM and loses nothing by SIGKILL (tried: 0 of 1,334 acknowledged objects).
        process.kill()
        process.wait()


def _wait_until_ready(service: S3Service, process: subprocess.Popen[bytes], folder: Path) -> None:
    quick = Config(retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=1, read_timeout=5)
    client = service.client(config=quick)
    probe = {"Bucket": "ready", "Key": "probe"}
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(BotoCoreError, ClientError):
            client.create_bucket(Bucket="ready")
            client.put_object(**probe, Body=b"x")
            client.delete_object(**probe)
            client.delete_bucket(Bucket="ready")
            return
        with suppress(BotoCoreError, ClientError):
            client.delete_bucket(Bucket="ready")
        time.sleep(0.1)
    tail = (folder / f"{service.name}.log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{service.name} did not start within {START_SECONDS:.0f} s; its log ends:\n{tail}")


@cache
def _session() -> boto3.session.Session:
    """One for all clients: it keeps the service's model, which takes 0.2 s to load."""
    return boto3.session.Session()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _binary(name: str) -> str:
    beside = Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        missing(f"the program {name!r}: pip install -r requirements-dev.txt")
        raise AssertionError
    return found


@pytest.fixture(scope="session")
def s3_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Service]:
    """SeaweedFS: checks signatures, checksums and conditions, and keeps its data on disk."""
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as service:
        yield service


@pytest.fixture
def bucket(s3_service: S3Service) -> str:
    """A fresh, empty bucket of `s3_service`."""
    return s3_service.create_bucket()


@pytest.fixture(scope="session")
def moto_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Service]:
    with moto(tmp_path_factory.mktemp("moto")) as service:
        yield service


@pytest.fixture(scope="session")
def ministack_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Service]:
    with ministack(tmp_path_factory.mktemp("ministack")) as service:
        yield service


@pytest.fixture(scope="session")
def nanio_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Service]:
    with nanio(tmp_path_factory.mktemp("nanio")) as service:
        yield service
