"""Issue 5 item 4: what Spark makes is what one process makes, to the byte; also when a worker dies in mid-job."""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemap_ops import spark
from sitemap_ops.errors import SourceError, TargetError, UsageError
from sitemap_ops.site import load_site
from sitemap_ops.spark.assemble import told
from sitemap_ops.steps import assemble, extract, prepare, publish
from tests.services.process import running
from tests.services.shared import ROOT, missing, shared
from tests.stepping import AS_OF, CONNECTIONS

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
engine: ENGINE
formats: [xml, txt]
engine_sets: [baidu]
guards: {max_rejected: 1}
sections:
  - {name: products, source: {type: parquet, path: products}, loc: "/p/{slug}", lastmod: changed, priority: 0.8}
  - name: news
    source: {type: csv, path: news.csv}
    loc: url
    lastmod: changed
    images: image
    news: {name: The Daily, language: en, title: title, published: changed}
"""
SLUGS = ("red shoe", "Ünlü ürün", "a&b", "x/../y", "100%", "plain", "ok?q=1&utm_source=x", "", "tab\t", "ftp:")


@pytest.fixture(scope="module")
def java() -> None:
    """Spark is an extra: a plain test run skips without it, also in CI; `make test-full` installs it and wants it."""
    if absent() and os.environ.get("SPARK_IS_WANTED"):
        missing(absent())
    if absent():
        pytest.skip(absent())


def absent() -> str:
    wanted = {"Java 17": shutil.which("java"), "requirements-spark.txt": importlib.util.find_spec("pyspark")}
    lacking = [name for name, found in wanted.items() if found is None]
    return f"the Spark engine was not tested: no {' and no '.join(lacking)}; make test-full has both" if lacking else ""


@pytest.fixture(scope="module")
def session(java: None) -> Iterator[Any]:
    """One local session with two task slots, on loopback."""
    from pyspark.sql import SparkSession

    with local_settings():
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.executorEnv.PYTHONPATH", str(ROOT)).config("spark.driver.host", "127.0.0.1")
        started = builder.config("spark.default.parallelism", "3").getOrCreate()
        started.sparkContext.setLogLevel("ERROR")
        yield started
        started.stop()


@contextmanager
def local_settings() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield


def inventory(folder: Path) -> None:
    """5,600 messy rows: duplicates over files and sections, what has to be escaped or cleaned, and rejects."""
    pick = random.Random(7)
    (folder / "products").mkdir()
    for part in range(3):
        slugs = [f"{pick.choice(SLUGS)}{pick.randrange(1_500) or ''}" for _ in range(700)]
        days = [f"2026-{pick.randrange(1, 14):02}-{pick.randrange(1, 29):02}" for _ in slugs]
        pq.write_table(pa.table({"slug": slugs, "changed": days}), folder / "products" / f"{part}.parquet")
    with (folder / "news.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["url", "changed", "title", "image"])
        for number in range(3_500):
            url = pick.choice(
                [f"/n/{number}", f"https://A.example/n/{number}", f"/p/plain{number}", "http:///", "/n/é ü"]
            )
            title = f"News, “{number}” & more\nof it" if number % 9 else ""
            writer.writerow(
                [url, f"2026-11-{pick.randrange(28, 30)}T{number % 24:02}:00:00Z", title, f"/i/{number}.jpg"]
            )


def made(folder: Path, engine: str, text: str = SITE, *, publishing: bool = True) -> dict[str, Any]:
    """What a run assembles, and the uncompressed sha256 of each file of its workspace and of the published ones."""
    path = folder / f"{engine}.yaml"
    path.write_text(text.replace("ENGINE", engine).replace("public/", f"{engine}/").replace("work/", f"{engine}-work/"))
    site = load_site(path)
    run = prepare(site, run_id=engine, as_of=AS_OF)
    if engine == "spark":
        reference = spark.assemble(site, run, CONNECTIONS)
    else:
        reference = assemble(
            site, run, [extract(site, run, each.name, CONNECTIONS) for each in site.sections], CONNECTIONS
        )
    work = Path(run["work"].removeprefix("file://"))
    result = json.loads(next(work.rglob("assemble.json")).read_text())["result"]
    files = {path.name: digest(path) for path in work.rglob("shards/*")}
    rejects = sorted(gzip.decompress(next(work.rglob("rejects.csv.gz")).read_bytes()).splitlines())
    if publishing:
        publish(site, run, reference, CONNECTIONS)
        files |= {path.name: digest(path) for path in (folder / engine).glob("[!.]*") if "index" not in path.name}
    return result | {"files": files, "rejects": rejects}


def digest(path: Path) -> str:
    body = path.read_bytes()
    return hashlib.sha256(gzip.decompress(body) if path.suffix == ".gz" else body).hexdigest()


def same(ours: dict[str, Any], other: dict[str, Any]) -> None:
    assert ours["files"] == other["files"]
    assert by_key(ours) == by_key(other)
    assert ours["duplicates"] == other["duplicates"]
    assert ours["sets"] == other["sets"]
    for one, two in zip(ours["sections"], other["sections"], strict=True):
        for key in ("section", "rows", "entries", "rejected", "changed", "lastmod_uniform"):
            assert one[key] == two[key], key


def by_key(result: dict[str, Any]) -> dict[str, Any]:
    return {shard["key"]: shard for shard in result["shards"]}


def test_the_same_files_as_one_process(session: Any, tmp_path: Path) -> None:
    """Issue 5 item 4, C-72: the same shards by name, record and uncompressed sha256, counts and published files;
    sections that share URLs, sets with limits of their own, shards within one partition and over several."""
    inventory(tmp_path)
    local, distributed = made(tmp_path, "local"), made(tmp_path, "spark")
    assert sum(shard["set"] == "news" for shard in local["shards"]) >= 3
    assert sum(section["rejected"] != {} for section in local["sections"]) == 2
    same(distributed, local)
    assert distributed["rejects"] == local["rejects"]  # with the same row numbers, over files too


def test_a_query_of_the_sessions_catalog(session: Any, tmp_path: Path) -> None:
    """Issue 5 item 4: a table of Spark's own catalog is read by `conn_id: spark`, with bind parameters."""
    inventory(tmp_path)
    session.read.parquet(str(tmp_path / "products")).createOrReplaceTempView("product")
    text = SITE.replace(
        "{type: parquet, path: products}",
        '{type: sql, conn_id: spark, query: "SELECT * FROM product WHERE slug <> :not", params: {not: nothing}}',
    )
    same(made(tmp_path, "spark", text, publishing=False), made(tmp_path, "local", publishing=False))


