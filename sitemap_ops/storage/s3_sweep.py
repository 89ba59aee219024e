"""What runs that were killed leave in a bucket: probes, and parts of uploads, which cost money and no listing shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from sitemap_ops.storage.probe import PROBE_PREFIX
from sitemap_ops.storage.s3_errors import code_of, status_of

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NO_SUCH_REQUEST = (405, 501)
"""What stores answer that can't list multipart uploads, or have none: then there is nothing to abort."""


def sweep(client: S3Client, bucket: str, prefix: str, oldest: datetime) -> int:
    """Abort uploads and remove probes below `prefix` that are from before `oldest` (aware); gives how many.

    Raises ClientError or BotoCoreError where the store refuses.
    """
    uploads = [(key, upload) for key, upload, begun in _uploads(client, bucket, prefix) if begun < oldest]
    for key, upload in uploads:
        try:
            client.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)
        except ClientError as error:
            if code_of(error) != "NoSuchUpload":
                raise
    probes = [key for key, written in _probes(client, bucket, prefix) if written < oldest]
    for key in probes:
        client.delete_object(Bucket=bucket, Key=key)
    return len(uploads) + len(probes)


def _uploads(client: S3Client, bucket: str, prefix: str) -> Iterator[tuple[str, str, datetime]]:
    """Key, id and beginning of each multipart upload below the prefix."""
    pages = client.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, Prefix=prefix)
    try:
        for page in pages:
            for upload in page.get("Uploads", ()):
                if upload["Key"].startswith(prefix):  # not every store heeds the prefix it is asked for
                    yield upload["Key"], upload["UploadId"], upload["Initiated"]
    except ClientError as error:
        if status_of(error) not in _NO_SUCH_REQUEST:
            raise


def _probes(client: S3Client, bucket: str, prefix: str) -> Iterator[tuple[str, datetime]]:
    start = prefix + PROBE_PREFIX
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=start):
        for found in page.get("Contents", ()):
            if found["Key"].startswith(start):
                yield found["Key"], found["LastModified"]
