"""A store in memory that behaves as S3 does, one operation at a time, with a hook before each."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sitemap_ops.errors import ConflictError
from sitemap_ops.storage import Headers, Stored
from sitemap_ops.storage.content import content_sha256


@dataclass
class Operations:
    """Counts the operations of all stores that share it, one after the other, and calls `hook(number, name, key)`."""

    hook: Callable[[int, str, str], None] | None = None
    count: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, name: str, key: str) -> None:
        self.count += 1
        if self.hook:
            self.hook(self.count, name, key)


class MemoryStore:
    """Objects in a dict. An ETag is the MD5 of the bytes, as on S3: the same bytes have the same one again."""

    def __init__(self, name: str, operations: Operations | None = None) -> None:
        self.name = name
        self.uri = self.place = f"memory://{name}/"
        self.operations = operations or Operations()
        self.objects: dict[str, tuple[bytes, Stored]] = {}
        self.changes = 0

    def of_another(self, operations: Operations) -> MemoryStore:
        """The same objects for another process: its operations are not this one's, nor wait for them."""
        other = MemoryStore(self.name, operations)
        other.objects = self.objects
        return other

    def _do(self, name: str, key: str, action: Callable[[], Any]) -> Any:
        with self.operations.lock:
            self.operations.begin(f"{name} {self.uri}", key)
            return action()

    def head(self, key: str) -> Stored | None:
        return self._do("head", key, lambda: self.objects[key][1] if key in self.objects else None)

    def get(self, key: str) -> tuple[bytes, Stored] | None:
        return self._do("get", key, lambda: self.objects.get(key))

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
        digest = sha256 or content_sha256([body])

        def put() -> Stored:
            there = self.objects.get(key)
            lost = (if_none_match and there) or (if_match and (there is None or there[1].etag != if_match))
            if lost and not (there and there[1].sha256 == digest):
                raise ConflictError(f"{self.uri}{key} was changed by another run.")
            if not lost:
                stored = Stored(key, len(body), hashlib.md5(body).hexdigest(), headers, digest)
                self.objects[key] = (body, stored)
                self.changes += 1
            return self.objects[key][1]

        return self._do("put", key, put)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        found = self._do("list", prefix, lambda: [self.objects[key][1] for key in sorted(self.objects)])
        return iter([Stored(each.key, each.size, each.etag) for each in found if each.key.startswith(prefix)])

    def delete(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self._do("delete", key, lambda key=key: self._remove(key))

    def _remove(self, key: str) -> None:
        self.objects.pop(key, None)
        self.changes += 1

    def upload(self, path: Path, key: str, headers: Headers) -> None:
        self.put(key, path.read_bytes(), headers)

    def download(self, key: str, path: Path) -> None:
        path.write_bytes(self.objects[key][0])

    def sweep(self, older_than: timedelta = timedelta(0)) -> int:
        return 0