def test_what_it_cannot_do_is_said(session: Any, tmp_path: Path) -> None:
    """C-86: a source without the column, a query that is none, a site with clusters or tracking: one sentence each."""
    inventory(tmp_path)
    with pytest.raises(SourceError, match="There is no column 'link'"):
        made(tmp_path, "spark", SITE.replace("loc: url", "loc: link"))
    with pytest.raises(SourceError, match="Spark can't run the query of section 'products'"):
        query = '{type: sql, conn_id: spark, query: "SELECT nothing FROM nowhere"}'
        made(tmp_path, "spark", SITE.replace("{type: parquet, path: products}", query))
    with pytest.raises(UsageError, match="leave alternates out"):
        made(tmp_path, "spark", SITE.replace("    images: image\n", "    alternates: {en: url}\n"))
    with pytest.raises(UsageError, match="leave track out"):
        made(tmp_path, "spark", SITE.replace("    images: image\n", "    track: [title]\n"))


def test_an_executors_own_words_reach_the_user(session: Any) -> None:
    """No traceback of Java or Python where a task fails with an error of this project's own."""

    def full_disk(batches: Any) -> Iterator[Any]:
        raise TargetError("The disk is full: make room.")
        yield

    with pytest.raises(TargetError, match=r"^The disk is full: make room\.$"), told():
        session.range(1).mapInArrow(full_disk, "id long").collect()


MILLION = """\
site: shop
base_url: https://www.example.com/
target: public/
state: state/
work: work/
engine: ENGINE
sections: [{name: all, source: {type: csv, path: INVENTORY}, lastmod: lastmod, changefreq: changefreq}]
"""


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A million rows, and what one process makes of them."""
    if absent():
        missing(absent())
    folder = tmp_path_factory.mktemp("million")
    arguments = ["-n", "1000000", "--seed", "7", "--jobs", "2", "-o", str(folder / "inventory.csv")]
    subprocess.run([sys.executable, shared("bench", "gen_inventory.py"), *arguments], check=True, capture_output=True)
    with building(folder, folder / "inventory.csv", "local", {}) as process:
        assert process.wait(300) == 0, (folder / "build.log").read_text()
    return folder / "inventory.csv", published(folder)


@contextmanager
def building(
    folder: Path, inventory: Path, engine: str, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    (folder / "site.yaml").write_text(MILLION.replace("ENGINE", engine).replace("INVENTORY", str(inventory)))
    command = [sys.executable, "-m", "sitemap_ops", "build", str(folder / "site.yaml")]
    with running(
        command, environment=spark_environment() | environment, folder=ROOT, log=folder / "build.log"
    ) as process:
        yield process


def spark_environment() -> dict[str, str]:
    loopback = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    return dict(os.environ) | loopback


def published(folder: Path) -> dict[str, str]:
    return {path.name: digest(path) for path in (folder / "public").glob("shop-*")}


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A standalone master and two workers of one core each, on loopback: its address, and the workers."""
    import pyspark

    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    environment = spark_environment() | {"SPARK_HOME": str(Path(pyspark.__file__).parent)}
    place = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]

    def started(kind: str, log: Path, *arguments: str) -> Any:
        command = [spark_class, f"org.apache.spark.deploy.{kind}", *place, *arguments]
        return running(command, environment=environment, folder=folder, log=log)

    with ExitStack() as stack:
        stack.enter_context(started("master.Master", folder / "master.log"))
        address = waited_for(lambda: re.search(r"spark://127\.0\.0\.1:[1-9]\d*", text_of(folder / "master.log")))[0]
        logs = [folder / "worker-1.log", folder / "worker-2.log"]
        options = ["-c", "1", "-m", "1g", "-d", str(folder / "executors"), address]
        workers = [stack.enter_context(started("worker.Worker", log, *options)) for log in logs]
        for log in logs:
            waited_for(lambda log=log: "registered with master" in text_of(log))
        yield address, workers


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def waited_for(condition: Any, seconds: float = 240) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
    return value


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("killing", [False, True], ids=["undisturbed", "killed-worker"])
def test_a_million_rows_on_two_workers(million: tuple[Path, dict[str, str]], tmp_path: Path, killing: bool) -> None:
    """Issue 5 item 4: standalone master, two workers, 1 M rows: the names and uncompressed sha256 of one process, and
    the same when a worker is killed once the first shards are there."""
    inventory, expected = million
    with (
        cluster(tmp_path) as (address, workers),
        building(tmp_path, inventory, "spark", {"MASTER": address}) as process,
    ):
        if killing:
            waited_for(lambda: any((tmp_path / "work").rglob("shards/shop-*")) or process.poll() is not None)
            assert process.poll() is None, "it was done before anything could be killed"
            os.killpg(workers[0].pid, signal.SIGKILL)
        assert process.wait(600) == 0, (tmp_path / "build.log").read_text()[-3000:]
    assert published(tmp_path) == expected
