"""Tasks that die and are tried again by a real scheduler, and attempts that were given up and still live (issue 4).

Whatever is done to the tasks of a run, it ends in success, and target and state hold, byte for byte, what an
undisturbed run of the same id and instant leaves there.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.site import Site, load_site
from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish
from tests.killing.kills import differences
from tests.killing.places import PRIVATE, PUBLIC, Objects, S3Place
from tests.killing.records import check_records
from tests.killing.shop import BASE, MAX_URLS, SECTIONS, SITE, Inventory, inventories, small_files
from tests.services.airflow import new_airflow, states_of
from tests.services.airflow_servers import AirflowServers, airflow_servers
from tests.services.moments import Trap, Traps, parent_of, state_of
from tests.services.s3 import REGION, S3Service

pytestmark = [pytest.mark.integration, pytest.mark.airflow, pytest.mark.full]
__all__ = ["small_files"]

DAG_FILE = """\
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from airflow.sdk import get_parsing_context

from sitemap_ops.airflow.sites import site_dags
from sitemap_ops.engines.profiles import PROFILES

core = PROFILES["core"]
PROFILES["core"] = replace(core, limits=replace(core.limits, max_urls={max_urls}))
if get_parsing_context().task_id:
    from tests.services.moments import watch

    watch(Path({traps!r}))
soon = timedelta(seconds=1)
globals().update(site_dags(Path(__file__).with_name("sites"), retry_delay=soon, max_retry_delay=soon))
"""

SECOND, THIRD = "second", "third"
END_SECONDS = 600.0
"""Of a busy machine; a run with eleven kills takes a minute."""

SUCCESS = {
    "prepare": ["success"],
    "extract": ["success"] * len(SECTIONS),
    "assemble": ["success"],
    "publish": ["success"],
    "cleanup": ["success"],
}


@dataclass(frozen=True)
class Played:
    """A site with a release, in a bucket of its own, and what it is to be after one and after two more runs."""

    name: str
    servers: AirflowServers
    traps: Traps
    place: S3Place
    instant: datetime
    inventories: tuple[Inventory, Inventory]
    wanted: dict[str, Objects]

    @property
    def site(self) -> Site:
        return load_site(self._file)

    @property
    def _file(self) -> Path:
        return self.servers.airflow.dags / "sites" / f"{self.name}.yaml"

    @property
    def _dag(self) -> str:
        return f"dags/{self.site.dag_id}"

    @classmethod
    def new(cls, name: str, servers: AirflowServers, traps: Traps, s3: S3Service) -> Played:
        place = S3Place(s3)
        instant = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
        played = cls(name, servers, traps, place, instant, inventories(7), {})
        sections = "\n".join(
            f"  - {{name: {each}, source: {{type: csv, path: {name}-{each}.csv}}, loc: url, lastmod: changed}}"
            for each in SECTIONS
        )
        text = SITE.format(
            base=BASE, target=place.target, state=place.state, names="stable",
            work=place.state.replace(PRIVATE, "work/"), sections=sections,
        ).replace("site: shop", f"site: {name}")  # fmt: skip
        played.fill(0)
        played._file.write_text(text)
        played._undisturbed("first")
        base = place.objects()
        for number, run_id in enumerate((SECOND, THIRD), start=1):
            played.fill(number)
            played._undisturbed(run_id)
            played.wanted[run_id] = place.objects()
        place.restore(base)
        played.fill(1)
        return played

    def fill(self, number: int, sections: Collection[str] = SECTIONS) -> None:
        """The inventory of a run: of the third run that of the first again, so that its files come back."""
        inventory = self.inventories[number % 2]
        for name in sections:
            rows = [f"{path},{changed}" for path, changed in inventory.get(name, {}).items()]
            self._file.with_name(f"{self.name}-{name}.csv").write_text("\n".join(["url,changed", *rows]) + "\n")

    def as_of(self, run_id: str) -> datetime:
        return self.instant + timedelta(days=["first", SECOND, THIRD].index(run_id))

    def _undisturbed(self, run_id: str) -> None:
        site, connections = self.site, self.place.connections
        run = prepare(site, run_id=run_id, as_of=self.as_of(run_id), connections=connections)
        parts = [extract(site, run, name, connections) for name in SECTIONS]
        publish(site, run, assemble(site, run, parts, connections), connections)
        cleanup(site, run, connections)

    def trap(self, task: str, moment: str, act: str) -> Path:
        return self.traps.lay(Trap(self.name, task, moment, act))

    def begin(self, run_id: str) -> None:
        self.servers.wait_for("DAG", self._is_there, 120)
        self.servers.post(self._dag, {"is_paused": False}, method="PATCH")
        body = {"dag_run_id": run_id, "logical_date": None, "run_after": self.as_of(run_id).isoformat()}
        self.servers.post(f"{self._dag}/dagRuns", body)

    def _is_there(self) -> bool:
        return any(f"dags/{each['dag_id']}" == self._dag for each in self.servers.get("dags")["dags"])

    def end(self, run_id: str) -> dict[str, Any]:
        """Wait for a run's end, in success; gives the last try of each task, by task and section."""
        run = f"{self._dag}/dagRuns/{run_id}"

        def ended() -> str | None:
            state: str = self.servers.get(run)["state"]
            return None if state in ("queued", "running") else state

        state = self.servers.wait_for(f"end of {self.name}", ended, END_SECONDS)
        tasks = self.servers.get(f"{run}/taskInstances")["task_instances"]
        assert (state, states_of(tasks)) == ("success", SUCCESS), f"{self.told(run_id)}\n{self.servers.logs()}"
        return {" ".join(filter(None, (t["task_id"], t["rendered_map_index"]))): t["try_number"] for t in tasks}

    def into(self, trap: Path) -> int:
        return self.servers.wait_for(f"task in the trap {trap.name}", lambda: self.traps.sprung(trap), END_SECONDS)

    def lost(self, trap: Path) -> int:
        """The process asleep in a trap, which Airflow takes for dead from now on: no heartbeat has come for hours.

        That much of it is played: by its own clock the scheduler would not notice before five minutes have passed.
        """
        pid = self.into(trap)
        changed = self.servers.airflow.change(
            "UPDATE task_instance SET last_heartbeat_at = datetime('now', '-5 hours')"
            " WHERE dag_id = ? AND state = 'running' AND pid = ?",
            self.site.dag_id,
            pid,
        )
        assert changed == 1
        return pid

    def told(self, run_id: str, task: str = "*", attempt: str = "*") -> str:
        """What the logs of a task say."""
        pattern = f"dag_id={self.site.dag_id}/run_id={run_id}/task_id={task}/**/attempt={attempt}.log"
        logs = sorted((self.servers.airflow.home / "logs").glob(pattern))
        return "\n".join(f"== {log.relative_to(log.parents[1])}\n{log.read_text()}" for log in logs)

    def check(self, run_id: str) -> None:
        """All is as the undisturbed run left it, but for what reports say of their making."""
        found = self.place.objects()
        check_records(found)
        assert not differences(self.wanted[run_id], found, private_too=True)

    def replaced(self) -> list[str]:
        """The names of the files that the second run changes."""
        was = self.place.objects()
        return [
            name.removeprefix(PUBLIC)
            for name, each in self.wanted[SECOND].items()
            if name.startswith(f"{PUBLIC}{self.name}-") and name in was and was[name] != each
        ]

    def wake(self, pid: int, until: str) -> list[str]:
        """Let a task's process go on until it reaches a moment; gives that."""
        os.kill(pid, signal.SIGCONT)

        def reached() -> list[str]:
            return [m.moment for m in self.traps.journal(self.name) if m.pid == pid and m.moment.startswith(until)]

        return self.servers.wait_for(until, reached, 60)

    def wake_supervisor(self, pid: int) -> None:
        """Let a task's supervisor go on, and wait until it has put an end to the task's process."""
        supervisor = parent_of(pid)
        assert supervisor
        os.kill(supervisor, signal.SIGCONT)
        self.servers.wait_for("end of the attempt", lambda: state_of(pid) is None, 60)


