"""Putting the files of a release into the target, each checked before and read back after (PUB-06)."""

from __future__ import annotations

from collections.abc import Callable

from sitemap_ops.errors import ConflictError, OutputError
from sitemap_ops.release.headers import check_body, headers_for, headers_of, same_headers
from sitemap_ops.release.history import Owner
from sitemap_ops.release.index import IndexFile
from sitemap_ops.release.plan import PlannedShard
from sitemap_ops.storage import Headers, Store, Stored
from sitemap_ops.storage.content import content_sha256

_TRIES = 5


class Writer:
    """Puts files of one release; safe for use by several threads.

    body: gives a shard's file as it is put, by key; it has been checked, or that raises OutputError.
    """

    def __init__(self, target: Store, body: Callable[[str], bytes]) -> None:
        self._target, self.body = target, body
        self._sent: list[tuple[str, int]] = []

    @property
    def keys_sent(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key for key, _ in self._sent))

    @property
    def files_sent(self) -> int:
        return len(self._sent)

    @property
    def bytes_sent(self) -> int:
        return sum(size for _, size in self._sent)

    def create(self, shard: PlannedShard, body: bytes) -> bool:
        """Put a file that the target does not have; False where another run has made one of that name meanwhile."""
        headers = headers_of(shard.key, shard.sha256)
        try:
            stored = self._put(shard.key, body, headers, shard.sha256, None)
            self._read_back(stored, body, headers, shard.sha256)
        except ConflictError:
            return False
        return True

    def replace(self, shard: PlannedShard, owner: Owner) -> None:
        """Put a file over the one that is there."""
        headers = headers_of(shard.key, shard.sha256)
        self._put_as_owner(shard.key, self.body(shard.key), headers, shard.sha256, shard.etag, owner)

    def put_index(self, index: IndexFile, etag: str | None, owner: Owner, *, instead_of: str | None = None) -> str:
        """Make an index live in place of the one with this ETag; gives the ETag of what is there then.

        instead_of: the digest of an index that is as good: a union that another attempt has left for the final one.
        """
        headers = headers_for(index.key)
        check_body(index.key, index.body, headers)
        return self._put_as_owner(index.key, index.body, headers, index.sha256, etag, owner, instead_of)

    def _put(self, key: str, body: bytes, headers: Headers, sha256: str, etag: str | None) -> Stored:
        stored = self._target.put(key, body, headers, sha256=sha256, if_match=etag, if_none_match=etag is None)
        self._sent.append((key, len(body)))
        return stored

    def _put_as_owner(
        self,
        key: str,
        body: bytes,
        headers: Headers,
        sha256: str,
        etag: str | None,
        owner: Owner,
        instead_of: str | None = None,
    ) -> str:
        """Put over what is there, as long as this run is the owner, also if that has changed since it was looked at."""
        for _ in range(_TRIES):
            owner.check()
            try:
                stored = self._put(key, body, headers, sha256, etag)
                self._read_back(stored, body, headers, sha256)
                return stored.etag
            except ConflictError:
                owner.check()
                there = self._target.head(key)
                if there and there.sha256 in (sha256, instead_of) and same_headers(there.headers, headers):
                    return there.etag
                etag = there.etag if there else None
        raise ConflictError(
            f"{self._target.uri}{key} was changed {_TRIES} times while release {owner.current.release} was put live:"
            " find out what else writes there, stop it, and run again."
        )

    def _read_back(self, stored: Stored, body: bytes, headers: Headers, sha256: str) -> None:
        """Raises ConflictError if someone else's file is there by now, OutputError if ours is not as it was sent."""
        got = self._target.get(stored.key)
        if got is None or (got[1].etag != stored.etag and content_sha256([got[0]]) != sha256):
            raise ConflictError(f"{self._target.uri}{stored.key} was changed right after it was put.")
        there, described = got
        right = there == body or content_sha256([there]) == sha256
        if not right or not same_headers(described.headers, headers):
            raise OutputError(
                f"{self._target.uri}{stored.key} does not read back as it was put (headers {described.headers}):"
                " look for a proxy or a bucket rule that rewrites objects, then run again."
            )
