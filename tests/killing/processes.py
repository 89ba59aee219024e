"""Processes that are killed, or sleep, at a chosen moment: just before or just after a step that the world can see.

A publisher is forked when all is imported and rendered, so that a kill costs a fraction of a second. The parent has one
thread and looks at the site as long as the child lives.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from botocore.client import BaseClient

Job = Callable[[], object]

_PAUSE = 0.01

_ON_FILES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.scandir", "os.truncate"})
"""What Python audits of its work on files, each time before it is done."""


@dataclass
class Points:
    """The moments just before and just after each step of this process; `act` is called at number `at`."""

    at: int | None = None
    act: Callable[[], None] = field(default=lambda: os.kill(os.getpid(), signal.SIGKILL))
    count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reach(self) -> None:
        with self._lock:
            self.count += 1
            here = self.count == self.at
        if here:
            self.act()

    def of_client(self, client: BaseClient) -> None:
        """Each request that the client sends, and each answer that it has got, tries again included."""
        for event in ("before-send.s3", "response-received.s3"):
            client.meta.events.register(event, lambda **_: self.reach())

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
        """Its end; `meanwhile` is called again and again until then, with pauses."""
        while (ended := self.poll(os.WNOHANG if meanwhile else 0)) is None:
            if meanwhile:
                meanwhile()
                time.sleep(_PAUSE)
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
