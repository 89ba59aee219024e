"""What a newcomer stumbled over: each is told in a sentence, and does what its words say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemap_ops.cli import main
from sitemap_ops.errors import SourceError
from sitemap_ops.inventory.values import Column
from tests.services.shared import ROOT
from tests.stepping import files_of, make_site, run_all

PAGES = "sections:\n  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}\n"


NO_URLS = {
    "float": (pa.array([1.5]), "type double, whose text in a URL is not certain"),
    "list": (pa.array([["/a", "/b"]]), "type list<element: string>, which makes no URL"),
    "struct": (pa.array([{"path": "/a"}]), "type struct<path: string>, which makes no URL"),
    "boolean": (pa.array([True]), "type bool, which makes no URL"),
    "json": (pa.array(['{"a": 1}'], pa.json_()), "type extension<arrow.json>, which makes no URL"),
}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *((kind, settings) for kind in NO_URLS for settings in ("loc: it", 'loc: "/p/{it}"')),
        ("struct", "loc: fine, canonical: it"),
        ("boolean", "loc: fine, alternates: {tr: it}"),
    ],
)
def test_a_column_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, settings: str) -> None:
    """C-90: a URL's text has to be certain, wherever one is read: nothing is published of a guess."""
    values, told = NO_URLS[kind]
    pq.write_table(pa.table({"it": values, "fine": ["/a"]}), tmp_path / "pages.parquet")
    (tmp_path / "site.yaml").write_text(
        "site: shop\nbase_url: https://a.example/\ntarget: public/\nwork: work/\n"
        f"sections:\n  - {{name: pages, source: {{type: parquet, path: pages.parquet}}, {settings}}}\n"
    )
    assert main(["build", str(tmp_path / "site.yaml")]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert "olumn 'it'" in said
    assert not (tmp_path / "public").exists()


@pytest.mark.parametrize(("value", "kind"), [(True, "bool"), ({"a": 1}, "dict"), (["/a"], "list")])
def test_a_querys_column_that_is_no_text(value: object, kind: str) -> None:
    """C-90: so does what a driver gives as Python values; elsewhere, as in `published` or `images`, they are meant."""
    with pytest.raises(
        SourceError, match=f"The column 'it' of the query of 'shop' is of type {kind}, which makes no URL"
    ):
        Column("it", "the query of 'shop'", ["it"]).array([None, value])
    assert Column("it", "the query of 'shop'").array([value]).type == pa.string()


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
