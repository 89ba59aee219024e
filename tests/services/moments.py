"""Moments in the life of real Airflow tasks at which a test lets their processes die, sleep or wait.

In the tests' process `Traps` lays the traps and looks at what sprang; in a task's process `watch` (called by the DAG
file) notes every moment that it passes and does what the trap there says:

| act    | what happens                                                                                             |
|--------|----------------------------------------------------------------------------------------------------------|
| kill   | the task's process is killed, as by the kernel when memory is short                                      |
| sleep  | the task's process and its supervisor stop, as on a machine that swaps: no heartbeat reaches Airflow     |
| orphan | the supervisor is killed, as by the kernel, and the task's process stops: nobody looks after it any more |
| wait   | the task's process waits, well, until the test takes the trap away                                       |

A moment reads `begin publish`, `before put s3://bucket/key`, `after put ...` (so also get, upload, delete),
`after publish` (its result is not told yet), `raised publish ConflictError: ...`, `told publish` (its result is).
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_TASKS = ("prepare", "extract", "assemble", "publish", "cleanup")
_CALLS = ("get", "put", "upload", "delete")
_PAUSE = 0.05


@dataclass(frozen=True)
class Trap:
    """site, task (with its section, if it has one) and moment, a pattern: where it springs, once."""

    site: str
    task: str
    moment: str
    act: str


@dataclass(frozen=True)
class Moment:
    """What a task's process went through; `pid` tells the attempts apart."""

    site: str
    task: str
    moment: str
    pid: int


@dataclass(frozen=True)
class Traps:
    """A folder with the traps that are laid, those that have sprung, and the journal of all moments."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> Traps:
        for name in ("laid", "sprung"):
            (folder / name).mkdir(parents=True)
        return cls(folder)

    def lay(self, trap: Trap) -> Path:
        """Gives the trap's file; for one that waits it has to be given to `release`."""
        path = self.folder / "laid" / f"{len(self._all()):03d}"
        part = self.folder / path.name
        part.write_text(json.dumps(asdict(trap)))
        return part.rename(path)

    def sprung(self, trap: Path) -> int | None:
        """The process that went into a trap, asleep by now if it had to."""
        found = next((self.folder / "sprung").glob(f"{trap.name}.*"), None)
        if found is None:
            return None
        pid = int(found.suffix[1:])
        act = json.loads(found.read_text())["act"]
        return pid if act in ("kill", "wait") or state_of(pid) in ("T", None) else None

    def release(self, trap: Path) -> None:
        """Let a process that waits in a trap go on."""
        for path in (self.folder / "sprung").glob(f"{trap.name}.*"):
            path.rename(self.folder / path.name)

    def unsprung(self) -> list[str]:
        return [path.read_text() for path in (self.folder / "laid").iterdir()]

    def journal(self, site: str, task: str = "") -> list[Moment]:
        path = self.folder / "journal"
        moments = [Moment(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
        return [each for each in moments if each.site == site and task in ("", each.task)]

    def kill_sleepers(self) -> None:
        """What a test that failed has left asleep."""
        for each in (self.folder / "sprung").iterdir():
            pid = int(each.suffix[1:])
            for sleeper in (parent_of(pid), pid):
                if sleeper and state_of(sleeper) == "T":
                    with suppress(ProcessLookupError):
                        os.kill(sleeper, signal.SIGKILL)

    def _all(self) -> list[Path]:
        return [path for path in self.folder.rglob("[0-9]*") if path.is_file()]

    def spring(self, passed: Moment) -> None:
        """In a task's process: note a moment, and do what the trap there says."""
        with (self.folder / "journal").open("a") as journal:
            journal.write(json.dumps(asdict(passed)) + "\n")
        for path in sorted((self.folder / "laid").iterdir()):
            try:
                trap = Trap(**json.loads(path.read_text()))
                if (trap.site, trap.task) != (passed.site, passed.task) or not re.search(trap.moment, passed.moment):
                    continue
                into = path.rename(self.folder / "sprung" / f"{path.name}.{os.getpid()}")
            except FileNotFoundError:  # another thread or process went into it
                continue
            _ACTS[trap.act](into)


def state_of(pid: int) -> str | None:
    """A process's state as the kernel names it; None where it has ended."""
    fields = _fields(pid)
    return fields[0] if fields and fields[0] not in "ZX" else None


def parent_of(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[1]) if fields else None


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _kill(_: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _sleep(_: Path) -> None:
    os.kill(os.getppid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)


def _be_orphan(_: Path) -> None:
    supervisor = os.getppid()
    os.kill(supervisor, signal.SIGKILL)
    while os.getppid() == supervisor:  # who sleeps when it becomes an orphan gets a SIGHUP from the kernel
        time.sleep(_PAUSE)
    os.kill(os.getpid(), signal.SIGSTOP)


def _wait(into: Path) -> None:
    while into.exists():
        time.sleep(_PAUSE)


_ACTS: dict[str, Callable[[Path], None]] = {"kill": _kill, "sleep": _sleep, "orphan": _be_orphan, "wait": _wait}


def watch(folder: Path) -> None:
    """Let this process, which is to do one task, pass the moments of the task and of its calls of S3 stores."""
    from airflow.sdk.execution_time import task_runner

    from sitemap_ops.airflow import tasks
    from sitemap_ops.storage.s3 import S3Store

    traps = Traps(folder)
    doing: dict[str, str] = {}

    def reach(moment: str) -> None:
        if doing:
            traps.spring(Moment(**doing, moment=moment, pid=os.getpid()))

    for name in _TASKS:
        setattr(tasks, name, _watched_task(name, getattr(tasks, name), doing, reach))
    for name in _CALLS:
        setattr(S3Store, name, _watched_call(name, getattr(S3Store, name), reach))
    push = task_runner._push_xcom_if_needed

    def pushed(*arguments: Any, **options: Any) -> None:
        push(*arguments, **options)
        reach(f"told {doing.get('task', '')}")

    task_runner._push_xcom_if_needed = pushed


def _watched_task(
    name: str, work: Callable[..., Any], doing: dict[str, str], reach: Callable[[str], None]
) -> Callable[..., Any]:
    def watched(path: Path, *arguments: Any, **options: Any) -> Any:
        task = f"{name} {arguments[1]}" if name == "extract" else name
        doing.update(site=path.stem, task=task)
        reach(f"begin {task}")
        try:
            result = work(path, *arguments, **options)
        except BaseException as error:
            reach(f"raised {task} {type(error).__name__}: {error}")
            raise
        reach(f"after {task}")
        return result

    return watched


def _watched_call(name: str, call: Callable[..., Any], reach: Callable[[str], None]) -> Callable[..., Any]:
    def watched(store: Any, *arguments: Any, **options: Any) -> Any:
        if name == "delete":
            arguments = (list(arguments[0]),)
            keys = " ".join(arguments[0])
        else:
            keys = arguments[1] if name == "upload" else arguments[0]
        reach(f"before {name} {store.uri}{keys}")
        result = call(store, *arguments, **options)
        reach(f"after {name} {store.uri}{keys}")
        return result

    return watched
