"""The main job, end to end, on this machine: `make demo`.

An S3 server and PostgreSQL start in `.demo/`, a messy inventory of 105,000 rows is loaded, the real DAG publishes it
through Airflow, and what was published is fetched back and validated. All of it stays in `.demo/`, so that a second run
finds everything unchanged. Nothing leaves loopback.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.demo import DemoError

FOLDER = Path(os.environ.get("SITEMAP_OPS_DEMO") or Path(__file__).parents[2] / ".demo")
WIDTH_OF_A_FILE = 110


def main() -> int:
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _only_one(FOLDER):
            return _run()
    except DemoError as error:
        print(f"demo: {error}")
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted, and all servers are stopped; it can be run again at any time.")
        return 130


def _run() -> int:
    # A second or two of imports: they come after the signals have their handler.
    from rich.console import Console

    from tests.demo.job import run

    warnings.simplefilter("ignore")
    return run(FOLDER, Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop in order, once: servers are stopped while the exception passes, and that is not to be cut short."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoError(f"another demo is running in {folder}: wait for it, or stop it with Ctrl-C.") from None
        yield


if __name__ == "__main__":
    sys.exit(main())
