"""Child processes that never outlive what started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

STOP_SECONDS = 10.0

# On Linux the child asks the kernel for a SIGTERM when its parent ends, however that ends.
_LAUNCH = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    if os.getppid() != int(sys.argv[1]):
        sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""


@contextmanager
def running(
    command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A program with its output in a file, in a process group of its own: all of it is gone when the context ends.

    command: the first word is the path of the program.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), *command],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,  # a terminal's Ctrl-C reaches the parent only, which then stops it in order
        )  # fmt: skip
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and whatever is left of the group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
