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
from tests.services.airflow import Airflow
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

    def tries(self, task_id: str) -> int:
        return max(
            row["try_number"] for row in self.airflow.query("SELECT * FROM task_instance WHERE task_id = ?", task_id)
        )


@pytest.fixture
def shop(airflow: Airflow, s3_service: S3Service, postgres_url: str) -> Shop:
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
        login=s3_service.access_key,
        password=s3_service.secret_key,
        extra={"endpoint_url": s3_service.endpoint_url, "region_name": REGION},
    )
    public, private = s3_service.create_bucket(), s3_service.create_bucket()
    airflow.variables.update(DEMO_PUBLIC=public, DEMO_PRIVATE=private)
    site_file = airflow.add_site("demo-shop", SITE_FILE.read_text(encoding="utf-8"))
    inventory.write_pages(site_file.with_name("pages.csv"), PAGES)
    return Shop(airflow, s3_service, public, private, site_file)


def test_whole_runs_with_and_without_a_logical_date(shop: Shop) -> None:
    """C-99, C-100, C-105: from the sources to S3 by references; without a logical date as with one, to the same keys.

    The second run, of another kind and a later instant, finds nothing to change.
    """
    done = shop.airflow.test_dag(DAG_ID, {"logical_date": False}, {})
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    assert shop.airflow.states(DAG_ID) == [SUCCESS, SUCCESS]
    labels = shop.airflow.query("SELECT rendered_map_index AS label FROM task_instance WHERE task_id = 'extract'")
    assert {row["label"] for row in labels} == {"products", "pages"}

    locs, files = shop.locs(), len(shop.objects(shop.public)) - 1
    assert len(locs) == len(set(locs)) > 0.9 * (PRODUCTS + PAGES)
    assert "https://www.demo-shop.example/bags/blue-red-red-1" in locs

    first, second = shop.events()
    assert first["uri"] == second["uri"] == f"s3://{shop.public}/sitemap.xml"
    assert first["index"] == "https://www.demo-shop.example/sitemap.xml"
    assert (first["rows"], first["entries"]) == (PRODUCTS + PAGES, len(locs))
    assert first["shards"] == {"total": files, "added": files, "changed": 0, "removed": 0, "unchanged": 0}
    assert second["shards"] == {"total": files, "added": 0, "changed": 0, "removed": 0, "unchanged": files}
    assert (first["bytes"]["uploaded"] > 0, second["bytes"]["uploaded"]) == (True, 0)
    report = json.loads(shop.objects(shop.private)[first["report"].removeprefix(f"s3://{shop.private}/")])
    assert report["entries"] == len(locs)

    xcoms = shop.airflow.xcoms()
    assert {x["task_id"] for x in xcoms} == {"prepare", "extract", "assemble", "publish"}
    assert {x["key"] for x in xcoms} == {"return_value"}
    assert max(len(x["text"]) for x in xcoms) < 2_000
    assert not any("demo-shop.example/bags" in x["text"] for x in xcoms)
    assert not any(key.startswith("work/") for key in shop.objects(shop.private))
    assert_no_secret(shop, done.stdout + done.stderr)


def assert_no_secret(shop: Shop, output: str) -> None:
    """Neither password is in a log, in the metadata database or in an object, whichever way it could be written."""
    places = {"output": output.encode()}
    places |= {str(path): path.read_bytes() for path in shop.airflow.home.rglob("*") if path.is_file()}
    places |= {
        f"{bucket}/{key}": body for bucket in (shop.public, shop.private) for key, body in shop.objects(bucket).items()
    }
    assert any("airflow.db" in place for place in places)
    for needle in (b"S3cr3t", b"w0rd", b"UzNjcjN0"):  # both passwords begin alike; as a URL, in JSON, in base64
        assert [place for place, content in places.items() if needle in content] == []


def test_plan_only_writes_nothing_public(shop: Shop) -> None:
    """A run with *Plan only* leaves the target as it is, tells no consumer of the asset, and says where its plan is."""
    done = shop.airflow.test_dag(DAG_ID, {"conf": {"plan_only": True}})
    assert done.returncode == 0, done.stdout[-5000:]
    assert shop.airflow.states(DAG_ID) == [SUCCESS | {"publish": ["skipped"]}]
    assert shop.objects(shop.public) == {}
    assert shop.events() == []
    (facts,) = [x["value"] for x in shop.airflow.xcoms() if x["task_id"] == "publish"]
    plan = json.loads(shop.objects(shop.private)[facts["report"].removeprefix(f"s3://{shop.private}/")])
    assert plan["plan"] is True
    assert plan["shards"]["added"] == facts["shards"]["added"] > 0
    assert f"would be added: {plan['planned'][0]['key']}" in done.stdout


def test_guard_fails_the_task_at_once_and_can_be_passed(shop: Shop) -> None:
    """A guard ends `publish` as failed on its first try, its sentence before any traceback; *force* passes it."""
    shop.site_file.write_text(shop.site_file.read_text() + "guards: {min_urls: 1000000}\n")
    done = shop.airflow.test_dag(DAG_ID, {}, {"conf": {"force": True}})
    stopped = SUCCESS | {"publish": ["failed"], "cleanup": ["upstream_failed"]}
    assert shop.airflow.states(DAG_ID) == [stopped, SUCCESS]
    assert shop.tries("publish") == 1
    assert 0 < done.stdout.index("1,000,000") < done.stdout.index("Task failed with exception")
    (event,) = shop.events()
    assert len(shop.locs()) == event["entries"] > 0


def test_users_mistake_fails_at_once(shop: Shop) -> None:
    """A connection that isn't there fails the section's task on its first try and names the connection."""
    del shop.airflow.variables["AIRFLOW_CONN_DEMO_DB"]
    done = shop.airflow.test_dag(DAG_ID)
    assert done.returncode == 1
    (states,) = shop.airflow.states(DAG_ID)
    assert states["extract"] == ["failed", "success"]
    assert shop.tries("extract") == 1
    assert "There is no Airflow connection 'demo_db'" in done.stdout


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
        (error,) = servers.wait_for("import error", lambda: servers.get("importErrors")["import_errors"], 60)
        assert error["filename"] == "site_file_errors.py"
        assert "broken.yaml line 3" in error["stack_trace"]

        dag = servers.wait_for(
            "DAG", lambda: next((d for d in servers.get("dags")["dags"] if d["dag_id"] == DAG_ID), None), 60
        )
        assert (dag["has_import_errors"], dag["is_stale"]) == (False, False)
        servers.post(f"dags/{DAG_ID}", {"is_paused": False}, method="PATCH")
        run_id = servers.post(f"dags/{DAG_ID}/dagRuns", {"logical_date": None})["dag_run_id"]
        run = f"dags/{DAG_ID}/dagRuns/{run_id}"
        state = servers.wait_for(
            "end of the run", lambda: (s := servers.get(run)["state"]) in ("success", "failed") and s, 180
        )
        assert state == "success", servers.logs()
        assert shop.airflow.states(DAG_ID) == [SUCCESS]
        assert len(shop.locs()) == shop.events()[0]["entries"]

        told = shop.airflow.command("dags", "list-import-errors", "--output", "plain")
        assert "broken.yaml line 3" in told.stdout
    assert_no_secret(shop, "")
