"""The bodies of all kept releases' files, in `state`: where a cut-off projection and a rollback find them.

They lie under their content's digest, `bodies/<sha256>.gz`, so each content is there once and no body ever changes.
"""

from __future__ import annotations

from collections.abc import Collection

from sitemap_ops.errors import ConflictError, OutputError
from sitemap_ops.release.headers import check_body, headers_for
from sitemap_ops.render.gzip import compress
from sitemap_ops.storage import Headers, Store
from sitemap_ops.storage.content import GZIP_MAGIC, DamagedContent, gunzip_blocks

PREFIX = "bodies/"
_HEADERS = Headers("application/gzip", "no-store")


class Bodies:
    """The bodies in a `state`; safe for use by several threads. `digests`: those that are known to be there."""

    def __init__(self, state: Store, digests: frozenset[str] = frozenset()) -> None:
        self._state, self.digests = state, digests

    @classmethod
    def listed(cls, state: Store) -> Bodies:
        """With all that are there now."""
        keys = (each.key for each in state.list(PREFIX) if each.key.endswith(".gz"))
        return cls(state, frozenset(key.removeprefix(PREFIX).removesuffix(".gz") for key in keys))

    def keep(self, body: bytes, sha256: str) -> None:
        """Store a file's body, in gzip whether the file is or not, unless it is there."""
        if sha256 in self.digests:
            return
        zipped = body if body.startswith(GZIP_MAGIC) else compress(body)
        key = key_of(sha256)
        try:
            self._state.put(key, zipped, _HEADERS, sha256=sha256, if_none_match=True)
        except ConflictError:
            there = self._state.head(key)
            if there is None or there.sha256 != sha256:
                self._state.put(key, zipped, _HEADERS, sha256=sha256)

    def get(self, key: str, sha256: str) -> bytes | None:
        """The body of the file `key`, which has this content; None where there is none, or what is there is damaged."""
        found = self._state.get(key_of(sha256))
        if found is None:
            return None
        try:
            body = found[0] if key.endswith(".gz") else b"".join(gunzip_blocks([found[0]]))
            return body if check_body(key, body, headers_for(key)) == sha256 else None
        except (DamagedContent, OutputError):
            return None

    def delete(self, digests: Collection[str]) -> None:
        self._state.delete([key_of(digest) for digest in digests])


def key_of(sha256: str) -> str:
    return f"{PREFIX}{sha256}.gz"
