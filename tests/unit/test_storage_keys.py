"""Keys can't leave their store's root: refused before any request or file access."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import boto3
import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import UsageError
from sitemap_ops.storage import Headers, Store, check_key, is_key, open_store
from sitemap_ops.storage.folder import FolderStore
from sitemap_ops.storage.s3 import S3Store
from sitemap_ops.storage.s3_client import client_config

BAD_KEYS = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../outside",
    "a/../../outside",
    "a/..",
    "./a",
    "a/./b",
    "a//b",
    "a/",
    "a\\..\\b",
    "..\\outside",
    "a\x00b",
    "a\nb",
    "a\x7f",
    "\ud800",
    "k" * 1025,
    "ü" * 513,
]
TEXT = Headers("text/plain; charset=utf-8")

OPERATIONS: dict[str, Callable[[Store, str, Path], object]] = {
    "head": lambda store, key, file: store.head(key),
    "get": lambda store, key, file: store.get(key),
    "put": lambda store, key, file: store.put(key, b"x", TEXT),
    "download": lambda store, key, file: store.download(key, file.with_name("copy")),
    "upload": lambda store, key, file: store.upload(file, key, TEXT),
    "delete": lambda store, key, file: store.delete(["fine", key]),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("key", BAD_KEYS, ids=ascii)
def test_s3_refuses_before_any_request(operation: str, key: str, tmp_path: Path) -> None:
    """infra.md bar 15: of 12 S3 servers 3 wrote outside their folder for such keys, so none may be asked."""
    client = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        region_name="us-east-1",
    )
    sent: list[str] = []
    client.meta.events.register("before-send.s3", lambda request, **_: sent.append(request.url))
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with pytest.raises(UsageError, match="can't be an object's key"):
        OPERATIONS[operation](S3Store(client, "bucket", "prefix"), key, file)
    assert sent == []


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("key", BAD_KEYS, ids=ascii)
def test_folder_refuses_and_writes_nothing(operation: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with pytest.raises(UsageError, match="can't be an object's key"):
        OPERATIONS[operation](FolderStore(tmp_path / "root"), key, file)
    assert [path.name for path in tmp_path.rglob("*")] == ["file"]


def test_a_prefix_is_held_to_the_same_rules() -> None:
    with pytest.raises(UsageError):
        S3Store(boto3.client("s3", region_name="us-east-1", config=client_config(None)), "bucket", "a/../b")


def test_prefix_and_key_together_keep_the_limit() -> None:
    store = S3Store(boto3.client("s3", region_name="us-east-1"), "bucket", "p" * 600)
    with pytest.raises(UsageError, match="1,024 bytes"):
        store.head("k" * 600)


@pytest.mark.parametrize("key", ["a", "a/b.xml.gz", "..a", "a..", "ü/ß", "a b+c", "%2e%2e/x", "k" * 1024])
def test_ordinary_and_odd_keys_pass(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize("key", BAD_KEYS, ids=ascii)
def test_what_is_no_key_is_told_from_what_is(key: str) -> None:
    assert not is_key(key)


@pytest.mark.parametrize("uri", ["", "s3://", "ftp://x/", "/srv/x", "file://host/x", "s3:bucket"])
def test_a_place_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(UsageError, match="s3://bucket/prefix/ or file:///folder/"):
        open_store(uri, EnvironmentConnections())


def test_a_folder_uri_is_unquoted(tmp_path: Path) -> None:
    folder = tmp_path / "a b%c"
    open_store(folder.as_uri(), EnvironmentConnections()).put("k", b"x", TEXT)
    assert (folder / "k").read_bytes() == b"x"
