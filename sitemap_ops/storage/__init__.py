"""Where objects lie: an S3 prefix or a folder, behind one small protocol.

Keys are relative to the store's root and can't leave it (`check_key`). Whole objects only: nothing is appended to or
written in place (C-13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from sitemap_ops.errors import UsageError

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections


@dataclass(frozen=True)
class Headers:
    """What a reader is told about an object; the pair of type and encoding is decided once, by its key (C-1, C-2)."""

    content_type: str
    cache_control: str | None = None
    content_encoding: str | None = None


@dataclass(frozen=True)
class Stored:
    """One stored object as its store describes it."""

    key: str
    size: int
    etag: str
    headers: Headers | None = None
    sha256: str | None = None
    """Hex digest of the content after gunzip (a manifest's identity); None when the store can't tell."""
    metadata: Mapping[str, str] = field(default_factory=dict)


class Store(Protocol):
    """A prefix of a bucket, or a folder."""

    uri: str

    def head(self, key: str) -> Stored | None:
        """What is at the key, with headers and sha256; None when nothing is."""

    def get(self, key: str) -> tuple[bytes, Stored] | None:
        """The object's bytes and description; None when there is none. A folder leaves sha256 to who has the bytes."""

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
        """Store a whole object. `sha256` is the hex digest of the content after gunzip, kept with the object.

        Raises ConflictError where `if_match` (an ETag) or `if_none_match` (nothing may be there) does not hold,
        TargetError where the store can't be reached or refuses.
        """

    def download(self, key: str, path: Path) -> None:
        """The object into a local file. Raises TargetError where there is none."""

    def upload(self, path: Path, key: str, headers: Headers) -> None:
        """A local file into an object; for files that need not fit into memory."""

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """What is below a prefix, by key; headers and sha256 are not filled."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error. Raises TargetError naming what could not be removed."""


_SEGMENT = re.compile(r"[^\x00-\x1f\x7f\\\ud800-\udfff]+")
MAX_KEY_BYTES = 1_024


def check_key(key: str) -> str:
    """The key itself, or UsageError.

    No empty, `.` or `..` segment, no control character, backslash or lone surrogate, 1 to 1,024 bytes of UTF-8.
    """
    segments = key.split("/")
    if (
        any(part in ("", ".", "..") or not _SEGMENT.fullmatch(part) for part in segments)
        or len(key.encode()) > MAX_KEY_BYTES
    ):
        raise UsageError(
            f"{key!r} can't be an object's key: it has to stay below its store's root, in 1 to 1,024 bytes."
        )
    return key


def open_store(uri: str, connections: Connections, *, aws_conn_id: str | None = None, acl: str | None = None) -> Store:
    """The store at `s3://bucket/prefix/` or `file:///folder/`; `acl` is a canned ACL for objects on S3 (C-8)."""
    parts = urlsplit(uri)
    if parts.scheme == "s3" and parts.netloc:
        from sitemap_ops.storage.s3 import S3Store

        return S3Store(connections.s3(aws_conn_id), parts.netloc, parts.path.strip("/"), acl=acl)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        from sitemap_ops.storage.folder import FolderStore

        return FolderStore(Path(unquote(parts.path)))
    raise UsageError(f"{uri!r} is no place this can write to: use s3://bucket/prefix/ or file:///folder/.")
