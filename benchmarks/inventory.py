"""The inventory of ../shared/bench/gen_inventory.py, in every form that a source reads."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.measure import ROOT

BENCH = ROOT.parent / "shared" / "bench"
COLUMNS = ("loc", "lastmod", "changefreq", "priority")
SEED = "7"
_BLOCK_BYTES = 4 << 20


@dataclass(frozen=True)
class Inventory:
    """A generated CSV file and how many different URLs it has, tracking parameters left aside."""

    csv: Path
    rows: int
    unique: int


def generate(rows: int, folder: Path) -> Inventory:
    path = folder / f"inventory-{rows}.csv"
    options: list[str | Path] = ["-n", str(rows), "--seed", SEED, "--jobs", "2", "-o", path]
    subprocess.run([sys.executable, BENCH / "gen_inventory.py", *options], check=True, capture_output=True)
    return Inventory(path, rows, json.loads(Path(f"{path}.meta.json").read_text())["unique"])


def as_parquet(inventory: Inventory) -> Path:
    """The same rows as Parquet beside the CSV, compressed as most writers do it."""
    path = inventory.csv.with_suffix(".parquet")
    texts = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string()))
    blocks = pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES)
    with (
        pyarrow.csv.open_csv(inventory.csv, read_options=blocks, convert_options=texts) as reader,
        pq.ParquetWriter(path, reader.schema, compression="snappy") as writer,
    ):
        for batch in reader:
            writer.write_batch(batch)
    return path


def into_postgres(inventory: Inventory, url: str, table: str = "inventory") -> None:
    """The same rows as a table of four text columns."""
    with psycopg.connect(url) as connection, inventory.csv.open("rb") as file:
        connection.execute(f"CREATE UNLOGGED TABLE {table} ({', '.join(f'{name} text' for name in COLUMNS)})")
        with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy:
            while block := file.read(_BLOCK_BYTES):
                copy.write(block)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"VACUUM ANALYZE {table}")
