"""What may import what: left to right in the flow, Airflow only in `sitemap_ops/airflow`, nothing the command line."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.services.shared import ROOT

MODULES = sorted((ROOT / "sitemap_ops").rglob("*.py"))
LIGHT = ("pandas", "pyarrow", "numpy", "lxml", "boto3", "sqlalchemy", "airflow")


def imported(path: Path, *, typing: bool = True) -> set[str]:
    """Every module that a file names in an import, wherever it stands there; typing: those for types alone too."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    if not typing:
        tree.body = [
            node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def graph() -> dict[str, set[str]]:
    """Which parts of the package (its folders and modules) each of them needs to run."""
    needs: dict[str, set[str]] = {}
    for path in MODULES:
        part = path.relative_to(ROOT / "sitemap_ops").parts[0].removesuffix(".py")
        modules = {name.split(".")[1] for name in imported(path, typing=False) if name.startswith("sitemap_ops.")}
        needs.setdefault(part, set()).update(modules - {part})
    return needs


def test_parts_import_one_way() -> None:
    """DESIGN 3: left to right in the flow: no part needs another that needs it."""
    order = list(TopologicalSorter(graph()).static_order())
    assert order.index("reading") < order.index("inventory") < order.index("clean") < order.index("steps")


def test_reading_is_shared() -> None:
    """How bytes are fetched and parsed is a part of its own: those who import sitemaps need no validator for it."""
    needs = graph()
    assert needs["reading"] <= {"connections", "engines", "errors", "rules", "storage"}
    assert {part for part, modules in needs.items() if "validate" in modules} <= {
        *("audit", "cli", "cli_audit", "notify", "steps"),
    }


def test_airflow_stays_in_its_own_package() -> None:
    """DESIGN 3: sitemap_ops minus sitemap_ops/airflow imports no Airflow, at no time."""
    elsewhere = [path for path in MODULES if "airflow" not in path.relative_to(ROOT / "sitemap_ops").parts]
    assert len(elsewhere) > 50
    for path in elsewhere:
        guilty = {name for name in imported(path) if name.split(".")[0] == "airflow" or ".airflow" in name}
        assert not guilty, (path.name, guilty)


def test_nothing_imports_the_command_line() -> None:
    """DESIGN 3: imports run one way; only `python -m sitemap_ops` imports cli."""
    assert [path.name for path in MODULES if "sitemap_ops.cli" in imported(path)] == ["__main__.py"]


@pytest.mark.parametrize("module", ["sitemap_ops.site", "sitemap_ops.cli", "sitemap_ops.errors"])
def test_light_modules(module: str) -> None:
    """What the DAG folder's parsing and `--help` need loads none of the heavy libraries."""
    script = f"import sys, {module}; print([name for name in {LIGHT} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_loads_only_what_it_uses(tmp_path: Path) -> None:
    """A build from CSV to a folder loads no client of a store, a database or an engine: starting takes long enough."""
    (tmp_path / "pages.csv").write_text("loc\n/a\n")
    (tmp_path / "site.yaml").write_text(
        "site: shop\nbase_url: https://a.example/\ntarget: public/\nstate: state/\nwork: work/\n"
        "sections: [{name: pages, source: {type: csv, path: pages.csv}, loc: loc}]\n"
    )
    unused = ("boto3", "botocore", "sqlalchemy", "lxml", "urllib3", "requests", "airflow")
    loaded = f"print([name for name in {unused} if name in sys.modules])"
    script = f"import sys; from sitemap_ops.cli import main; main(sys.argv[1:]); {loaded}"
    command = [sys.executable, "-c", script, "build", str(tmp_path / "site.yaml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "public" / "sitemap.xml").exists()
