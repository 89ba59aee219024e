"""Files that mean harm, imported: each a clear error or what it really holds, soon, in bounded memory, without a look
at anything else (P-25, P-33, S3-08)."""

from __future__ import annotations

import pytest

from tests.hostile import FILES as FINISHED
from tests.hostile import READ, SECRET, UNFINISHED, Outcome, outcomes
from tests.unit.test_validate_hostile import HANG_SECONDS, MAX_GROWTH_MIB

pytestmark = pytest.mark.slow

FILES = {name: make for name, (make, _) in FINISHED.items()} | UNFINISHED


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What one process makes of each file; it may make no socket."""
    return {one.name: one for one in outcomes("import", FILES.items(), tmp_path_factory.mktemp("hostile"))}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file(name: str, results: dict[str, Outcome]) -> None:
    """Issue 3: within bounds of time and memory; nothing imported, and one short sentence or two, or what there is."""
    seen = results[name]
    assert (seen.urls, bool(seen.told)) == (READ.get(name), READ.get(name) is None)
    assert len(seen.told) < 1_000
    assert "\n" not in seen.told
    assert SECRET not in seen.told
    assert seen.growth < MAX_GROWTH_MIB
    assert seen.seconds < HANG_SECONDS
