"""The embedded S3 servers that tests and the demo start: on loopback only, and gone when their parent is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from sitemap_ops.storage import Headers
from tests.services.s3 import S3Service, ministack, moto, nanio, seaweedfs
from tests.services.shared import ROOT

pytestmark = pytest.mark.integration

_PARENT = """
import sys, time
from pathlib import Path
from tests.services.s3 import seaweedfs
with seaweedfs(Path(sys.argv[1])) as service:
    print(service.endpoint_url, flush=True)
    time.sleep(60)
"""


def _pids_of(folder: Path) -> list[int]:
    """The processes that work in this folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if each.readlink() == folder:
                found.append(int(each.parent.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and only Linux kills a child with its parent")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "crash"])
def test_no_orphan_however_the_parent_ends(tmp_path: Path, how: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout
    assert parent.stdout.readline().startswith(b"http://127.0.0.1:")
    assert len(_pids_of(tmp_path)) == 1
    parent.send_signal(how)
    parent.wait(timeout=10)
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while _pids_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _pids_of(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("server", [seaweedfs, moto, ministack, nanio])
def test_only_loopback_is_listened_on(
    server: Callable[[Path], AbstractContextManager[S3Service]], tmp_path: Path
) -> None:
    with server(tmp_path):
        links = [link for pid in _pids_of(tmp_path) for link in Path(f"/proc/{pid}/fd").iterdir()]
        opened = [str(link.readlink()) for link in links if link.is_symlink()]
        inodes = {name[len("socket:[") : -1] for name in opened if name.startswith("socket:[")}
        listening = [
            columns[1]
            for table in ("tcp", "tcp6")
            for columns in (line.split() for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:])
            if columns[3] == "0A" and columns[9] in inodes
        ]
    assert listening
    assert {address.split(":")[0] for address in listening} == {"0100007F"}  # 127.0.0.1


def test_data_outlives_the_server(tmp_path: Path) -> None:
    """A demo's second run finds what its first one published, also after the kill that ends each."""
    with seaweedfs(tmp_path) as service:
        service.store(service.create_bucket("kept")).put("k", b"x", Headers("text/plain"))
    with seaweedfs(tmp_path) as service:
        found = service.store(service.create_bucket("kept")).get("k")
    assert found is not None
    assert found[0] == b"x"


def test_two_servers_run_beside_each_other(tmp_path: Path, s3_service: S3Service) -> None:
    with seaweedfs(tmp_path) as other:
        assert other.endpoint_url != s3_service.endpoint_url
        assert "S3cr3t" not in repr(other)
