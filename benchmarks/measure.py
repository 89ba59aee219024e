"""One command as a process of its own: wall and CPU seconds, peak memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
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


# A process begins with the peak of the one that started it, so it is started by one that has nothing.
_LAUNCHER = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
spent = time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss
with open(sys.argv[1], "w") as file:
    json.dump(spent, file)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def cost(command: Sequence[str | Path], output: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command from the project's root to its end, what it prints into a file; compiled modules are kept.

    environment: variables beside this process's own. Raises CalledProcessError, with what it printed, where it fails.
    """
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})}
    figures = output.with_suffix(".cost")
    launcher = [sys.executable, "-S", "-c", _LAUNCHER, figures, *command]
    with output.open("wb") as sink:
        done = subprocess.run(launcher, cwd=ROOT, env=variables, stdout=sink, check=False)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, output.read_text(errors="replace"))
    wall, cpu, peak_kib = json.loads(figures.read_text())
    return Cost(wall, cpu, peak_kib / _KIB_PER_MIB)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    figures = zip(*((each.wall, each.cpu, each.peak_mib) for each in costs), strict=True)
    return Cost(*map(statistics.median, figures))


def busyness() -> str:
    """What else the machine is doing, for the line above a table: figures of a busy one are good for ratios only."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def python_with(packages: Sequence[str], folder: Path) -> Path:
    """The Python of a virtual environment made in a folder, with packages that this project does not need itself."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, capture_output=True)
    return python
