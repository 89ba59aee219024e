"""The product as a user runs it: the command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.shared import ROOT

TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Ran:
    """A command that has ended; `peak_mib` is its largest resident size."""

    code: int
    out: str
    err: str
    peak_mib: float

    @property
    def json(self) -> Any:
        return json.loads(self.out)


# Of all children of this little parent there is one: its peak is that of the command.
_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def sitemap_ops(
    *arguments: str | Path, folder: Path, environment: Mapping[str, str] | None = None, stdin: str | None = None
) -> Ran:
    """`python -m sitemap_ops …`, run in a folder, with nothing of the test's own AWS settings but what is given."""
    peak = folder / ".peak"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SITEMAP_OPS_"))}
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, peak, sys.executable, "-m", "sitemap_ops", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), **(environment or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, int(peak.read_text()) / 1024)
