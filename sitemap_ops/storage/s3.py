"""A prefix of an S3 bucket as a Store.

What the SDK leaves open is decided here: the server checks each body (ChecksumSHA256), a refused checksum and a 409 are
sent again, and a 412 is compared with what is there before it counts as lost, since the answer to a write that did
succeed may have been lost on its way and the SDK then tried again (S3-14, S3-17, S3-18).
"""

from __future__ import annotations

import hashlib
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from s3transfer.exceptions import RetriesExceededError

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.storage import ABANDONED_AFTER, Headers, Stored, Traits, check_key, is_key
from sitemap_ops.storage.content import content_sha256
from sitemap_ops.storage.probe import PROBE_PREFIX, probe_s3
from sitemap_ops.storage.s3_client import is_aws
from sitemap_ops.storage.s3_errors import UNREADABLE, address, code_of, explain, status_of
from sitemap_ops.storage.s3_objects import BYTES, header_fields, put_fields, stored_of
from sitemap_ops.storage.s3_sweep import sweep

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DELETE_BATCH = 1_000
"""Keys that one DeleteObjects request takes (S3-21)."""

_SENDS = 5
"""How often a body is sent, or read, where the SDK itself does not try again."""

_TRANSFER = TransferConfig(multipart_chunksize=16 << 20, max_concurrency=4, num_download_attempts=3)
"""Of three attempts each is again the SDK's eight: more of them would wait for an hour on a line that is dead."""


