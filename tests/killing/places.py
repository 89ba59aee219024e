"""Where a release goes in these tests, in S3 or in a folder: read as a crawler would, and put back to what it was."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from botocore.config import Config
from lxml import etree

from sitemap_ops.connections import Connections, EnvironmentConnections
from sitemap_ops.storage import OWN_PREFIX
from tests.killing.processes import Points
from tests.services.s3 import S3Service

PUBLIC, PRIVATE = "public/", "private/"

_THREADS = 8
_META = "x-amz-meta-"
_FIELDS = {"ContentType": "content-type", "CacheControl": "cache-control", "ContentEncoding": "content-encoding"}


@dataclass(frozen=True)
class Object:
    """What lies under a name; `told` are the headers that a store keeps with it."""

    body: bytes = field(repr=False)
    told: Mapping[str, str] = field(default_factory=dict)


Objects = Mapping[str, Object]
"""By name, PUBLIC or PRIVATE in front."""


class Place(Protocol):
    target: str
    state: str

    @property
    def connections(self) -> Connections:
        """A run's way to the place: none was used by another process."""

    def watch(self, points: Points, connections: Connections, *, finely: bool = True) -> None:
        """Let this process reach a point before and after each of its steps at this place.

        finely: in a folder also within a step, where it may hold the lock.
        """

    def objects(self) -> Objects: ...

    def restore(self, objects: Objects) -> None:
        """Make the place what it was."""

    def versions(self) -> Mapping[str, object]:
        """The public files, each with what changes whenever the file does."""

    def read(self, name: str) -> bytes | None:
        """A public file."""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class OneClient(EnvironmentConnections):
    """Connections whose S3 client is there already: making one takes longer than a publish."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def s3(self, conn_id: str | None) -> Any:
        return self.client


class S3Place:
    """A fresh bucket of a service. endpoint_url: of a proxy that runs have to go through.

    The tests' own reads are plain requests to presigned URLs: the SDK would take longer than the server.
    """

    def __init__(self, service: S3Service, *, endpoint_url: str | None = None) -> None:
        self._service = service
        self._endpoint_url = endpoint_url or service.endpoint_url
        self._bucket = service.create_bucket()
        self._client = service.client(
            config=Config(signature_version="s3v4")
        )  # the SDK would presign with an older one
        self._http = threading.local()
        self._urls: dict[tuple[str, str], str] = {}
        self.target = f"s3://{self._bucket}/{PUBLIC}"
        self.state = f"s3://{self._bucket}/{PRIVATE}"

    def __str__(self) -> str:
        return self._service.name

    @property
    def connections(self) -> Connections:
        return OneClient(self._service.client(endpoint_url=self._endpoint_url))

    def watch(self, points: Points, connections: Connections, *, finely: bool = True) -> None:
        points.of_client(connections.s3(None))

    def objects(self) -> Objects:
        names = sorted(self._listed(""))
        with ThreadPoolExecutor(_THREADS) as pool:
            return dict(zip(names, pool.map(self._object, names), strict=True))

    def restore(self, objects: Objects) -> None:
        there = self._listed("")
        extra = [name for name in there if name not in objects]
        if extra:
            self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": [{"Key": name} for name in extra]})

        def put(name: str) -> None:
            told = objects[name].told
            fields = {field: told[header] for field, header in _FIELDS.items() if header in told}
            metadata = {key.removeprefix(_META): value for key, value in told.items() if key.startswith(_META)}
            self._client.put_object(Bucket=self._bucket, Key=name, Body=objects[name].body, Metadata=metadata, **fields)

        wrong = [name for name, each in objects.items() if there.get(name, ("",))[0] != _etag(each.body)]
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(put, wrong))

    def versions(self) -> Mapping[str, object]:
        return {name.removeprefix(PUBLIC): version for name, version in self._listed(PUBLIC).items()}

    def read(self, name: str) -> bytes | None:
        answer = self._get("get_object", PUBLIC + name)
        return None if answer.status == 404 else answer.body

    def _object(self, name: str) -> Object:
        answer = self._get("get_object", name)
        told = {key: value for key, value in answer.headers.items() if key in _FIELDS.values() or key.startswith(_META)}
        return Object(answer.body, told)

    def _listed(self, prefix: str) -> dict[str, tuple[str, str]]:
        """ETag and time of each object; of as many as one answer tells, which is enough here."""
        answer = etree.fromstring(self._get("list_objects_v2", prefix).body)
        assert answer.findtext("{*}IsTruncated") == "false"
        found = {}
        for each in answer.iterfind("{*}Contents"):
            key, etag, time = (each.findtext(f"{{*}}{name}") or "" for name in ("Key", "ETag", "LastModified"))
            if OWN_PREFIX not in key:
                found[key] = (etag, time)
        return found

    def _get(self, operation: str, name: str) -> Answer:
        url = self._urls.get((operation, name))
        if url is None:
            parameter = "Key" if operation == "get_object" else "Prefix"
            url = self._client.generate_presigned_url(operation, {"Bucket": self._bucket, parameter: name})
            self._urls[operation, name] = url
        if not hasattr(self._http, "connection"):
            self._http.connection = HTTPConnection(urlsplit(url).netloc)
        try:
            self._http.connection.request("GET", url.removeprefix(self._service.endpoint_url))
            answer = self._http.connection.getresponse()
        except RemoteDisconnected:  # the server hangs up on who was silent for long
            del self._http.connection
            return self._get(operation, name)
        body = answer.read()
        assert answer.status in (200, 404), (answer.status, body)
        return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, body)


class FolderPlace:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.target = (root / PUBLIC).as_uri() + "/"
        self.state = (root / PRIVATE).as_uri() + "/"

    def __str__(self) -> str:
        return "folder"

    @property
    def connections(self) -> Connections:
        return EnvironmentConnections()

    def watch(self, points: Points, connections: Connections, *, finely: bool = True) -> None:
        if finely:
            points.of_files(self._root)
        else:
            points.of_folder_stores()

    def objects(self) -> Objects:
        return {name: Object((self._root / name).read_bytes()) for name in self._names("")}

    def restore(self, objects: Objects) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        for name, each in objects.items():
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(each.body)

    def versions(self) -> Mapping[str, object]:
        found = {}
        for name in self._names(PUBLIC):
            with suppress(FileNotFoundError):  # removed since it was listed
                status = (self._root / name).stat()
                found[name.removeprefix(PUBLIC)] = (status.st_ino, status.st_mtime_ns, status.st_size)
        return found

    def read(self, name: str) -> bytes | None:
        try:
            return (self._root / PUBLIC / name).read_bytes()
        except FileNotFoundError:
            return None

    def _names(self, below: str) -> list[str]:
        paths = (path for path in (self._root / below).rglob("*") if path.is_file())
        return sorted(path.relative_to(self._root).as_posix() for path in paths if OWN_PREFIX not in path.name)


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'
