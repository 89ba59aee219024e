"""Publishing on a line, and to a store, where anything can go wrong (issue 4): a proxy before a real S3 API.

Faults come at random by a seed: 500, 503, 403, 409, answers that get lost, resets in a body, stalls until a time-out,
slow bytes, bits that flip on the way there (so that the checksum is wrong) or back, bodies that are cut short.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from botocore.retries.standard import ExponentialBackoff

from sitemap_ops.connections import Connections
from tests.killing.kills import Scene, differences
from tests.killing.places import S3Place
from tests.killing.records import check_records
from tests.killing.scenes import beginning, pruning, publishing, rolling_back
from tests.killing.shop import small_files
from tests.services.faults import FaultProxy, faulty
from tests.services.s3 import S3Service

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]
__all__ = ["small_files"]

ATTEMPTS = 3
"""How often a run is tried before the faults end, as a scheduler would."""

SCENES: dict[str, Callable[[S3Place, Path], Scene]] = {
    "release": publishing,
    "release with immutable names": lambda place, folder: publishing(place, folder, "immutable"),
    "first release": beginning,
    "rollback": rolling_back,
    "release that prunes": pruning,
}


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """No try of a request waits for the next."""
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda self, context: 0.0)
    monkeypatch.setattr("sitemap_ops.storage.s3._pause", lambda attempt: None)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("what", SCENES)
def test_runs_on_a_bad_line(
    s3_service: S3Service, what: str, tmp_path: Path, counted: Callable[[str, int], None]
) -> None:
    """Four runs of each kind: none leaves a bad live site, and one that says it went well has gone well."""
    tell(counted, play(s3_service, what, tmp_path, range(4)))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("service", ["s3", "ministack"])
@pytest.mark.parametrize("what", SCENES)
def test_many_runs_on_a_bad_line(
    service: str, what: str, tmp_path: Path, counted: Callable[[str, int], None], request: pytest.FixtureRequest
) -> None:
    """Issue 4: the same with other seeds, 200 times in all, before two servers."""
    tell(counted, play(request.getfixturevalue(f"{service}_service"), what, tmp_path, range(100, 120)))


def play(service: S3Service, what: str, folder: Path, seeds: range) -> Counter[str]:
    told: Counter[str] = Counter()
    with faulty(service) as proxy:
        place = S3Place(service, endpoint_url=proxy.endpoint_url)
        scene = SCENES[what](place, folder)
        hurried = in_a_hurry(place)
        for seed in seeds:
            told.update(run(scene, hurried, proxy, seed))
    assert told["runs"] == len(seeds)
    assert told["faults"] > 2 * len(seeds)
    assert told["attempts that went well"]
    return told


def in_a_hurry(place: S3Place) -> Connections:
    """Three tries for a request; a stall is noticed after 0.4 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITEMAP_OPS_S3_ATTEMPTS", "3")
        patch.setenv("SITEMAP_OPS_S3_READ_TIMEOUT", "0.4")
        return place.connections


def run(scene: Scene, hurried: Connections, proxy: FaultProxy, seed: int) -> Counter[str]:
    """One run: attempts while requests go wrong, and a last one when they do not, which has time."""
    place, reader, (_, wanted) = scene.place, scene.reader, scene.undisturbed
    place.restore(scene.base)
    told = Counter(runs=1)
    share = random.Random(seed).uniform(0.02, 0.25)
    for attempt in range(ATTEMPTS):
        proxy.log.clear()
        proxy.at_random(1_000 * seed + attempt, share)
        ended = scene.once(scene.work, connections=hurried)
        proxy.at_random(0, 0)
        told["faults"] += sum(kind is not None for _, _, kind in proxy.log)
        told["attempts"] += 1
        reader.site()
        if ended.well:
            told["attempts that went well"] += 1
            wrong = differences(wanted, place.objects(), private_too=False)
            assert not wrong, f"seed {seed}, attempt {attempt} went well, they say: {wrong}"
            break
        assert ended.error, f"seed {seed}"
        assert ended.error.startswith(("TargetError: ", "OutputError: ")), f"seed {seed}: {ended.error}"
        assert ended.error.endswith("."), ended.error
    ended = scene.once(scene.work)
    assert ended.well, f"seed {seed}: without a fault it ended so: {ended}"
    reader.site()
    found = place.objects()
    check_records(found)
    wrong = differences(wanted, found, private_too=False)
    assert not wrong, f"seed {seed}: after a run without a fault: {wrong}"
    return told


def tell(counted: Callable[[str, int], None], told: Counter[str]) -> None:
    for what, number in told.items():
        counted(f"on a bad line, {what}", number)
