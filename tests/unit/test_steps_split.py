"""A run whose section is read in parts, against the same run that reads it in one."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sitemap_ops.cli import main
from sitemap_ops.errors import SourceError
from sitemap_ops.site import Site
from sitemap_ops.spark.read import TALLY, Cleaner, _Parts, _split
from sitemap_ops.spark.tally import unpacked
from sitemap_ops.steps import assemble, extract, prepare, publish, split
from sitemap_ops.steps.extract import policy_of
from tests.stepping import AS_OF, CONNECTIONS, files_of, make_site

SECTIONS = """\
sections:
  - name: products
    source: {{type: sql, conn_id: shop_db, query: SELECT * FROM product, key: id, page_rows: 400{split}}}
    loc: "{{path}}"
    lastmod: changed
    images: image
  - {{name: pages, source: {{type: csv, path: pages.csv}}, loc: url}}
"""
ROWS = 2_000


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of which each tenth has the URL of another one, with another date, far away; and some that are wrong."""
    dice = random.Random(7)
    rows: list[tuple[Any, ...]] = []
    for n in range(ROWS):
        path = f"/p/{dice.randrange(n + 1) if n % 10 == 0 else n}"
        if n % 97 == 0:
            path = dice.choice(["", "ftp://a.example/x", '/a,"b"\n\ufffd', "http://[", None])
        rows.append((n * 3 + 1, path, dice.choice(["2026-10-01", "2026-10-02", "07.03.2024", None]), f"/i/{n}.png"))
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE product (id INTEGER PRIMARY KEY, path TEXT, changed TEXT, image TEXT)")
        connection.executemany("INSERT INTO product VALUES (?, ?, ?, ?)", rows)
    connection.close()
    monkeypatch.setenv("SITEMAP_OPS_CONN_SHOP_DB", f"sqlite:///{tmp_path}/shop.db")


def site_of(folder: Path, parts: int) -> Site:
    folder.mkdir(exist_ok=True)
    return make_site(folder, SECTIONS.format(split=f", split: {parts}" if parts else ""))


def extracted(site: Site, run: dict[str, Any]) -> list[dict[str, Any]]:
    parts = split(site, CONNECTIONS)
    return [extract(site, run, part["section"], CONNECTIONS, span=part["span"]) for part in parts]


def published(site: Site) -> dict[str, Any]:
    run = prepare(site, run_id="a", as_of=AS_OF)
    parts = extracted(site, run)
    random.Random(3).shuffle(parts)  # C-102: their order is nothing
    return publish(site, run, assemble(site, run, parts, CONNECTIONS), CONNECTIONS)


def rejects(folder: Path, report: dict[str, Any]) -> str:
    path = folder / ".sitemap-ops/shop/releases" / report["release"] / "rejects.csv.gz"
    return gzip.decompress(path.read_bytes()).decode()


@pytest.mark.parametrize("parts", [2, 7])
def test_a_section_in_parts_is_the_section(tmp_path: Path, database: None, parts: int) -> None:
    """Issue 5, Build 5, and DESIGN 5: files and rejects are the same, byte for byte, and so is what the report says of
    rows: which duplicate stays does not depend on the part it was in, and row numbers go on from part to part."""
    whole, split_up = tmp_path / "whole", tmp_path / "parts"
    expected, report = published(site_of(whole, 0)), published(site_of(split_up, parts))
    assert files_of(split_up) == files_of(whole)
    assert rejects(split_up, report) == rejects(whole, expected)
    assert len(expected["rejected"]) > 2 and expected["duplicates"] > 50
    for name in ("rows_read", "entries", "duplicates", "rejected", "changed", "sections", "findings", "shards"):
        assert report[name] == expected[name], name


def test_the_command_reads_parts_too(tmp_path: Path, database: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 5, Build 5: without Airflow the parts are read one after the other, to the same shards."""
    expected = published(site_of(tmp_path / "whole", 0))
    site_of(tmp_path / "parts", 3)
    assert main(["build", str(tmp_path / "parts" / "site.yaml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_read"] == expected["rows_read"]
    shards = [
        {name: body for name, body in files_of(tmp_path / kind).items() if name != "sitemap.xml"}
        for kind in ("whole", "parts")
    ]
    assert shards[0] == shards[1]


def test_spark_reads_parts_by_tasks_of_their_own(tmp_path: Path, database: None) -> None:
    """Issue 5, Build 4: what an executor is given for each part is that part's rows; no Spark is needed to look."""
    site = site_of(tmp_path / "parts", 3)
    source = site.sections[0].source
    parts = tuple((0, *part) for part in _split(source, CONNECTIONS))
    cleaner = Cleaner(site, policy_of(site), AS_OF, site.work)
    tallies = []
    for number in range(len(parts)):
        *_, told = _Parts(cleaner, parts)([pa.record_batch({"id": [number]})])
        tallies.append(unpacked(told.column(TALLY.name)[0].as_py()))
    assert len(tallies) == 3
    assert [tally.error for tally in tallies] == [None] * 3
    assert [tally.rows for tally in tallies] == pytest.approx([ROWS / 3] * 3, abs=1)
    whole = tallies[0]
    for tally in tallies[1:]:
        whole.merge(tally)
    assert whole.rows == ROWS


def test_uniform_lastmods_are_seen_across_parts(tmp_path: Path, database: None) -> None:
    """P-10: a build's own time on nearly all rows of a section is a finding, though no part has 100 rows."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("DELETE FROM product WHERE id > 400")
        connection.execute("UPDATE product SET changed = '2026-11-01'")
    connection.close()
    report = published(site_of(tmp_path / "parts", 4))
    assert [(each["code"], each["place"]) for each in report["findings"]] == [("lastmod-uniform", "products")]


def test_a_part_that_is_missing_or_of_another_split(tmp_path: Path, database: None) -> None:
    """C-102: rows that no part has read, or two parts, are never published: the run stops and says what to do."""
    site = site_of(tmp_path / "parts", 4)
    run = prepare(site, run_id="a", as_of=AS_OF)
    parts = extracted(site, run)
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("INSERT INTO product VALUES (90000, '/p/new', NULL, NULL)")
    connection.close()
    other = split(site, CONNECTIONS)[0]["span"]
    mixed = [extract(site, run, "products", CONNECTIONS, span=other), *parts[1:]]
    for wrong in (parts[1:], [parts[1], *parts[1:]], mixed):
        with pytest.raises(SourceError, match=r"parts of the section 'products' .* not all of its rows.* split step"):
            assemble(site, run, wrong, CONNECTIONS)
