"""Work on a stream in threads, in order, in bounded memory: for what releases the GIL, as Arrow, NumPy and gzip do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WORKERS = min(8, os.cpu_count() or 1)


def ordered_map(function: Callable[[T], R], items: Iterable[T], *, workers: int = WORKERS) -> Iterator[R]:
    """`map` over threads: results in the items' order, at most `workers` + 1 items taken ahead of the consumer.

    The first exception, the function's or the items' own, is raised in the consumer; what had begun is awaited.
    """
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
