"""A whole run inside Spark, from sources to rendered shards: what extract and assemble do without it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sitemap_ops import errors
from sitemap_ops.connections import Connections
from sitemap_ops.errors import SitemapOpsError, UsageError
from sitemap_ops.filesets import file_sets, fragment_columns
from sitemap_ops.site import Site
from sitemap_ops.spark.measure import measure
from sitemap_ops.spark.read import TALLY, Cleaner, cleaned
from sitemap_ops.spark.session import session
from sitemap_ops.spark.shards import ShardWriter, make_shards
from sitemap_ops.spark.tally import Tally, unpacked
from sitemap_ops.steps.assemble import section_summary
from sitemap_ops.steps.derive import Derive
from sitemap_ops.steps.extract import policy_of
from sitemap_ops.steps.rejects import collect_rejects
from sitemap_ops.steps.robots import robots_text
from sitemap_ops.steps.run import Progress, Run, instant_of, no_progress, workspace_of
from sitemap_ops.steps.tracked import tracks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITION_ROWS = 400_000
"""Entries of a partition, some ten shards: most of them are then made in place, and one fits into any executor."""


def assemble(site: Site, run: Run, connections: Connections, progress: Progress = no_progress) -> dict[str, Any]:
    """All shards of the run, rendered, and the reference that `steps.assemble` gives.

    Executors reach `work`, sources on S3 and databases by their own environment (`EnvironmentConnections`). Raises
    UsageError for what a site asks that this engine can't do, SourceError where a source can't be read to its end.
    """
    _check(site)
    started = time.monotonic()
    as_of, sets = instant_of(run), file_sets(site)
    policy = policy_of(site, robots_text(site, connections))
    with workspace_of(site, run, connections) as workspace, session(f"sitemap-ops {site.site}") as spark, told():
        rows = _kept(cleaned(spark, Cleaner(site, policy, as_of, run["work"]), connections))
        progress("read", 0, None)
        tallies = _tallies(rows, site)
        read = time.monotonic() - started
        staged = sum(each.entries for each in tallies)
        partitions = max(spark.sparkContext.defaultParallelism, -(-staged // PARTITION_ROWS))
        entries = rows.filter(f"{TALLY.name} IS NULL").drop(TALLY.name)
        ordered = _kept(entries.repartitionByRange(partitions, "loc").sortWithinPartitions("loc"))
        progress("order", staged, staged)
        derive = Derive(sets, as_of)
        measured, layout = measure(ordered, derive, len(site.sections))
        progress("shards", 0, staged)
        shards = make_shards(ordered, partitions, ShardWriter(site, derive, run["work"]), layout)
        ordered.unpersist()
        rows.unpersist()
        survivors: Counter[int] = sum((each.entries for each in measured), Counter())
        sections = [
            each.summary(section.name, as_of, read) for each, section in zip(tallies, site.sections, strict=True)
        ]
        collect_rejects((file for part in sections for file in part["rejects"]), workspace)
        result = {
            "sections": [section_summary(part, survivors[rank]) for rank, part in enumerate(sections)],
            "sets": [
                {"set": each.name, "kept_out": dict(sum((one.kept_out[place] for one in measured), Counter()))}
                for place, each in enumerate(sets)
            ],
            "links": None,
            "shards": [asdict(shard) for shard in shards],
            "duplicates": sum(each.duplicates for each in tallies) + staged - survivors.total(),
            "seconds": round(time.monotonic() - started - read, 3),
        }
        reference = workspace.write_json("assemble.json", result)
    return {**reference, "entries": survivors.total(), "shards": len(shards)}


def _check(site: Site) -> None:
    if "alternates" in fragment_columns(site):
        raise UsageError("engine: spark can't make hreflang clusters yet: leave alternates out, or use engine: local.")
    if tracks(site):
        raise UsageError("engine: spark can't track changes of rows yet: leave track out, or use engine: local.")


def _kept(rows: DataFrame) -> DataFrame:
    """Computed once, and kept on the executors' disks for all that reads it; what is lost is computed again."""
    from pyspark import StorageLevel

    return rows.persist(StorageLevel.DISK_ONLY)


def _tallies(rows: DataFrame, site: Site) -> list[Tally]:
    """One for each section. Raises what kept a source from being read."""
    found = rows.filter(f"{TALLY.name} IS NOT NULL").select(TALLY.name).collect()
    parts: list[Tally] = [unpacked(bytes(row[TALLY.name])) for row in found]
    tallies = [Tally(rank) for rank in range(len(site.sections))]
    for part in sorted(parts, key=lambda each: (each.rank, each.part)):
        if part.error is not None:
            raise part.error
        tallies[part.rank].merge(part)
    return tallies


_OWN = re.compile(r"^(?:pyspark\.errors\S*: )?sitemap_ops\.errors\.(\w+): (.+)$", re.MULTILINE)


@contextmanager
def told() -> Iterator[None]:
    """A failed job as this project's own error: an executor's sentence where it has one."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        own = _OWN.search(str(error))
        if own:
            raise getattr(errors, own[1], SitemapOpsError)(own[2]) from None
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise SitemapOpsError(f"Spark could not finish the job: {lines[0]}. Its log says more.") from error