class S3Store:
    """Objects below `prefix` of `bucket`. `acl` is a canned ACL for every object written; None sends none (C-8)."""

    def __init__(self, client: S3Client, bucket: str, prefix: str = "", *, acl: str | None = None) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = f"{check_key(prefix.strip('/'))}/" if prefix.strip("/") else ""
        self._extra = {"ACL": acl} if acl else {}
        self._bucket_is_there = False
        self.uri = f"s3://{bucket}/{self._prefix}"

    def __repr__(self) -> str:
        return f"S3Store({self.uri!r})"

    @property
    def place(self) -> str:
        return f"{self.uri} at {address(self._client.meta.endpoint_url)}"

    def head(self, key: str) -> Stored | None:
        path = self._path(key)
        with self._explained("read", key):
            try:
                answer = self._client.head_object(Bucket=self._bucket, Key=path)
            except ClientError as error:
                if status_of(error) != 404:
                    raise
                self._check_bucket()
                return None
        return stored_of(key, answer)

    def get(self, key: str) -> tuple[bytes, Stored] | None:
        """As `Store.get`. A body that is not what `put` sent is read again, until two reads agree on it."""
        path = self._path(key)
        before = None
        with self._explained("read", key):
            for attempt in range(1, _SENDS + 1):
                try:
                    answer = self._client.get_object(Bucket=self._bucket, Key=path)
                except ClientError as error:
                    if code_of(error) != "NoSuchKey":
                        raise
                    return None
                try:
                    body = answer["Body"].read()
                except (HTTPClientError, IncompleteReadError):  # a body cut short: not the SDK's to retry
                    if attempt == _SENDS:
                        raise
                else:
                    stored = stored_of(key, answer)
                    sent = stored.metadata.get(BYTES)
                    if sent in (None, hashlib.sha256(body).hexdigest()) or body == before or attempt == _SENDS:
                        return body, stored
                    before = body
                _pause(attempt)
        raise AssertionError("unreachable")

    def put(
        self,
        key: str,
        body: bytes,
        headers: Headers,
        *,
        sha256: str | None = None,
        if_match: str | None = None,
        if_none_match: bool = False,
    ) -> Stored:
        """As `Store.put`. The digest is kept as metadata `sha256`, computed where the caller gives none."""
        digest = sha256 or content_sha256([body])
        described = put_fields(body, headers, digest, md5=not is_aws(self._client.meta.endpoint_url))
        request: dict[str, Any] = {"Bucket": self._bucket, "Key": self._path(key), **described, **self._extra}
        if if_match is not None:
            request["IfMatch"] = if_match
        if if_none_match:
            request["IfNoneMatch"] = "*"
        with self._explained("write", key):
            for attempt in range(1, _SENDS + 1):
                try:
                    etag = self._client.put_object(**request)["ETag"]
                    return Stored(key, len(body), etag, headers, digest, request["Metadata"])
                except ClientError as error:
                    conditional = request.keys() & {"IfMatch", "IfNoneMatch"}
                    if conditional and _condition_failed(error):
                        if ours := self._unless_lost(key, digest, request):
                            return ours
                    elif conditional and status_of(error) == 501:
                        self._without_condition(key, request)
                    elif attempt == _SENDS or not _worth_sending_again(error):
                        raise
                    else:
                        _pause(attempt)
        raise self._conflict(key)  # only a condition that never holds comes to here

    def download(self, key: str, path: Path) -> None:
        source = self._path(key)
        with self._explained("read", key), _replacing(path) as part:
            self._client.download_file(self._bucket, source, str(part), Config=_TRANSFER)

    def upload(self, path: Path, key: str, headers: Headers) -> None:
        """As `Store.upload`, in parts where the file is large; the parts of a failed upload are removed."""
        target = self._path(key)
        extra = {**header_fields(headers), **self._extra, "ChecksumAlgorithm": "SHA256"}
        with self._explained("write", key):
            for attempt in range(1, _SENDS + 1):
                try:
                    with path.open("rb") as file:
                        return self._client.upload_fileobj(
                            file, self._bucket, target, ExtraArgs=extra, Config=_TRANSFER
                        )
                except ClientError as error:
                    if attempt == _SENDS or not _worth_sending_again(error):
                        raise
                    _pause(attempt)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix
        )
        with self._explained("list", prefix):
            for page in pages:
                for found in page.get("Contents", ()):
                    key = found["Key"].removeprefix(self._prefix)
                    # Consoles make keys that end in "/" to show a folder; and not every store heeds the prefix.
                    if is_key(key) and found["Key"].startswith(self._prefix):
                        yield Stored(key, found["Size"], found["ETag"])

    def delete(self, keys: Iterable[str]) -> None:
        paths = iter([self._path(key) for key in keys])
        while batch := list(islice(paths, DELETE_BATCH)):
            with self._explained("delete from", ""):
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": [{"Key": path} for path in batch], "Quiet": True}
                )
            failed = [error for error in answer.get("Errors", ()) if error.get("Code") != "NoSuchKey"]
            if failed:
                raise TargetError(
                    f"{len(failed)} of {len(batch)} objects could not be deleted from {self.uri}, the first"
                    f" {failed[0].get('Key', '')!r} ({failed[0].get('Code', 'unknown')}):"
                    " check that the connection's policy allows s3:DeleteObject."
                )

    def probe(self) -> Traits:
        key = f"{PROBE_PREFIX}{uuid.uuid4().hex}"
        with self._explained("write", key):
            return probe_s3(self._client, self._bucket, self._path(key))

    def sweep(self, older_than: timedelta = ABANDONED_AFTER) -> int:
        """Abort multipart uploads that were begun so long ago, and remove as old probes (`storage.s3_sweep`)."""
        with self._explained("clean up", ""):
            return sweep(self._client, self._bucket, self._prefix, datetime.now(UTC) - older_than)

    def _unless_lost(self, key: str, digest: str | None, request: dict[str, Any]) -> Stored | None:
        """After a 412: our own object, where an earlier try has put it; None where the request is worth another try.

        Raises ConflictError where someone else's object is there.
        """
        found = self.head(key)
        if found and digest and found.sha256 == digest:
            return found
        if found is None or found.etag != request.get("IfMatch"):
            raise self._conflict(key)
        request["IfMatch"] = found.etag.strip('"')  # Ceph 16 compares it without its quotes
        return None

    def _without_condition(self, key: str, request: dict[str, Any]) -> None:
        """For a store that knows no conditions, which the site file has accepted: a look before the write."""
        found = self.head(key)
        request.pop("IfNoneMatch", None)
        if (found.etag if found else None) != request.pop("IfMatch", None):
            raise self._conflict(key)

    def _path(self, key: str) -> str:
        return check_key(self._prefix + check_key(key))

    def _check_bucket(self) -> None:
        """HEAD answers 404 for a missing bucket as for a missing key: ask once which of them it is."""
        if not self._bucket_is_there:
            try:
                self._client.head_bucket(Bucket=self._bucket)
            except ClientError as error:
                if status_of(error) != 404:
                    return
                raise ClientError({**error.response, "Error": {"Code": "NoSuchBucket"}}, error.operation_name) from None
            self._bucket_is_there = True

    def _conflict(self, key: str) -> ConflictError:
        return ConflictError(
            f"{self.uri}{key} was changed by another run since this one looked, which therefore stopped without"
            " overwriting it: see which run won, and run again if its result is not what you want."
        )

    @contextmanager
    def _explained(self, action: str, key: str) -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, ClientError, Boto3Error, RetriesExceededError, *UNREADABLE) as error:
            raise explain(
                error,
                action=action,
                uri=self.uri + key,
                bucket=self._bucket,
                endpoint=self._client.meta.endpoint_url,
            ) from None  # what botocore says can hold user info and signatures


def _condition_failed(error: ClientError) -> bool:
    """412; or 404, which an If-Match on an object that is gone gets (S3-18)."""
    return status_of(error) == 412 or (status_of(error) == 404 and code_of(error) == "NoSuchKey")


def _worth_sending_again(error: ClientError) -> bool:
    """A conflict of two requests under way at once, or a body that arrived damaged: the SDK gives up on both."""
    return status_of(error) == 409 or code_of(error) in ("BadDigest", "XAmzContentSHA256Mismatch")


def _pause(attempt: int) -> None:
    time.sleep(0.05 * 2**attempt)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place when all went well: no half-read file is ever under the name."""
    try:
        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
            part = Path(folder) / "part"
            yield part
            part.replace(path)
    except OSError as error:
        raise TargetError(
            f"{path} can't be written ({error.strerror}): check the folder's space and permissions."
        ) from None
