"""Processes that are killed, or sleep, at a chosen moment: just before or just after a step that the world can see.

A publisher is forked when all is imported and rendered, so that a kill costs a fraction of a second. The parent has one
thread and looks at the site as long as the child lives.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from botocore.client import BaseClient

from sitemap_ops.storage.folder import FolderStore

Job = Callable[[], object]

_PAUSE = 0.01
_MANY = 1_000
"""More threads than any child has."""

_ON_FILES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.scandir", "os.truncate"})
"""What Python audits of its work on files, each time before it is done."""


@dataclass
class Points:
    """The moments just before and just after each step of this process; `act` is called at number `at` and later."""

    at: int | None = None
    act: Callable[[], None] = field(default=lambda: os.kill(os.getpid(), signal.SIGKILL))
    count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reach(self) -> None:
        with self._lock:
            self.count += 1
            here = self.at is not None and self.count >= self.at
        if here:
            self.act()

    def of_client(self, client: BaseClient) -> None:
        """Each request that the client sends, and each answer that it has got, tries again included."""
        for event in ("before-send.s3", "response-received.s3"):
            client.meta.events.register(event, lambda **_: self.reach())

    def of_folder_stores(self) -> None:
        """Each call of a folder's store; between them this process holds no lock that another would wait for."""
        for name in ("head", "get", "put", "upload", "delete"):
            call = getattr(FolderStore, name)

            def watched(*arguments: Any, call: Callable[..., Any] = call, **options: Any) -> Any:
                self.reach()
                try:
                    return call(*arguments, **options)
                finally:
                    self.reach()

            setattr(FolderStore, name, watched)

    def of_files(self, root: Path) -> None:
        """Each call that makes, moves, removes, opens or syncs something below a folder. There is no way back."""
        below = str(root)
        sync = os.fsync

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "fcntl.flock" or (event in _ON_FILES and str(arguments[0]).startswith(below)):
                self.reach()

        def watched(handle: int) -> None:
            self.reach()
            sync(handle)
            self.reach()

        sys.addaudithook(hook)
        os.fsync = watched


class Nap:
    """A sleep in the middle of a child's work, until its parent wakes it; each thread falls asleep at a point."""

    def __init__(self) -> None:
        self._asleep, self._wake = os.pipe(), os.pipe()
        self._over = False

    def fall_asleep(self) -> None:
        """In the child: a point's `act`."""
        if not self._over:
            os.write(self._asleep[1], b"z")
            os.read(self._wake[0], 1)
            self._over = True

    def wait(self, child: Child) -> bool:
        """Until the child sleeps; False where it ends without having slept."""
        while not select.select([self._asleep[0]], [], [], _PAUSE)[0]:
            if child.poll():
                return False
        return True

    def end(self) -> None:
        """Wake the child."""
        os.write(self._wake[1], b"w" * _MANY)

    def close(self) -> None:
        for handle in (*self._asleep, *self._wake):
            os.close(handle)


@dataclass(frozen=True)
class Ended:
    """How a child ended. error: what it raised, as `Kind: message`; None where it was killed, or all went well."""

    killed: bool
    error: str | None = None
    gives: Any = None

    @property
    def well(self) -> bool:
        return not self.killed and self.error is None


@dataclass
class Child:
    """A forked process that does one job. The job's result has to be JSON-able; what is not is left out."""

    pid: int
    results: int
    ended: Ended | None = None

    @classmethod
    def of(cls, job: Job) -> Child:
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _work(job, writing)
        os.close(writing)
        return cls(pid, reading)

    def poll(self, flags: int = os.WNOHANG) -> Ended | None:
        """How it ended; None while it lives."""
        if self.ended is None:
            pid, status = os.waitpid(self.pid, flags)
            if pid:
                self.ended = self._read(status)
        return self.ended

    def wait(self, meanwhile: Callable[[], object] | None = None) -> Ended:
        """Its end; `meanwhile` is called again and again until then, with pauses: it takes a quarter of the time, else
        a child on a busy machine would have to wait for it."""
        while (ended := self.poll(os.WNOHANG if meanwhile else 0)) is None:
            if meanwhile:
                began = time.monotonic()
                meanwhile()
                time.sleep(max(_PAUSE, 3 * (time.monotonic() - began)))
        return ended

    def stop(self) -> None:
        """Kill it, if it still lives."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.poll(0)

    def _read(self, status: int) -> Ended:
        with os.fdopen(self.results, "rb") as file:
            told = file.read()
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL, f"ended by signal {os.WTERMSIG(status)}"
            return Ended(killed=True)
        return Ended(killed=False, **json.loads(told))


def forked(job: Job, meanwhile: Callable[[], object] | None = None) -> Ended:
    """Do a job in a child, to its end."""
    child = Child.of(job)
    try:
        return child.wait(meanwhile)
    finally:
        child.stop()


def _work(job: Job, results: int) -> NoReturn:
    """The child's whole life; whatever happens, it never comes back into what the parent was doing."""
    gc.freeze()  # else each collection would copy all of the parent's pages
    try:
        told: dict[str, Any] = {"gives": job()}
        body = json.dumps(told)
    except BaseException as error:
        body = json.dumps({"error": f"{type(error).__name__}: {error}"})
    try:
        with os.fdopen(results, "wb") as file:
            file.write(body.encode())
    finally:
        os._exit(0)
