"""`python -m benchmarks.sorting`: entries sorted and without duplicates, beyond memory, by this project and by engines.

Each reads the same cleaned entries from Parquet, in the order of the inventory, and writes one row for each loc, sorted
by loc, as Parquet: the newest of equal ones, by the rule of DESIGN 5. Whole processes, alternating; every result is
compared with this project's. DuckDB and Polars are installed into a folder that goes away again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.inventory import generate
from benchmarks.measure import ROOT, Cost, busyness, cost, median, python_with
from benchmarks.ours import SITE
from sitemap_ops import inventory
from sitemap_ops.clean import clean
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.ordering import ENTRY_SCHEMA
from sitemap_ops.parallel import ordered_map
from sitemap_ops.site import load_site
from sitemap_ops.steps.extract import policy_of

MEMORY = "1GB"

OURS = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
from sitemap_ops.inventory.chunk import CHUNK_ROWS
from sitemap_ops.ordering import SECTION, distinct, key_ranges, write_run
from sitemap_ops.parallel import ordered_map
source, out = map(Path, sys.argv[1:3])
folder = out.with_suffix(".runs")
folder.mkdir(exist_ok=True)
def stage(numbered):
    number, batch = numbered
    table = pa.Table.from_batches([batch])
    run = distinct(table.append_column(SECTION, pa.array(np.zeros(len(table), np.int32)))).drop_columns("section")
    write_run(run, folder / f"{number:06d}")
    return 0, folder / f"{number:06d}"
runs = list(ordered_map(stage, enumerate(pq.ParquetFile(source).iter_batches(CHUNK_ROWS))))
with pq.ParquetWriter(out, pq.read_schema(source), compression="none", use_dictionary=False) as writer:
    for survivors in ordered_map(lambda each: distinct(each.rows), key_ranges(runs)):
        writer.write_table(survivors.drop_columns("section").cast(writer.schema))
"""

DUCKDB = f"""
import sys, duckdb
source, out = sys.argv[1:3]
database = duckdb.connect(config={{"threads": 2, "memory_limit": "{MEMORY}", "temp_directory": out + ".tmp"}})
database.execute(f'''
COPY (
  SELECT loc, lastmod, instant, changefreq, priority FROM '{{source}}'
  QUALIFY row_number() OVER (
    PARTITION BY loc ORDER BY instant DESC NULLS LAST, lastmod, changefreq NULLS FIRST, priority NULLS FIRST
  ) = 1
  ORDER BY loc
) TO '{{out}}' (FORMAT parquet, COMPRESSION uncompressed)''')
"""

POLARS = """
import sys, polars as pl
source, out = sys.argv[1:3]
entries = pl.scan_parquet(source).sort("loc", "instant", "lastmod", "changefreq", "priority",
    descending=[False, True, False, False, False], nulls_last=[False, True, False, False, False])
entries.unique("loc", keep="first", maintain_order=True).sink_parquet(out, compression="uncompressed")
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.sorting", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sitemap-ops-bench-") as name:
        folder = Path(name)
        engines = python_with(["duckdb", "polars"], folder / "engines")
        entries = _entries(arguments.rows, folder)
        programs = {
            "sitemap-ops": (Path(sys.executable), OURS),
            "duckdb": (engines, DUCKDB),
            "polars": (engines, POLARS),
        }
        costs: dict[str, list[Cost]] = {}
        locs: dict[str, pa.Table] = {}
        print(f"{arguments.rows:,} rows; {busyness()}", flush=True)
        for _ in range(arguments.repeat):
            for program, (python, code) in programs.items():
                out = folder / f"{program}.parquet"
                spent = cost([python, "-c", code, entries, out], folder / "out.txt", _ENVIRONMENT)
                costs.setdefault(program, []).append(spent)
                locs[program] = pq.read_table(out, columns=["loc", "instant"])
        print(f"{'':16}{'wall s':>8}{'CPU s':>8}{'peak MiB':>10}  same result")
        for program, spent in {program: median(each) for program, each in costs.items()}.items():
            same = locs[program].cast(locs["sitemap-ops"].schema).equals(locs["sitemap-ops"])
            print(f"{program:16}{spent.wall:8.2f}{spent.cpu:8.2f}{spent.peak_mib:10.0f}  {'yes' if same else 'no'}")
    return 0


_ENVIRONMENT = {"PYTHONPATH": str(ROOT), "POLARS_MAX_THREADS": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def _entries(rows: int, folder: Path) -> Path:
    """The inventory's cleaned entries as Parquet, in its own order."""
    site_file, path = folder / "site.yaml", folder / "entries.parquet"
    source = generate(rows, folder).csv
    site_file.write_text(SITE.format(source=f"{{type: csv, path: {source}}}", target="out/", state="state/"))
    site = load_site(site_file)
    section = site.sections[0]
    policy, as_of = policy_of(site), datetime.now(UTC)
    chunks = inventory.read(section.source, section.columns(), EnvironmentConnections())
    with pq.ParquetWriter(path, ENTRY_SCHEMA, compression="snappy") as writer:
        for cleaned in ordered_map(lambda chunk: clean(chunk, section, policy, site, as_of), chunks):
            writer.write_table(cleaned.entries)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
