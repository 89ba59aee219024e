"""Where objects lie: an S3 prefix or a folder, behind one small protocol.

Keys are relative to the store's root and can't leave it (`check_key`). Whole objects only: nothing is appended to or
written in place (C-13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from sitemap_ops.errors import UsageError

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections


OWN_PREFIX = ".sitemap-ops-"
"""Names of temporary files, locks and probes start like this: they are never a site's."""

ABANDONED_AFTER = timedelta(days=1)
"""No write takes so long: what is older was left by one that was cut off."""


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


@dataclass(frozen=True)
class Traits:
    """What a store was seen to honour: create-only writes (S3-17), swaps by ETag (S3-18), checksums (S3-14)."""

    create_only: bool
    swap: bool
    checksums: bool

    @property
    def conditions(self) -> bool:
        return self.create_only and self.swap

    @property
    def ignored(self) -> str:
        """The conditions that it does not honour."""
        names = {"If-None-Match": self.create_only, "If-Match": self.swap}
        return " and ".join(name for name, honoured in names.items() if not honoured)


class Store(Protocol):
    """A prefix of a bucket, or a folder."""

    uri: str

    @property
    def place(self) -> str:
        """The URI, and for S3 the endpoint too: two endpoints can have a bucket of one name."""

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
        """What is below a prefix, by key; headers and sha256 are not filled. Names that can't be keys are left out."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error. Raises TargetError naming what could not be removed."""

    def probe(self) -> Traits:
        """Find out, by harmless writes that leave nothing, what the store honours. Raises TargetError as `put` does."""

    def sweep(self, older_than: timedelta = ABANDONED_AFTER) -> int:
        """Remove what writes below this root that were cut off have left; gives how many. No object is touched."""


_SEGMENT = re.compile(r"[^\x00-\x1f\x7f\\\ud800-\udfff]+")
MAX_KEY_BYTES = 1_024


def is_key(key: str) -> bool:
    """No empty, `.` or `..` segment, no control character, backslash or lone surrogate, 1 to 1,024 bytes of UTF-8."""
    return (
        all(part not in ("", ".", "..") and _SEGMENT.fullmatch(part) for part in key.split("/"))
        and len(key.encode()) <= MAX_KEY_BYTES
    )


def check_key(key: str) -> str:
    """The key itself. Raises UsageError where `is_key` says that it is none."""
    if not is_key(key):
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
