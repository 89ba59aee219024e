"""kill -9 just before and just after what a publisher does, everywhere (issue 4, DESIGN 7).

The publisher is the real step, in a process of its own; a reader looks at the live site as long as it lives, and once
more when it is dead. Then the next run comes: the same one again, as Airflow retries, or a new one with the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.killing.kills import Scene
from tests.killing.places import FolderPlace, Place, S3Place
from tests.killing.reader import Expected
from tests.killing.scenes import beginning, pruning, publishing, rolling_back
from tests.killing.shop import small_files

pytestmark = pytest.mark.integration
__all__ = ["small_files"]

Count = Callable[[str, int], None]
SURVIVED = "kills of a publisher that the site survived"
NAMES = ["stable", "immutable"]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """By the name of an S3 service, or a folder."""
    if request.param == "folder":
        return FolderPlace(tmp_path / "place")
    return S3Place(request.getfixturevalue(f"{request.param}_service"))


def at(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("place", names, indirect=True)


@at("s3")
def test_at_every_request_of_a_release_of_seven_files(place: Place, tmp_path: Path, counted: Count) -> None:
    """C-17, C-18, issue 4: at every moment each listed file is there, unpacks and is valid, and no URL that stays in
    its section is unlisted; the next run completes, and the files are those of an undisturbed run, byte for byte."""
    scene = publishing(place, tmp_path)
    kills = scene.kill_everywhere()
    assert kills >= 100
    assert scene.reader.whole > 2 * kills
    counted(SURVIVED, kills)


@at("folder")
@pytest.mark.parametrize("names", NAMES)
def test_in_a_folder(place: Place, names: str, tmp_path: Path, counted: Count) -> None:
    """The same where files are made, synced and renamed; with immutable names the site is exactly one release."""
    counted(SURVIVED, publishing(place, tmp_path, names).kill_at_some(30))


def test_the_reader_would_see_it(tmp_path: Path) -> None:
    """A listed file that is broken or missing, a URL that stays and is not listed, and mixed releases: each is seen."""
    public = tmp_path / "place" / "public"
    reader = publishing(FolderPlace(tmp_path / "place"), tmp_path, "immutable").reader
    name = next(name for name in reader.site() if "-products-" in name)
    body = (public / name).read_bytes()
    (public / name).write_bytes(body[:-9])
    with pytest.raises(EOFError):
        reader.look()
    (public / name).unlink()
    with pytest.raises(AssertionError, match=f"lists {name}, which is not there"):
        reader.look()
    (public / name).write_bytes(body)
    assert reader.look()
    index = public / "sitemap.xml"
    index.write_text(re.sub(f"<sitemap><loc>[^<]*{name}</loc>.*?</sitemap>", "", index.read_text()))
    with pytest.raises(AssertionError, match="URLs that stay are not listed"):
        reader.look()
    reader.expected = Expected(exactly=reader.expected.exactly)
    with pytest.raises(AssertionError, match="releases are mixed"):
        reader.look()


SOME = {1: 20, 7: 32, 50: 12}
"""How many kills of a release of so many files, in each naming mode, at each place."""


@pytest.mark.full
@pytest.mark.timeout(1800)
@at("s3", "ministack", "folder")
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("files", [1, 7, 50])
def test_releases_of_all_sizes_everywhere(place: Place, names: str, files: int, tmp_path: Path, counted: Count) -> None:
    """Issue 4: kills over releases of 1, 7 and 50 files, in both naming modes, on all targets: over 500 in all."""
    counted(SURVIVED, publishing(place, tmp_path, names, files).kill_at_some(SOME[files]))


@pytest.mark.full
@pytest.mark.timeout(1800)
@at("s3", "ministack", "folder")
def test_a_first_release(place: Place, tmp_path: Path, counted: Count) -> None:
    """Before the first commit there is no site, and then a whole one; also killed while the stores are probed."""
    counted(SURVIVED, beginning(place, tmp_path).kill_at_some(20))


@pytest.mark.full
@pytest.mark.timeout(1800)
@at("s3", "ministack", "folder")
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("what", [rolling_back, pruning])
def test_a_rollback_and_a_release_that_prunes(
    place: Place, names: str, what: Callable[..., Scene], tmp_path: Path, counted: Count
) -> None:
    """The same for a rollback, whose next attempt is a run of its own, and while old files and records are removed."""
    counted(SURVIVED, what(place, tmp_path, names).kill_at_some(15))
