"""References between steps, and work in threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import TargetError, UsageError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(f"{tmp_path.as_uri()}/run/", EnvironmentConnections(), None)


def test_reference(workspace: Workspace) -> None:
    """C-99, C-100: a step's result travels as a URI and a digest, whatever its size."""
    value = {"shards": [{"key": f"a-{n}.xml.gz"} for n in range(20_000)]}
    reference = workspace.write_json("assemble.json", value)
    assert len(str(reference)) < 500
    assert workspace.read_json(reference) == value


def test_changed_result(workspace: Workspace) -> None:
    """A reference is refused when what it points at is no longer what it was made for."""
    reference = workspace.write_json("assemble.json", {"entries": 1})
    workspace.write_json("assemble.json", {"entries": 2})
    with pytest.raises(TargetError, match="was changed since this run wrote it"):
        workspace.read_json(reference)


def test_attempts_keep_apart(tmp_path: Path) -> None:
    """An attempt that was given up and goes on changes no file of the one that counts: references find their own."""
    old, new, reader = (
        Workspace(f"{tmp_path.as_uri()}/run/", EnvironmentConnections(), None, name) for name in ("old", "new", "next")
    )
    references = {}
    for workspace, text in ((new, "new"), (old, "old")):
        with workspace.create("a.arrow") as path:
            path.write_text(text)
        references[text] = workspace.write_json("extract.json", {"runs": ["a.arrow"]})
    assert reader.read_json(references["new"]) == {"runs": ["a.arrow"]}
    assert reader.fetch("a.arrow").read_text() == "new"


def test_copies_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """C-17: kill -9 leaves copies behind; the next process removes them, and those of nobody who lives."""
    make = (
        "from sitemap_ops.copies import LocalCopies; c = LocalCopies();"
        " (c.folder / 'a').touch(); print(c.folder, flush=True)"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    def started(then: str) -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", f"{make}; {then}"], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout
        return process, Path(process.stdout.readline().strip())

    killed, left = started("import os; os.kill(os.getpid(), 9)")
    killed.communicate()
    assert (left / "a").exists()
    living, kept = started("input()")
    assert not left.exists()
    last, closed = started("c.close()")
    last.communicate()
    assert (kept / "a").exists()
    assert not closed.exists()
    living.kill()
    living.communicate()


def test_missing_file(workspace: Workspace) -> None:
    """A step whose input is gone says what to do, not which exception it met."""
    with pytest.raises(TargetError, match=r"another attempt of it has ended well.* run from the first step again"):
        workspace.fetch("products-000000.parquet")


def test_a_file_is_whole_or_not_there(workspace: Workspace) -> None:
    """A write that fails leaves neither the file nor a temporary one."""
    with pytest.raises(RuntimeError), workspace.create("a.parquet") as path:
        path.write_bytes(b"half")
        raise RuntimeError
    folder = path.parent
    assert list(folder.iterdir()) == []


def test_names_stay_inside(workspace: Workspace) -> None:
    """A file's name can't leave the run's folder."""
    with pytest.raises(UsageError), workspace.create("../a"):
        pass


def test_ordered_map_keeps_order_and_bounds() -> None:
    """Results come in the items' order; no more than workers + 1 items are taken ahead."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for n in range(50):
            taken.append(n)
            yield n

    results = ordered_map(lambda n: n * n, items(), workers=3)
    for position, result in enumerate(results):
        assert result == position * position
        assert len(taken) <= position + 1 + 4


def test_ordered_map_raises() -> None:
    """The first failure reaches the consumer, and no thread is left behind."""
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda n: 1 // n, [3, 2, 0, 1], workers=2))
    assert threading.active_count() == before
