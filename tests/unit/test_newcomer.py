"""What a newcomer stumbled over: each is told in a sentence, and does what its words say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemap_ops.cli import main
from tests.services.shared import ROOT
from tests.stepping import files_of, make_site, run_all

PAGES = "sections:\n  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}\n"


@pytest.mark.parametrize("values", [pa.array([["/a", "/b"]]), pa.array([1.5])], ids=["list", "float"])
def test_a_column_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], values: pa.Array) -> None:
    """C-90: a loc's text has to be certain, in a column as in a template: nothing is published of a guess."""
    pq.write_table(pa.table({"loc": values}), tmp_path / "pages.parquet")
    (tmp_path / "site.yaml").write_text(
        "site: shop\nbase_url: https://a.example/\ntarget: public/\nwork: work/\n"
        "sections:\n  - {name: pages, source: {type: parquet, path: pages.parquet}}\n"
    )
    assert main(["build", str(tmp_path / "site.yaml")]) == 1
    assert "text in a URL is not certain" in capsys.readouterr().err
    assert not (tmp_path / "public").exists()


def test_allow_empty_is_enough(tmp_path: Path) -> None:
    """A site that may be empty needs no second key to say so."""
    report = run_all(make_site(tmp_path, "allow_empty: true\n" + PAGES, pages="url\n"))
    assert (report["outcome"], report["entries"]) == ("published", 0)
    assert files_of(tmp_path) == {}


def test_a_target_that_is_a_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A symbolic link to itself is told in one sentence."""
    make_site(tmp_path, PAGES, pages="url\n/a\n")
    (tmp_path / "public").symlink_to("public")
    assert main(["build", str(tmp_path / "site.yaml")]) == 1
    assert "Too many levels of symbolic links" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_on_a_full_disk(tmp_path: Path) -> None:
    """What can't be printed is told on stderr, without a traceback."""
    make_site(tmp_path, PAGES, pages="url\n/a\n")
    command = [sys.executable, "-m", "sitemap_ops", "build", str(tmp_path / "site.yaml")]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "its disk is full" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--base", "--host"])
def test_a_base_that_is_no_address(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    """A wrong call is told as one, and not as a thousand URLs that are in the wrong place."""
    (tmp_path / "urls.txt").write_text("https://a.example/\n")
    assert main(["validate", str(tmp_path / "urls.txt"), option, "notaurl"]) == 2
    assert "'notaurl' is no absolute web address" in capsys.readouterr().err
