"""`python -m sitemap_ops`, and the command `sitemap-ops`."""

import atexit
import gc
import os

from sitemap_ops.cli import main


def run() -> int:
    """The command line in a process of its own, set up so that a short run is not mostly start and end."""
    # What is imported lives to the end; looking for garbage in it again and again, and at the exit, took 0.25 s.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    # NumPy would start a thread for each core, for the algebra of matrices; there is none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator gives memory back to the system and takes it anew all the time: a tenth of a run's CPU time.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return main()


if __name__ == "__main__":
    raise SystemExit(run())
