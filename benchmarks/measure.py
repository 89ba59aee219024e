"""One command as a process of its own: wall and CPU seconds, peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_KIB_PER_MIB = 1024


@dataclass(frozen=True)
class Cost:
    """Seconds of wall and CPU time, and MiB resident at the peak, of one whole process."""

    wall: float
    cpu: float
    peak_mib: float


def cost(command: Sequence[str | Path], output: Path) -> Cost:
    """Run a command from the project's root to its end, what it prints into a file; compiled modules are kept.

    Raises CalledProcessError, with what it printed, where it fails.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with output.open("wb") as sink:
        started = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=environment, stdout=sink)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args, output.read_text(errors="replace"))
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / _KIB_PER_MIB)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    figures = zip(*((each.wall, each.cpu, each.peak_mib) for each in costs), strict=True)
    return Cost(*map(statistics.median, figures))
