"""Which pages are looked at: a sample that depends on seed and URLs alone, not on the order in which they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.hashing import hash64


class Sample:
    """The `size` different URLs with the smallest hashes of seed and URL; memory of some times the sample.

    origins: `scheme://host[:port]` that may be asked; other URLs are not taken.
    """

    def __init__(self, size: int, seed: int, origins: Iterable[str]) -> None:
        self._size, self._seed = size, str(seed)
        own = "|".join(sorted({re.escape(origin.rstrip("/")) for origin in origins}))
        self._own = rf"(?i)^(?:{own})(?:[/?#]|$)"
        self._ranks = np.zeros(0, np.uint64)
        self._urls = np.zeros(0, object)

    def take(self, urls: pa.Array) -> None:
        """Add a batch (string)."""
        if not self._size:
            return
        urls = urls.filter(pc.match_substring_regex(urls, self._own))
        ranks = hash64(pc.binary_join_element_wise(self._seed, urls, "\n"))
        if len(self._ranks) >= self._size:
            low = np.flatnonzero(ranks < self._ranks[-1])
            urls, ranks = urls.take(pa.array(low)), ranks[low]
        if len(ranks) == 0:
            return
        every = np.concatenate([self._ranks, ranks])
        texts = np.concatenate([self._urls, np.array(urls.to_pylist(), object)])
        # Equal URLs have equal ranks, and so are counted once.
        self._ranks, first = np.unique(every, return_index=True)
        self._ranks, self._urls = self._ranks[: self._size], texts[first[: self._size]]

    def urls(self) -> list[str]:
        """In the order of their hashes, which spreads sections and servers evenly over the time."""
        found: list[str] = self._urls.tolist()
        return found
