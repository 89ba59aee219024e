"""`python -m sitemap_ops`, and the command `sitemap-ops`."""

import atexit
import ctypes
import gc
import os

from sitemap_ops.cli import main

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""mallopt(3)'s names, from glibc's malloc.h."""


def run() -> int:
    """The command line in a process of its own, set up so that a short run is not mostly start and end."""
    # What is imported lives to the end; looking for garbage in it again and again, and at the exit, took 0.25 s.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    # NumPy would start a thread for each core, for the algebra of matrices; there is none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator gives memory back to the system and takes it anew all the time: a tenth of a run's CPU time.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    _keep_memory()
    return main()


def _keep_memory() -> None:
    """Let all threads share one heap that is not given back before the end, where the C library is glibc.

    Columns come and go by the megabyte: fresh pages for them, for each thread anew, took a tenth of a run's CPU time
    (a third where the machine is short of memory) and made its peak half as high again.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)


if __name__ == "__main__":
    raise SystemExit(run())
