"""Sections and parts of sections read by Celery workers that share nothing but the database and S3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from sitemap_ops.site import load_site
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from tests.killing.kills import differences
from tests.killing.places import PRIVATE, Objects, S3Place
from tests.killing.records import check_records
from tests.services.airflow import copy_dags, states_of
from tests.services.airflow_servers import AirflowServers
from tests.services.celery import Worker, celery_airflow, celery_servers, redis
from tests.services.postgres import new_database
from tests.services.s3 import REGION, S3Service

pytestmark = [pytest.mark.integration, pytest.mark.airflow, pytest.mark.full]

RUN_ID, AS_OF = "manual__celery", datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
PARTS, PART_ROWS, PAGE_ROWS = 3, 1_000, 400
WORKERS = ("first-worker", "second-worker")

PRODUCTS = f"""
CREATE TABLE product AS
    SELECT g AS id, 'p' || g % 2800 AS slug, '2026-01-01'::timestamptz + g * interval '1 hour' AS seen
    FROM generate_series(0, {PARTS * PART_ROWS - 1}) g;
ALTER TABLE product ADD PRIMARY KEY (id);
-- In the middle of each part is a row that waits for the test: STABLE, so that who reads the ids alone does not.
CREATE FUNCTION gate(id int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN
    IF id % {PART_ROWS} = {PART_ROWS // 2} THEN PERFORM pg_advisory_xact_lock_shared(1 + id / {PART_ROWS}); END IF;
    RETURN 1;
END $$;
"""
SITE = f"""\
site: shop
base_url: https://www.example.com/
target: {{target}}
state: {{state}}
work: {{work}}
schedule: null
sections:
  - name: pages
    source: {{{{type: csv, path: pages.csv}}}}
  - name: products
    source:
      type: sql
      conn_id: shop_db
      query: SELECT id, slug, seen, gate(id) AS gate FROM product
      key: id
      page_rows: {PAGE_ROWS}
      split: {PARTS}
    loc: /p/{{{{slug}}}}
    lastmod: seen
"""
DAG_FILE = """\
from datetime import timedelta
from pathlib import Path

from sitemap_ops.airflow.sites import site_dags

soon = timedelta(seconds=1)
globals().update(site_dags(Path(__file__).with_name("sites"), retry_delay=soon, max_retry_delay=soon))
"""


@dataclass(frozen=True)
class Gates:
    """The rows at which reading waits: closed until they are opened, each by its part's number."""

    line: psycopg.Connection[Any]

    def close(self) -> None:
        for part in range(1, PARTS + 1):
            self.line.execute("SELECT pg_advisory_lock(%s)", [part])

    def open(self, part: int) -> None:
        self.line.execute("SELECT pg_advisory_unlock(%s)", [part])

    def waiting(self) -> set[int]:
        """The parts of which a reader waits."""
        found = self.line.execute(
            "SELECT objid FROM pg_locks JOIN pg_database d ON d.oid = database AND datname = current_database()"
            " WHERE locktype = 'advisory' AND NOT granted"
        )
        return {int(part) for (part,) in found.fetchall()}


@dataclass(frozen=True)
class Stack:
    servers: AirflowServers
    workers: dict[str, Worker]
    gates: Gates
    place: S3Place
    undisturbed: Objects

    def tasks(self) -> list[dict[str, Any]]:
        return list(self.servers.get(f"{RUN}/taskInstances")["task_instances"])

    def part(self, number: int) -> dict[str, Any]:
        name = f"products {number}"
        return next(each for each in self.tasks() if each["rendered_map_index"] == name)

    def hosts(self, number: int) -> list[str]:
        """On which workers each try of a part was."""
        of = self.part(number)
        tries = self.servers.get(f"{RUN}/taskInstances/extract/{of['map_index']}/tries")["task_instances"]
        return [each["hostname"] for each in sorted(tries, key=lambda each: each["try_number"])]


RUN = f"dags/sitemaps__shop/dagRuns/{RUN_ID}"


@pytest.fixture
def stack(tmp_path: Path, s3_service: S3Service, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    place = S3Place(s3_service)
    database = new_database(postgres_url)
    dags = copy_dags(tmp_path / "dags")
    (dags / "sitemaps.py").write_text(DAG_FILE)
    site_file = dags / "sites" / "shop.yaml"
    work = place.state.replace(PRIVATE, "work/")
    site_file.write_text(SITE.format(target=place.target, state=place.state, work=work))
    site_file.with_name("pages.csv").write_text(
        "loc\n" + "".join(f"/page/{n}\n/p/p{n}\nftp://x/{n}\n" for n in range(50))
    )
    with psycopg.connect(database, autocommit=True) as line, redis(tmp_path) as broker:
        line.execute(PRODUCTS)
        monkeypatch.setenv("SITEMAP_OPS_CONN_SHOP_DB", database)
        undisturbed = run_undisturbed(site_file, place)
        airflow = celery_airflow(postgres_url, broker, tmp_path / "airflow", dags)
        parts = conninfo_to_dict(database)
        airflow.add_connection(
            "shop_db", conn_type="postgres", host=parts["host"], login=parts["user"], schema=parts["dbname"]
        )
        airflow.add_connection(
            "aws_default", conn_type="aws", login=s3_service.access_key, password=s3_service.secret_key,
            extra={"endpoint_url": s3_service.endpoint_url, "region_name": REGION},
        )  # fmt: skip
        heartbeats = {
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
            "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "2",
        }
        with celery_servers(airflow, WORKERS, **heartbeats) as (servers, workers):
            yield Stack(servers, workers, Gates(line), place, undisturbed)


def run_undisturbed(site_file: Path, place: S3Place) -> Objects:
    """What the same run leaves that reads each section as one, in this process; the place is empty again."""
    site, connections = load_site(site_file), place.connections
    run = prepare(site, run_id=RUN_ID, as_of=AS_OF, connections=connections)
    parts = [extract(site, run, section.name, connections) for section in site.sections]
    publish(site, run, assemble(site, run, parts, connections), connections)
    cleanup(site, run, connections)
    objects = place.objects()
    place.restore({})
    return objects


def test_a_worker_is_lost_while_both_read(stack: Stack) -> None:
    """Issue 5, Build 5, and issue 6: one run's reading is mapped over sections and key ranges and over both workers,
    which have no disk in common; one of them is killed in the middle of a part, the other reads that part again, and
    the release is, byte for byte, that of an undisturbed run that reads the table as one."""
    servers, gates = stack.servers, stack.gates
    gates.close()
    servers.wait_for(
        "DAG", lambda: any(each["dag_id"] == "sitemaps__shop" for each in servers.get("dags")["dags"]), 120
    )
    servers.post("dags/sitemaps__shop", {"is_paused": False}, method="PATCH")
    body = {"dag_run_id": RUN_ID, "logical_date": None, "run_after": AS_OF.isoformat()}
    servers.post("dags/sitemaps__shop/dagRuns", body)

    both = servers.wait_for("reading on both workers", lambda: len(w := gates.waiting()) == 2 and w, 180)
    assert sorted(stack.part(number)["hostname"] for number in both) == sorted(WORKERS)
    for number in both:
        gates.open(number)
    (last,) = set(range(1, PARTS + 1)) - both
    servers.wait_for("reading of the last part", lambda: gates.waiting() == {last}, 180)
    servers.wait_for("end of the others", lambda: all(stack.part(n)["state"] == "success" for n in both), 180)
    lost = stack.part(last)["hostname"]
    (left,) = set(WORKERS) - {lost}
    assert stack.workers[lost].kill() >= 3  # itself, its pool's process, the task's
    gates.open(last)

    state = servers.wait_for("end", lambda: (s := servers.get(RUN)["state"]) in ("success", "failed") and s, 180)
    assert (state, states_of(stack.tasks())) == (
        "success",
        {
            "prepare": ["success"],
            "split": ["success"],
            "extract": ["success"] * (1 + PARTS),
            "assemble": ["success"],
            "publish": ["success"],
            "cleanup": ["success"],
        },
    ), servers.logs()
    assert stack.hosts(last)[-2:] == [lost, left]
    assert {host for number in both for host in stack.hosts(number)} == set(WORKERS)

    found = stack.place.objects()
    live = check_records(found)
    assert (live["epoch"], live["history"]) == (1, [])
    assert differences(stack.undisturbed, found, private_too=True) == []