@dataclass(frozen=True)
class Stack:
    servers: AirflowServers
    traps: Traps
    s3: S3Service
    temporary: Path

    def new(self, name: str) -> Played:
        return Played.new(name, self.servers, self.traps, self.s3)


@pytest.fixture(scope="module")
def stack(airflow_database: Path, tmp_path_factory: pytest.TempPathFactory, s3_service: S3Service) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("retries")
    airflow = new_airflow(airflow_database, folder)
    traps = Traps.new(folder / "traps")
    (airflow.dags / "sitemaps.py").write_text(DAG_FILE.format(max_urls=MAX_URLS, traps=str(traps.folder)))
    airflow.add_connection(
        "aws_default", conn_type="aws", login=s3_service.access_key, password=s3_service.secret_key,
        extra={"endpoint_url": s3_service.endpoint_url, "region_name": REGION},
    )  # fmt: skip
    temporary = folder / "tmp"
    temporary.mkdir()
    settings = {
        "TMPDIR": str(temporary),
        "AIRFLOW__CORE__PARALLELISM": "6",  # sleeping supervisors are of them
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",  # of a busy machine no task shall be tried again
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "2",
    }
    with airflow_servers(airflow, **settings) as servers:
        try:
            yield Stack(servers, traps, s3_service, temporary)
        finally:
            traps.kill_sleepers()


