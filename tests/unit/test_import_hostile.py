"""Files that mean harm, imported: each a clear error or what it really holds, soon, in bounded memory, without a look
at anything else (P-25, P-33, S3-08)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.shared import ROOT
from tests.unit.test_validate_hostile import FILES as HOSTILE
from tests.unit.test_validate_hostile import GOOD, HANG_SECONDS, HEAD, MAX_GROWTH_MIB, MIB
from tests.unit.validating import gz

pytestmark = pytest.mark.slow

READ = {
    "xinclude.xml": 1,
    "many-images.xml": 1,
    "many-names.xml": 1,
    "many-namespaces.xml": 20_000,
    "many-hosts.xml": 20_000,
    "gzip-garbage.xml.gz": 1,
    "invalid-utf-8.xml": 1,
    "undefined-entity.xml": 1,
    "nul.xml": 1,
    "utf-16.xml": 1,
    "utf-32.xml": 1,
    "declares-utf-16.xml": 1,
    "many-references.xml": 1,
}
"""The files that hold URLs all the same, and how many; from the others nothing is imported."""

OPENINGS = {
    "many-cdata.xml": HEAD + b"<![CDATA[" * 5 * MIB,
    "many-comments.xml": HEAD + b"<!--" * 10 * MIB,
    "many-instructions.xml": HEAD + b"<?" * 20 * MIB,
    "many-spaced.xml": HEAD + b"< " * 20 * MIB,
    "many-tags.xml": HEAD + b"<a" * 20 * MIB,
    "one-capital-name.xml": HEAD + b"<" + b"A" * 40 * MIB,
    "many-references.xml": HEAD + b"<url><loc>" + b"&" * MIB + b"</loc></url></urlset>",
    "many-prefixes.xml": HEAD + b"".join(b"<p%d:a/>" % n for n in range(100_000)),
    "prolog.xml": b"<!" * 20 * MIB,
    "many-roots.xml": b"<urlset " * 5 * MIB,
    "white-inside.xml": HEAD + b" \n" * 24 * MIB + b"</urlset>",
    "cdata-bomb.xml.gz": gz(HEAD + b"<url><loc><![CDATA[" + b"&" * 40 * MIB),
}
"""Beginnings without an end, and what grows when it is mended: 40 MiB of each, about as much as is ever read."""

FILES: dict[str, bytes] = {name: make() for name, (make, _) in HOSTILE.items()} | OPENINGS

CHILD = """
import json, re, socket, sys, time
from pathlib import Path
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SitemapOpsError
from sitemap_ops.importing import import_sitemap

def refuse(*_, **__):
    raise AssertionError("the network was used")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse

def memory(name):
    # Not ru_maxrss, which a child has from its parent.
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

def imported(name):
    try:
        return import_sitemap(str(folder / name), folder / "out.csv", EnvironmentConnections()).urls, ""
    except SitemapOpsError as error:
        return None, str(error)

folder = Path(sys.argv[1])
for name in ("warm-up.xml.gz", "warm-up.txt", *sys.argv[2:]):
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = memory("VmRSS"), time.perf_counter()
    urls, told = imported(name)
    seconds, growth = time.perf_counter() - start, memory("VmHWM") - before
    print(json.dumps([name, urls, told, seconds, growth]), flush=True)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[int | None, str, float, float]]]:
    """URLs, message, seconds and MiB of growth of each file, all imported by one process."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is measured by Linux's /proc")
    folder = tmp_path_factory.mktemp("hostile")
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    (folder / "warm-up.xml.gz").write_bytes(gz(GOOD))
    (folder / "warm-up.txt").write_bytes(b"https://shop.example/\n")
    arguments = [sys.executable, "-c", CHILD, str(folder), *FILES]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    yield {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file(name: str, results: dict[str, tuple[int | None, str, float, float]]) -> None:
    """Issue 3: within bounds of time and memory, and an error is one short sentence or two."""
    urls, told, seconds, growth = results[name]
    assert (urls, bool(told)) == (READ.get(name), READ.get(name) is None)
    assert len(told) < 1_000
    assert "\n" not in told
    assert growth < MAX_GROWTH_MIB
    assert seconds < HANG_SECONDS
