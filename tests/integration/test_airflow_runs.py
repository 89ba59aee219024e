"""The real DAG run by Airflow, from a real PostgreSQL and a CSV file to a real S3; each run in a process of its own."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.demo import inventory
from tests.demo.job import DAG_ID, SITE_FILE
from tests.services.airflow import Airflow, TestedRuns, new_airflow, states_of
from tests.services.airflow_servers import airflow_servers
from tests.services.postgres import new_database
from tests.services.s3 import REGION, S3Service

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PASSWORD = "S3cr3t/p@ss w0rd"
PRODUCTS, PAGES = 1_000, 200

SUCCESS = {
    "prepare": ["success"],
    "extract": ["success", "success"],
    "assemble": ["success"],
    "publish": ["success"],
    "cleanup": ["success"],
}


@dataclass(frozen=True)
class Shop:
    """The demo's site, small, on buckets of its own."""

    airflow: Airflow
    s3: S3Service
    public: str
    private: str
    site_file: Path

    def objects(self, bucket: str) -> dict[str, bytes]:
        store = self.s3.store(bucket)
        return {stored.key: store.get(stored.key)[0] for stored in store.list()}

    def locs(self) -> list[str]:
        """All URLs that the index leads to."""
        objects = self.objects(self.public)
        files = re.findall(rb"<loc>https://www.demo-shop.example/([^<]+)</loc>", objects["sitemap.xml"])
        texts = [gzip.decompress(objects[name.decode()]).decode() for name in files]
        return [loc for text in texts for loc in re.findall("<loc>([^<]+)</loc>", text)]

    def events(self) -> list[dict[str, Any]]:
        rows = self.airflow.query(
            "SELECT uri, asset_event.extra FROM asset_event JOIN asset ON asset.id = asset_id ORDER BY asset_event.id"
        )
        return [{"uri": row["uri"], **json.loads(row["extra"])} for row in rows]

    def private_json(self, uri: str) -> Any:
        return json.loads(self.s3.store(self.private).get(uri.removeprefix(f"s3://{self.private}/"))[0])


def new_shop(airflow: Airflow, s3: S3Service, postgres_url: str) -> Shop:
    database = new_database(postgres_url)
    inventory.load_products(database, PRODUCTS)
    parts = conninfo_to_dict(database)
    airflow.add_connection(
        "demo_db",
        conn_type="postgres",
        host=parts["host"],
        login=parts["user"],
        password=PASSWORD,
        schema=parts["dbname"],
    )
    airflow.add_connection(
        "demo_s3",
        conn_type="aws",
        login=s3.access_key,
        password=s3.secret_key,
        extra={"endpoint_url": s3.endpoint_url, "region_name": REGION},
    )
    public, private = s3.create_bucket(), s3.create_bucket()
    airflow.variables.update(DEMO_PUBLIC=public, DEMO_PRIVATE=private)
    site_file = airflow.add_site("demo-shop", SITE_FILE.read_text(encoding="utf-8"))
    inventory.write_pages(site_file.with_name("pages.csv"), PAGES)
    return Shop(airflow, s3, public, private, site_file)


@pytest.fixture
def shop(airflow: Airflow, s3_service: S3Service, postgres_url: str) -> Shop:
    return new_shop(airflow, s3_service, postgres_url)


@dataclass(frozen=True)
class Runs:
    """A shop after three runs: a plan, a run without a logical date, a run with one."""

    shop: Shop
    tested: TestedRuns


@pytest.fixture(scope="module")
def runs(
    airflow_database: Path, tmp_path_factory: pytest.TempPathFactory, s3_service: S3Service, postgres_url: str
) -> Runs:
    shop = new_shop(new_airflow(airflow_database, tmp_path_factory.mktemp("runs")), s3_service, postgres_url)
    tested = shop.airflow.test_dag(DAG_ID, {"conf": {"plan_only": True}}, {"logical_date": False}, {})
    assert tested.returncode == 0, tested.output[-6000:]
    return Runs(shop, tested)


def test_runs_of_every_kind_end_well(runs: Runs) -> None:
    """C-105: with a logical date or without, or as a plan, a run ends in success; its sections go by their names."""
    assert runs.tested.states() == [SUCCESS | {"publish": ["skipped"]}, SUCCESS, SUCCESS]
    for tasks in runs.tested.tasks:
        labels = [task["rendered_map_index"] for task in tasks if task["task_id"] == "extract"]
        assert sorted(labels) == ["pages", "products"]


def test_what_is_published_is_the_inventory(runs: Runs) -> None:
    """From PostgreSQL and CSV to S3: the index leads to every URL once."""
    locs = runs.shop.locs()
    assert len(locs) == len(set(locs)) > 0.9 * (PRODUCTS + PAGES)
    assert "https://www.demo-shop.example/bags/blue-red-red-1" in locs


def test_asset_tells_its_consumers_what_was_published(runs: Runs) -> None:
    """C-105: the asset of the index carries the counts; a plan is no event; a run of another kind changes no key."""
    shop = runs.shop
    files = len(shop.objects(shop.public)) - 1
    first, second = shop.events()
    assert first["uri"] == second["uri"] == f"s3://{shop.public}/sitemap.xml"
    assert first["index"] == "https://www.demo-shop.example/sitemap.xml"
    assert (first["rows"], first["entries"]) == (PRODUCTS + PAGES, len(shop.locs()))
    # All were new in the first: the plan before it had left nothing public.
    assert first["shards"] == {"total": files, "added": files, "changed": 0, "removed": 0, "unchanged": 0}
    assert second["shards"] == {"total": files, "added": 0, "changed": 0, "removed": 0, "unchanged": files}
    assert (first["bytes"]["uploaded"] > 0, second["bytes"]["uploaded"]) == (True, 0)
    assert shop.private_json(first["report"])["entries"] == first["entries"]


