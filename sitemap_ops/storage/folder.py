"""A folder as a Store: what a local web server serves, and the stand-in for S3 on one machine.

A file appears whole or not at all, and stays after a power cut: temporary file, fsync, rename, fsync of the folder.
Conditions hold between processes by a lock. The file system must honour flock (local ones and NFS do).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import IO

from sitemap_ops.errors import ConflictError, TargetError, UsageError
from sitemap_ops.storage import OWN_PREFIX, Headers, Stored, Traits, check_key
from sitemap_ops.storage.content import GZIP_MAGIC, content_sha256

_LOCK = f"{OWN_PREFIX}lock"
_TEMPORARY = re.compile(re.escape(OWN_PREFIX) + "[0-9a-f]{32}")
_BLOCK = 1 << 20
_NOTHING_THERE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)

_JUST_BEGUN = timedelta(minutes=1)
"""A temporary file that nobody holds locked was left by a killed run, unless it was made this very moment."""

LOCK_TOLD_AFTER = 5.0
LOCK_TIMEOUT = 120.0
"""Seconds. The lock is held for one comparison and one rename: who holds it longer hangs, as on a dead file server."""
_LOCK_PAUSE = 0.01
_TRIES = 10

_log = logging.getLogger(__name__)


class FolderStore:
    """Files below a folder, which is made when first written to. Files have no headers: a web server decides them."""

    def __init__(self, path: Path) -> None:
        self._root = Path(os.path.realpath(path))
        self.uri = f"{self._root.as_uri()}/"

    def __repr__(self) -> str:
        return f"FolderStore({str(self._root)!r})"

    @property
    def place(self) -> str:
        return self.uri

    def head(self, key: str) -> Stored | None:
        path = self._path(key)
        with _explained("read", path):
            return _describe(key, path)

    def get(self, key: str) -> tuple[bytes, Stored] | None:
        path = self._path(key)
        with _explained("read", path):
            try:
                body = path.read_bytes()
            except _NOTHING_THERE:
                return None
        return body, Stored(key, len(body), hashlib.sha256(body).hexdigest())

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
        path = self._path(key)
        with _explained("write", path), self._temporary(path) as part:
            part.write(body)
            part.flush()
            os.fsync(part.fileno())
            with self._locked():
                if if_none_match or if_match is not None:
                    self._check(key, path, if_match)
                Path(part.name).replace(path)
            _sync(path.parent)  # after the lock: other files need not wait for the disk
        return Stored(key, len(body), hashlib.sha256(body).hexdigest(), sha256=sha256 or content_sha256([body]))

    def download(self, key: str, path: Path) -> None:
        source = self._path(key)
        with _explained("write", path):
            try:
                shutil.copyfile(source, path)
            except FileNotFoundError:
                raise TargetError(
                    f"There is nothing at {source} to read: it was never written, or was removed."
                ) from None

    def upload(self, path: Path, key: str, headers: Headers) -> None:
        target = self._path(key)
        with _explained("write", target), self._temporary(target) as part:
            with path.open("rb") as source:
                shutil.copyfileobj(source, part, _BLOCK)
            part.flush()
            os.fsync(part.fileno())
            with self._locked():
                Path(part.name).replace(target)
            _sync(target.parent)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        with _explained("list", self._root):
            for path, size in _files(self._root):
                key = path.relative_to(self._root).as_posix()
                if key.startswith(prefix):
                    yield Stored(key, size, "")

    def delete(self, keys: Iterable[str]) -> None:
        for path in [self._path(key) for key in keys]:
            with _explained("delete", path), suppress(*_NOTHING_THERE):
                path.unlink()
                self._remove_empty(path.parent)

    def probe(self) -> Traits:
        """All true: conditions are this class's own work, and no line lies between the program and the file."""
        return Traits(create_only=True, swap=True, checksums=True)

    def sweep(self, older_than: timedelta = _JUST_BEGUN) -> int:
        """Remove temporary files that old whose writers are gone, and the folders that they leave empty."""
        oldest = time.time() - older_than.total_seconds()
        removed = 0
        with _explained("clean up", self._root):
            for folder, _, names in os.walk(self._root):
                for path in (Path(folder, name) for name in names if _TEMPORARY.fullmatch(name)):
                    with suppress(FileNotFoundError):
                        removed += _remove_abandoned(path, oldest)
                        self._remove_empty(path.parent)
        return removed

    def _path(self, key: str) -> Path:
        """Where a key lies. Raises UsageError for one that leaves the root, also through a symbolic link."""
        path = self._root.joinpath(*check_key(key).split("/"))
        if any(part.startswith(OWN_PREFIX) for part in key.split("/")):
            raise UsageError(
                f"{key!r} can't be a key in {self.uri}: names with {OWN_PREFIX!r} in front are this program's."
            )
        if not Path(os.path.realpath(path)).is_relative_to(self._root):
            raise UsageError(
                f"{path} leads out of {self._root} through a symbolic link: replace the link by a real file."
            )
        return path

    def _check(self, key: str, path: Path, if_match: str | None) -> None:
        found = _describe(key, path)
        if (found.etag if found else None) != if_match:
            raise ConflictError(
                f"{path} was changed by another run since this one looked, which therefore stopped without overwriting"
                " it: see which run won, and run again if its result is not what you want."
            )

    @contextmanager
    def _temporary(self, path: Path) -> Iterator[IO[bytes]]:
        """A file in the same folder (a rename stays within one file system), removed when it was not used.

        It is locked until then: so a sweep knows that its writer is alive, however long it takes.
        """
        part = self._opened(path)
        try:
            with part:
                fcntl.flock(part, fcntl.LOCK_EX)
                yield part
        finally:
            Path(part.name).unlink(missing_ok=True)

    def _opened(self, path: Path) -> IO[bytes]:
        """A new temporary file; its folder may be removed as empty by another process before the file is in it."""
        for _ in range(_TRIES):
            missing = [each for each in (path.parent, *path.parent.parents) if not each.exists()]
            with suppress(FileNotFoundError):
                path.parent.mkdir(parents=True, exist_ok=True)
                for each in missing:
                    _sync(each.parent)
                return path.with_name(f"{OWN_PREFIX}{uuid.uuid4().hex}").open("xb")
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _remove_empty(self, folder: Path) -> None:
        """Remove a folder that holds nothing any more, and those above it, up to the root."""
        with suppress(OSError):  # not empty
            while folder != self._root:
                folder.rmdir()
                folder = folder.parent

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._root / _LOCK).open("a+") as lock:
            self._wait_for(lock)
            lock.truncate(0)
            lock.write(f"process {os.getpid()} on {socket.gethostname()}")
            lock.flush()
            try:
                yield
            finally:
                lock.truncate(0)  # the folder may be a public one

    def _wait_for(self, lock: IO[str]) -> None:
        """Take the lock. Raises TargetError where another process does not let go of it."""
        started = time.monotonic()
        told = False
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            waited = time.monotonic() - started
            if waited >= LOCK_TIMEOUT:
                raise TargetError(
                    f"{_holder(lock)} has held the lock of {self._root} for {waited:.0f} seconds, so nothing was"
                    " written there: find out why it hangs, end it, and run again."
                )
            if waited >= LOCK_TOLD_AFTER and not told:
                _log.warning("Waiting for the lock of %s, which %s holds.", self._root, _holder(lock))
                told = True
            time.sleep(_LOCK_PAUSE)


