"""The other generators of ../shared/bench/peers; their README says what each cleans, and whether it removes duplicates.

What they need is installed into a folder that goes away again, by the ordinary clients: a virtual environment for
packages of PyPI, npm for Node's. One that can't run on a machine is left out, with the reason.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inventory import BENCH, Inventory
from benchmarks.measure import Cost, cost, python_with

GZIP_LEVEL = "6"
"""zlib's default, which is nearly all that generators use."""

INVALID = "no"

_PYPI = {"xml_sitemap_writer": "xml-sitemap-writer==0.7.0", "sitemapr": "sitemapr==0.4.0"}
_NPM = "sitemap@9.0.1"

Command = Callable[[Path, Path], list[str | Path]]
"""What reads a CSV file and writes into a folder."""


@dataclass(frozen=True)
class Peer:
    """A generator, and the folder that it writes into."""

    name: str
    command: Command
    out: Path

    def run(self, inventory: Inventory) -> Cost:
        shutil.rmtree(self.out, ignore_errors=True)
        return cost(self.command(inventory.csv, self.out), self.out.with_suffix(".txt"))


class NotHere(Exception):
    """Why a peer can't run on this machine."""


def ready_peers(folder: Path, wanted: Sequence[str]) -> Iterator[Peer]:
    """Those of the wanted peers that run here; what they need goes into `folder`. Says which do not, and why."""
    drivers = folder / "drivers"
    shutil.copytree(BENCH / "peers", drivers / "peers")  # sitemap_js looks for its packages beside itself
    for name in wanted:
        try:
            yield Peer(name, _MAKE[name](name, drivers), folder / name)
        except (NotHere, OSError, subprocess.CalledProcessError) as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)


def judge(out: Path) -> str:
    """What the independent check of ../shared/bench says of a folder: valid or not, and what was not cleaned."""
    done = subprocess.run([sys.executable, BENCH / "validate.py", out], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if not found["valid"]:
        return INVALID
    left = [name for name, count in (("characters", "not_rfc3986"), ("duplicates", "dup_normalised")) if found[count]]
    return f"yes, with {' and '.join(left)}" if left else "yes"


def _plain(name: str, drivers: Path) -> Command:
    return lambda csv, out: [sys.executable, drivers / "peers" / f"{name}.py", csv, out, GZIP_LEVEL]


def _packaged(name: str, drivers: Path) -> Command:
    python = python_with([_PYPI[name]], drivers / name)
    return lambda csv, out: [python, drivers / "peers" / f"{name}_driver.py", csv, out, GZIP_LEVEL]


def _node(name: str, drivers: Path) -> Command:
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise NotHere("there is no Node here")
    (drivers / "node").mkdir()
    (drivers / "node" / "package.json").write_text("{}")
    subprocess.run([npm, "install", "--silent", _NPM], cwd=drivers / "node", check=True, capture_output=True)
    return lambda csv, out: [node, drivers / "peers" / f"{name}.mjs", csv, out, "", "buffered"]


def _php(name: str, _: Path) -> Command:
    raise NotHere("it needs PHP and a checkout of samdark/sitemap beside the drivers")


_MAKE = {
    "plain_python": _plain,
    "lxml_xmlfile": _plain,
    "xml_sitemap_writer": _packaged,
    "sitemapr": _packaged,
    "sitemap_js": _node,
    "samdark": _php,
}
NAMES = tuple(_MAKE)