KILLS = {
    "prepare": ["after get .*/current.json", "told prepare"],
    "extract products": ["after upload .*products-000000", "told extract"],
    "assemble": ["after upload .*/shards/", "after assemble"],
    "publish": ["before put .*/current.json", "after put .*/public/sitemap.xml", "told publish"],
    "cleanup": ["before delete", "after cleanup"],
}
"""In the middle of each task, and when its work is done; of `publish` on either side of the commit, too."""


def test_each_task_is_killed_and_tried_again(stack: Stack) -> None:
    """C-17, C-19: whichever task dies, in the middle or when its work is done, another attempt takes it up from there.

    What had ended well is not done again, and no file that was put is put again.
    """
    shop = stack.new("killed")
    for task, moments in KILLS.items():
        for moment in moments:
            shop.trap(task, moment, "kill")
    shop.begin(SECOND)
    tries = shop.end(SECOND)
    assert {task: number - 1 for task, number in tries.items() if number > 1} == {
        task: len(moments) for task, moments in KILLS.items()
    }
    shop.check(SECOND)
    puts = Counter(each.moment for each in shop.traps.journal(shop.name) if each.moment.startswith("after put"))
    again = {moment for moment, times in puts.items() if times > 1 and "/public/" in moment}
    assert all(moment.endswith("/public/sitemap.xml") for moment in again)  # once with old and new files, then final
    assert sum("/current.json" in moment for moment in puts.elements()) == 1


def test_early_steps_that_were_given_up_and_go_on(stack: Stack) -> None:
    """An attempt to extract or to assemble that outlives its successor, and has read what has changed since, changes
    nothing of what the successor has made."""
    shop = stack.new("early")
    extracting = shop.trap("extract products", "before upload .*products-000000", "sleep")
    extracted = shop.trap("assemble", "begin assemble", "wait")
    assembling = shop.trap("assemble", "before upload .*/assemble.json", "sleep")
    assembled = shop.trap("publish", "begin publish", "wait")
    shop.fill(0, ["products"])  # the other section is read once, before or after what follows
    shop.begin(SECOND)
    asleep = shop.lost(extracting)
    shop.fill(1)
    shop.into(extracted)
    shop.wake(asleep, "after extract products")
    shop.traps.release(extracted)
    asleep_too = shop.lost(assembling)
    shop.into(assembled)
    shop.wake(asleep_too, "after assemble")
    shop.traps.release(assembled)
    tries = shop.end(SECOND)
    assert {task: number for task, number in tries.items() if number > 1} == {"extract products": 2, "assemble": 2}
    for stale, task in ((asleep, "extract"), (asleep_too, "assemble")):
        shop.wake_supervisor(stale)
        assert "Server indicated the task shouldn't be running anymore" in shop.told(SECOND, task, "1")
    shop.check(SECOND)
    assert shop.end(SECOND) == tries


def test_publish_that_was_given_up_before_its_commit(stack: Stack) -> None:
    """A publish that goes on when its successor has made the release public and cleaned up changes nothing, and says
    that another attempt has ended well."""
    shop = stack.new("before")
    trap = shop.trap("publish", "before put .*/current.json", "sleep")
    shop.begin(SECOND)
    asleep = shop.lost(trap)
    tries = shop.end(SECOND)
    assert {task: number for task, number in tries.items() if number > 1} == {"publish": 2}
    shop.check(SECOND)
    (told,) = shop.wake(asleep, "raised publish")
    assert "the run's files have been removed, as they are when another attempt of it has ended well" in told
    shop.check(SECOND)
    shop.wake_supervisor(asleep)
    log = shop.told(SECOND, "publish", "1")
    assert told.partition(": ")[2] in log
    assert "Server indicated the task shouldn't be running anymore" in log
    assert shop.end(SECOND) == tries


def test_publish_that_was_given_up_after_its_commit(stack: Stack) -> None:
    """A publish that stopped between its look at the fence and a put, and goes on when a newer release has brought the
    old files back, so that the put's own condition holds: it puts the newer release's file there again, and says so."""
    shop = stack.new("after")
    (replaced, *_) = shop.replaced()
    trap = shop.trap("publish", f"before put .*/public/{replaced}", "orphan")
    shop.begin(SECOND)
    asleep = shop.lost(trap)
    tries = shop.end(SECOND)
    assert {task: number for task, number in tries.items() if number > 1} == {"publish": 2}
    shop.check(SECOND)
    shop.fill(2)
    shop.begin(THIRD)
    shop.end(THIRD)
    shop.check(THIRD)
    (told,) = shop.wake(asleep, "raised publish")
    assert re.search(r"ConflictError: Release \S+ of after was given up: release \S+ \(epoch 3\) is live since", told)
    shop.check(THIRD)
    shop.servers.wait_for("end of the orphan", lambda: state_of(asleep) is None, 60)


def test_nothing_temporary_is_left(stack: Stack) -> None:
    """C-17: of all these killed processes no local copy is left."""
    assert not stack.traps.unsprung()
    assert not list(stack.temporary.iterdir())