def _holder(lock: IO[str]) -> str:
    """Who has the lock, as it wrote down itself."""
    lock.seek(0)
    return lock.read(200) or "another process"


def _remove_abandoned(path: Path, oldest: float) -> bool:
    """Remove a temporary file from before `oldest` (seconds since 1970) that no living process has locked."""
    with path.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if os.fstat(file.fileno()).st_mtime >= oldest:
            return False
        path.unlink()
        return True


def _describe(key: str, path: Path) -> Stored | None:
    """The file as an object: its ETag is the SHA-256 of the bytes, read a block at a time."""
    try:
        file = path.open("rb")
    except _NOTHING_THERE:
        return None
    with file:
        etag = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
        file.seek(0)
        zipped = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        content = content_sha256(iter(lambda: file.read(_BLOCK), b"")) if zipped else etag
    return Stored(key, size, etag, sha256=content)


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Regular files below a folder with their sizes, in the order of their keys; own files and links are left out."""
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if not entry.is_symlink() and not entry.name.startswith(OWN_PREFIX)]
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in sorted(entries, key=lambda each: each.name + ("/" if each.is_dir() else "")):
        path = Path(entry.path)
        if entry.is_dir():
            yield from _files(path)
        else:
            yield path, entry.stat().st_size


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _explained(action: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TargetError(
            f"It was not possible to {action} {path} ({reason}): check the folder, its permissions and the free space."
        ) from None
