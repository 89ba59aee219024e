"""Where a run's steps leave what the next step needs: whole files by name, in a folder or below an S3 prefix.

A task passes a reference to such a file, never its rows (C-99, C-100): its URI and the digest of what it must hold.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from sitemap_ops.connections import Connections
from sitemap_ops.copies import LocalCopies
from sitemap_ops.errors import TargetError
from sitemap_ops.storage import Headers, Store, check_key, open_store

BINARY = Headers("application/octet-stream")


class Workspace(AbstractContextManager["Workspace"]):
    """The staging files of one run. Leaving it removes local copies, not the run's files: `remove` does.

    attempt: the folder of all files that are made here, so that an attempt of a step which Airflow gave up, but which
    lives on, changes none of the attempt that counts. Who reads a step's result finds that attempt's files by their
    names alone. Without it, files lie side by side.
    """

    def __init__(self, uri: str, connections: Connections, aws_conn_id: str | None, attempt: str = "") -> None:
        self.uri = uri
        self._attempt = f"{attempt}/" if attempt else ""
        self._made: dict[str, str] = {}
        self._found: dict[str, str] = {}
        self._store: Store | None = None
        self._copies: LocalCopies | None = None
        parts = urlsplit(uri)
        if parts.scheme == "file":
            self._folder = Path(unquote(parts.path))
        else:
            self._store = open_store(uri, connections, aws_conn_id=aws_conn_id)
            self._copies = LocalCopies()
            self._folder = self._copies.folder

    def __exit__(self, *_: object) -> None:
        if self._copies:
            self._copies.close()

    @contextmanager
    def create(self, name: str) -> Iterator[Path]:
        """A path to write a file to; the file is there, whole, once the block has ended without an error."""
        key = check_key(f"{self._attempt}{name}")
        path = self._folder / key
        unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield unfinished
            unfinished.replace(path)
        except OSError as error:
            raise TargetError(
                f"Can't write {error.filename or path}: {error.strerror}. Look at the disk behind `work`."
            ) from error
        finally:
            with suppress(OSError):
                unfinished.unlink()
        if self._store:
            self._store.upload(path, key, BINARY)
        self._made[name] = key

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A local folder beside the run's files, for what does not fit into memory; gone at the end of the block."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".scratch-", dir=self._folder) as name:
            yield Path(name)

    def fetch(self, name: str) -> Path:
        """A local path of a file of the run. Raises TargetError where there is none."""
        key = check_key(self._made.get(name) or self._found.get(name, name))
        path = self._folder / key
        if self._store and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._store.download(key, path)
            except TargetError:
                if self._store.head(key):
                    raise
        if not path.exists():
            raise TargetError(
                f"{self.uri}{key} is gone: the run's files have been removed, as they are when another attempt of it"
                " has ended well, or `work` is a folder of another machine. Where the run has not ended well, run from"
                " the first step again; tasks on several machines need `work` on S3."
            )
        return path

    def write_json(self, name: str, value: Any) -> dict[str, str]:
        """Store a step's result, and where the files made so far lie; gives the reference that the next step takes."""
        body = json.dumps({"files": self._made, "result": value}, sort_keys=True, ensure_ascii=False).encode()
        with self.create(name) as path:
            path.write_bytes(body)
        return {"uri": f"{self.uri}{self._made[name]}", "digest": hashlib.sha256(body).hexdigest()}

    def read_json(self, reference: dict[str, Any]) -> Any:
        """What a reference stands for. Raises TargetError where it is not what the reference was made for."""
        body = self.fetch(reference["uri"].removeprefix(self.uri)).read_bytes()
        if hashlib.sha256(body).hexdigest() != reference["digest"]:
            raise TargetError(f"{reference['uri']} was changed since this run wrote it: run from the first step again.")
        stored = json.loads(body)
        self._found |= stored["files"]
        return stored["result"]

    def remove(self) -> None:
        """Delete all of the run's files."""
        if self._store:
            self._store.delete([stored.key for stored in self._store.list()])
        shutil.rmtree(self._folder, ignore_errors=True)
