"""What `pip install` brings: every file that is no module, and names that lead to code."""

from __future__ import annotations

import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.services.shared import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_a_wheel_has_every_file() -> None:
    """Issue 6, 5: templates, style sheets and data are in the wheel, whatever is added to the package."""
    if not (ROOT / ".git").exists():
        pytest.skip("only a clone knows which files are its own")
    listed = subprocess.run(["git", "ls-files", "sitemap_ops"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [Path(line).relative_to("sitemap_ops") for line in listed.stdout.splitlines() if not line.endswith(".py")]
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["sitemap_ops"]
    packed = {path.relative_to(ROOT / "sitemap_ops") for each in patterns for path in (ROOT / "sitemap_ops").glob(each)}
    assert files
    assert set(files) - packed == set()


@pytest.mark.airflow
def test_entry_points_lead_to_code() -> None:
    """Airflow finds the plugin, and a shell the command, by these names."""
    plugins = PROJECT["project"]["entry-points"]["airflow.plugins"]
    for name, target in {**plugins, **PROJECT["project"]["scripts"]}.items():
        module, _, attribute = target.partition(":")
        assert hasattr(import_module(module), attribute), name
