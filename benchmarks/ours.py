"""A whole build of this project, from a source of one kind to a target of one kind."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchmarks.inventory import Inventory, as_parquet
from benchmarks.measure import Cost, cost
from benchmarks.servers import Servers

SITE = """\
site: bench
base_url: https://www.example.com/
target: {target}
state: {state}
work: work/
urls: {{drop_params: [utm_*, gclid, fbclid]}}
sections:
  - name: all
    source: {source}
    loc: loc
    lastmod: lastmod
    changefreq: changefreq
    priority: priority
"""


@dataclass(frozen=True)
class Build:
    """Builds in a folder of their own. environment: what the process needs to reach source and target.

    target, state: as the site file names them; `{run}` becomes another word each time.
    """

    name: str
    folder: Path
    source: str
    target: str = "out/"
    state: str = "state/"
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def out(self) -> Path | None:
        """The folder of the sitemaps, if that is where they go."""
        return None if "://" in self.target else self.folder / self.target

    def run(self, inventory: Inventory) -> Cost:
        """Build anew. Exits where the entries are not exactly the inventory's unique URLs."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        site, report = self.folder / "site.yaml", self.folder / "report.json"
        target, state = (place.format(run=uuid4().hex) for place in (self.target, self.state))
        site.write_text(SITE.format(source=self.source, target=target, state=state))
        spent = cost([sys.executable, "-m", "sitemap_ops", "build", site, "--json"], report, self.environment)
        entries = json.loads(report.read_text())["entries"]
        if entries != inventory.unique:
            raise SystemExit(f"{entries} entries were written; the inventory has {inventory.unique} unique URLs")
        return spent


def builds(
    inventory: Inventory, sources: Sequence[str], targets: Sequence[str], folder: Path, servers: Servers
) -> Iterator[Build]:
    """A build from each kind of source to each kind of target; the inventory is put where the sources look for it."""
    places = {}
    environment: dict[str, str] = {}
    for kind in sources:
        if kind == "postgres":
            environment |= {"SITEMAP_OPS_CONN_BENCH": servers.database(inventory)}
            places[kind] = "{type: sql, conn_id: bench, query: SELECT * FROM inventory}"
        else:
            path = inventory.csv if kind == "csv" else as_parquet(inventory)
            places[kind] = f"{{type: {kind}, path: {path}}}"
    for kind in targets:
        where = {}
        if kind == "s3":
            bucket, reached = servers.bucket()
            environment |= reached
            where = {"target": f"s3://{bucket}/{{run}}/out/", "state": f"s3://{bucket}/{{run}}/state/"}
        for source, place in places.items():
            yield Build(f"{source} to {kind}", folder / f"{source}-{kind}", place, environment=environment, **where)
