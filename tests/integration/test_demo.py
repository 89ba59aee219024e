"""`make demo`, as a user runs it: to its end, once more, and cut off at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.shared import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.airflow, pytest.mark.full]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("demo")
    yield path
    assert left_running(path) == []


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.demo"],
        cwd=ROOT,
        env=os.environ | {"SITEMAP_OPS_DEMO": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def left_running(folder: Path) -> list[str]:
    """Command lines of processes that still name the folder, or work in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in line or str((process / "cwd").readlink()).startswith(str(folder)):
                found.append(line)
        except OSError:
            continue
    return found


def test_demo_and_demo_again(folder: Path) -> None:
    """The demo ends well and says what happened; the second one finds everything unchanged and uploads nothing."""
    first, second = (run(folder) for _ in range(2))
    for output in (first, second):
        assert "rows read   105,000" in output
        assert "valid (0 errors" in output
        assert "Traceback" not in output
    assert "nothing was uploaded" not in first
    assert "Everything is as the last run left it: nothing was uploaded." in second
    for name in ("published/sitemap.xml", "report.json", "rejects.csv.gz", "airflow.log"):
        assert (folder / name).stat().st_size > 100


def run(folder: Path) -> str:
    with start(folder) as process:
        output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    return output


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0, 4.0, 7.0, 11.0, 16.0])
def test_interrupted(tmp_path: Path, seconds: float) -> None:
    """Ctrl-C at any moment ends with 130, no traceback and no process left; the next demo works on what is there."""
    with start(tmp_path) as process:
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert left_running(tmp_path) == []
    if seconds in (2.0, 11.0):
        run(tmp_path)


def test_only_one_at_a_time(tmp_path: Path) -> None:
    """A second demo beside a running one says so and touches nothing."""
    with start(tmp_path) as first:
        time.sleep(2)
        with start(tmp_path) as second:
            output, _ = second.communicate(timeout=60)
        assert (second.returncode, "another demo is running" in output) == (1, True)
        os.killpg(first.pid, signal.SIGINT)
        first.communicate(timeout=60)
