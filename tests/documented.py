"""Running what the docs tell people to type, as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.services.shared import ROOT


def bash_blocks(text: str) -> list[str]:
    return re.findall(r"```bash\n(.*?)```", text, re.DOTALL)


def run(script: str, folder: Path, **environment: str) -> str:
    """A block in a shell, in a folder that looks like the clone; its output. Any command that fails fails the test."""
    (folder / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SITEMAP_"))}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
