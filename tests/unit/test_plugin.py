"""The plugin's parts without a server: what loading it costs, its links, its tables."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tests.services.airflow import environment
from tests.services.shared import ROOT

pytestmark = pytest.mark.airflow

HEAVY = ("fastapi", "starlette", "jinja2", "pandas", "pyarrow", "boto3", "sqlalchemy", "pydantic")


def test_every_airflow_process_can_afford_the_plugin(tmp_path: Any) -> None:
    """Workers import the plugins folder too: loading this one brings in none of what only its pages need.

    Only what Airflow itself had not loaded counts.
    """
    script = (
        "import sys, airflow.plugins_manager, airflow.sdk; airflow.sdk.BaseOperatorLink, airflow.sdk.Asset\n"
        "before = set(sys.modules)\n"
        "import sitemap_ops_plugin\n"
        "new = set(sys.modules) - before\n"
        "assert 'sitemap_ops.airflow.plugin' in new\n"
        f"print(sorted(name for name in new if name.split('.')[0] in {HEAVY} or name.startswith('airflow.')))"
    )
    variables = environment(tmp_path, tmp_path)
    variables["PYTHONPATH"] += f":{ROOT / 'plugins'}"
    done = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


def test_plugin_file_leaves_an_installed_package_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed sitemap-ops announces its plugin by an entry point; Airflow complains of a second by that name."""
    import importlib.metadata
    import runpy

    file = str(ROOT / "plugins/sitemap_ops_plugin.py")
    assert "SitemapOpsPlugin" in runpy.run_path(file)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: name)
    assert "SitemapOpsPlugin" not in runpy.run_path(file)


def test_package_announces_the_plugin() -> None:
    """The entry point that pip installs names the class that there is, and the package brings the pages' files."""
    import tomllib
    from importlib.metadata import EntryPoint

    from sitemap_ops.airflow.plugin import SitemapOpsPlugin

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ((name, value),) = project["project"]["entry-points"]["airflow.plugins"].items()
    assert EntryPoint(name, value, "airflow.plugins").load() is SitemapOpsPlugin
    kinds = {pattern.rsplit(".", 1)[1] for pattern in project["tool"]["setuptools"]["package-data"]["sitemap_ops"]}
    files = [*(ROOT / "sitemap_ops/report/templates").iterdir(), *(ROOT / "sitemap_ops/airflow/ui").rglob("*.*")]
    assert {path.suffix[1:] for path in files} - {"py", "pyc"} <= kinds


FACTS = {"site": "shop", "base_url": "b", "index": "https://a.example/sitemap.xml", "state": "s", "aws_conn_id": None}


@pytest.fixture
def key() -> Any:
    return SimpleNamespace(dag_id="sitemaps__shop", run_id="manual__2026-12-01T00:00:00+00:00")


@pytest.mark.parametrize(("base_url", "path"), [("", ""), ("https://h.example/airflow/", "/airflow")])
def test_links_of_a_task_that_publishes(monkeypatch: pytest.MonkeyPatch, key: Any, base_url: str, path: str) -> None:
    """The release's link stays in Airflow's frame, also where Airflow lies below a path; ids are encoded once."""
    from sitemap_ops.airflow import links

    monkeypatch.setenv("AIRFLOW__API__BASE_URL", base_url)
    links._base_path.cache_clear()
    publish = SimpleNamespace(outlets=[SimpleNamespace(extra=FACTS)])
    assert links.ReleaseLink().get_link(publish, ti_key=key) == (
        f"{path}/plugin/sitemaps{path}/sitemap-ops/dags/sitemaps__shop/runs/manual__2026-12-01T00%3A00%3A00%2B00%3A00"
    )
    assert links.IndexLink().get_link(publish, ti_key=key) == "https://a.example/sitemap.xml"
    links._base_path.cache_clear()


@pytest.mark.parametrize(
    "outlets", [[], [SimpleNamespace(extra={"state": "other"})], [SimpleNamespace(extra=None)], [1]]
)
def test_other_tasks_have_no_button(key: Any, outlets: list[Any]) -> None:
    """Airflow asks for the links of every task there is: those of other DAGs get none."""
    from sitemap_ops.airflow.links import IndexLink, ReleaseLink

    other = SimpleNamespace(outlets=outlets)
    assert [link.get_link(other, ti_key=key) for link in (ReleaseLink(), IndexLink())] == ["", ""]


@dataclass(frozen=True)
class Row:
    name: str
    size: int


def test_tables_are_cut_into_pages() -> None:
    """Of thousands of rows one page is shown, in the order asked for; a page or column that isn't there is another."""
    from sitemap_ops.airflow.ui.tables import ROWS, page

    rows = [Row(f"{number:04}", -number) for number in range(2_501)]
    keys = {"name": lambda row: row.name, "size": lambda row: row.size}
    second = page(rows, keys, sort="size", number=2, first="name")
    assert [row.size for row in second.rows] == list(range(-2_400, -2_400 + ROWS))
    assert (second.pages, second.total, second.order_of("size"), second.order_of("name")) == (
        26, 2_501, "ascending", None,
    )  # fmt: skip
    assert (second.sort_by("size"), second.sort_by("name")) == ("-size", "name")
    last = page(rows, keys, sort="-nothing", number=99, first="name")
    assert (last.number, [row.name for row in last.rows], last.sort) == (26, ["2500"], "name")
    assert page([], keys, sort="name", number=0, first="name").pages == 1


def test_ages() -> None:
    """How long ago, or how soon, in one unit."""
    from sitemap_ops.airflow.ui.rendering import ago

    now = datetime(2026, 12, 1, 12, tzinfo=UTC)
    shown = [ago(f"2026-{instant}:00+00:00", now) for instant in ("12-01T12:00", "12-01T09:30", "11-28T12:00")]
    assert shown == ["now", "2 h ago", "3 d ago"]
    assert ago("2026-12-01T12:45:00+00:00", now) == "in 45 min"
