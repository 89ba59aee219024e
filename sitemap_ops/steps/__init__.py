"""The steps of a run, the same from the command line and from Airflow's tasks.

Each is a function of the step before it and of the run's fixed instant `as_of`; what it leaves for the next is in the
run's workspace, and what it returns is a reference of a few hundred bytes. Any of them can be run again.
"""

from sitemap_ops.steps.assemble import assemble
from sitemap_ops.steps.extract import extract
from sitemap_ops.steps.parts import split
from sitemap_ops.steps.publish import publish
from sitemap_ops.steps.run import Progress, cleanup, prepare

__all__ = ["Progress", "assemble", "cleanup", "extract", "prepare", "publish", "split"]
