"""An object as S3's requests and answers describe it: headers, metadata, checksums."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

from sitemap_ops.storage import Headers, Stored

CONTENT, BYTES = "sha256", "bytes-sha256"
"""Metadata: the digests of the content after gunzip, and of the bytes as they are stored (S3-10, S3-11)."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def put_fields(body: bytes, headers: Headers, content: str | None, *, md5: bool) -> dict[str, Any]:
    """What a PUT says of its body; `content` is the digest after gunzip. md5: all that some stores check (S3-14)."""
    checksum = hashlib.sha256(body)
    fields: dict[str, Any] = {
        "Body": body,
        "ChecksumSHA256": _base64(checksum.digest()),
        "Metadata": {**({CONTENT: content} if content else {}), BYTES: checksum.hexdigest()},
        **header_fields(headers),
    }
    if md5:
        fields["ContentMD5"] = _base64(hashlib.md5(body, usedforsecurity=False).digest())
    return fields


def header_fields(headers: Headers) -> dict[str, str]:
    """A fresh dict for each object: nothing of one object's headers can reach the next (C-11)."""
    fields = {
        "ContentType": headers.content_type,
        "CacheControl": headers.cache_control,
        "ContentEncoding": headers.content_encoding,
    }
    return {name: value for name, value in fields.items() if value is not None}


def stored_of(key: str, answer: Mapping[str, Any]) -> Stored:
    """The object that the answer to a GET or HEAD is about."""
    metadata = answer.get("Metadata", {})
    digest = metadata.get(CONTENT, "")
    return Stored(
        key,
        answer["ContentLength"],
        answer["ETag"],
        Headers(answer.get("ContentType", ""), answer.get("CacheControl"), answer.get("ContentEncoding")),
        digest if _SHA256.fullmatch(digest) else None,
        metadata,
    )


def _base64(digest: bytes) -> str:
    return base64.b64encode(digest).decode()