def test_plan_says_what_would_change(runs: Runs) -> None:
    """A plan's report and log name what would be published."""
    facts = next(x["value"] for x in runs.shop.airflow.xcoms() if x["task_id"] == "publish")
    plan = runs.shop.private_json(facts["report"])
    assert plan["outcome"] == "planned"
    assert plan["shards"]["added"] == facts["shards"]["added"] > 0
    assert f"would be added: {plan['planned'][0]['key']}" in runs.tested.output


def test_tasks_pass_references_only(runs: Runs) -> None:
    """C-99, C-100: an XCom is a small object of places, digests and counts, never rows; staged files are removed."""
    xcoms = runs.shop.airflow.xcoms()
    assert {x["task_id"] for x in xcoms} == {"prepare", "extract", "assemble", "publish"}
    assert {x["key"] for x in xcoms} == {"return_value"}
    assert max(len(x["text"]) for x in xcoms) < 2_000
    assert not any("demo-shop.example/bags" in x["text"] for x in xcoms)
    assert not any(key.startswith("work/") for key in runs.shop.objects(runs.shop.private))


def test_no_secret_is_left_anywhere(runs: Runs) -> None:
    """Neither password is in the output, a log, the metadata database or an object, in whatever form."""
    assert_no_secret(runs.shop, runs.tested.output)


def assert_no_secret(shop: Shop, output: str) -> None:
    places = {"output": output.encode()}
    places |= {str(path): path.read_bytes() for path in shop.airflow.home.rglob("*") if path.is_file()}
    for bucket in (shop.public, shop.private):
        places |= {f"{bucket}/{key}": body for key, body in shop.objects(bucket).items()}
    assert any("airflow.db" in place for place in places)
    for needle in (b"S3cr3t", b"w0rd", b"UzNjcjN0"):  # both passwords; also as a URL, in JSON, in base64
        assert [place for place, content in places.items() if needle in content] == []


def test_guard_fails_the_task_at_once_and_can_be_passed(shop: Shop) -> None:
    """A guard ends `publish` as failed on its first try, its sentence before any traceback; *force* passes it."""
    shop.site_file.write_text(shop.site_file.read_text() + "guards: {min_urls: 1000000}\n")
    tested = shop.airflow.test_dag(DAG_ID, {}, {"conf": {"force": True}})
    stopped = SUCCESS | {"publish": ["failed"], "cleanup": ["upstream_failed"]}
    assert tested.states() == [stopped, SUCCESS]
    assert tries(tested, "publish") == {1}
    assert 0 < tested.output.index("1,000,000") < tested.output.index("Task failed with exception")
    (event,) = shop.events()
    assert len(shop.locs()) == event["entries"] > 0
    assert event["shards"]["added"] == event["shards"]["total"]  # the stopped run had left nothing public


def test_users_mistake_fails_at_once(shop: Shop) -> None:
    """A connection that isn't there fails the section's task on its first try and names the connection."""
    del shop.airflow.variables["AIRFLOW_CONN_DEMO_DB"]
    tested = shop.airflow.test_dag(DAG_ID)
    assert [states["extract"] for states in tested.states()] == [["failed", "success"]]
    assert tries(tested, "extract") == {1}
    assert "There is no Airflow connection 'demo_db'" in tested.output


def tries(tested: TestedRuns, task_id: str) -> set[int]:
    return {task["try_number"] for tasks in tested.tasks for task in tasks if task["task_id"] == task_id}


BROKEN = """\
site: broken
base_url: https://www.example.com/
taget: s3://bucket/
"""


def test_scheduler_runs_what_the_rest_api_triggers(shop: Shop) -> None:
    """Under a real API server, scheduler and DAG processor a run that the REST API asks for publishes to S3.

    A broken site file beside it is an import error with file and line, and takes no other DAG out of service.
    """
    shop.airflow.add_site("broken", BROKEN)
    with airflow_servers(shop.airflow) as servers:
        (error,) = servers.wait_for("import error", lambda: servers.get("importErrors")["import_errors"], 120)
        assert error["filename"] == "site_file_errors.py"
        assert "broken.yaml line 3" in error["stack_trace"]

        dag = servers.wait_for(
            "DAG", lambda: next((d for d in servers.get("dags")["dags"] if d["dag_id"] == DAG_ID), None), 120
        )
        assert (dag["has_import_errors"], dag["is_stale"]) == (False, False)
        servers.post(f"dags/{DAG_ID}", {"is_paused": False}, method="PATCH")
        run_id = servers.post(f"dags/{DAG_ID}/dagRuns", {"logical_date": None})["dag_run_id"]
        run = f"dags/{DAG_ID}/dagRuns/{run_id}"
        state = servers.wait_for(
            "end of the run", lambda: (s := servers.get(run)["state"]) in ("success", "failed") and s, 240
        )
        assert state == "success", servers.logs()
        assert states_of(servers.get(f"{run}/taskInstances")["task_instances"]) == SUCCESS
        assert len(shop.locs()) == shop.events()[0]["entries"]

        told = shop.airflow.command("dags", "list-import-errors", "--output", "plain")
        assert "broken.yaml line 3" in told.stdout
    assert_no_secret(shop, "")
