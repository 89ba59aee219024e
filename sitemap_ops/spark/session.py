"""The Spark session of a run: what spark-submit or the environment set, and the little that a run needs.

Without any of them it is a local session on all cores. MASTER and PYSPARK_SUBMIT_ARGS are Spark's own variables.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_ops.errors import SitemapOpsError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_ROWS = 32_768
"""Rows that Spark hands over at once."""

_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.session.timeZone": "UTC",
    # it would join or split partitions, and a partition's number stands for its place in the order of locs
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def session(name: str) -> Iterator[SparkSession]:
    """The active session, or one that ends with the block.

    Raises UsageError where there is no pyspark or no Java, SitemapOpsError where Spark does not start.
    """
    # Said at each mapInArrow, which has nothing to do with pandas.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from pyspark import SparkConf
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError(
            "engine: spark needs pyspark: install it with `pip install 'sitemap-ops[spark]'`, or leave engine out."
        ) from None
    active = SparkSession.getActiveSession()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setIfMissing("spark.app.name", name).setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    # where an executor shares this machine's files it finds this package as this process does
    conf.setIfMissing("spark.executorEnv.PYTHONPATH", str(Path(__file__).parents[2]))
    try:
        spark = active or SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, RuntimeError, OSError, TypeError) as error:
        raise SitemapOpsError(f"Spark does not start: {error}. It needs Java 17 or newer and its master.") from None
    try:
        for key, value in _SETTINGS.items():
            spark.conf.set(key, value)
        yield spark
    finally:
        if active is None:
            spark.stop()
