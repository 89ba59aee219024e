"""What was dropped of alternates, counted, with a few examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sitemap_ops.examples import EXAMPLES


class Tally:
    """Counts by code of ALTERNATE_NOTES; examples are remembered by page and code number (-1 for none)."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._examples: dict[str, list[tuple[int, int]]] = {}

    def add(self, note: str, times: np.ndarray, pages: np.ndarray, codes: np.ndarray | None = None) -> None:
        """times: what each of the pages counts; codes: the numbers under which they were named."""
        if not len(pages):
            return
        self.counts[note] += int(times.sum())
        kept = self._examples.setdefault(note, [])
        for at in range(min(len(pages), EXAMPLES - len(kept))):
            kept.append((int(pages[at]), -1 if codes is None else int(codes[at])))

    def examples(self, codes: Sequence[str], files: Sequence[Path]) -> dict[str, list[str]]:
        """Each example as the page's loc, its code before it; looked up in the members files."""
        wanted = {page for examples in self._examples.values() for page, _ in examples}
        locs = _locs_of(wanted, files)
        return {
            note: [f"{codes[code]} {locs[page]}" if code >= 0 else locs[page] for page, code in examples]
            for note, examples in self._examples.items()
        }


def _locs_of(pages: set[int], files: Sequence[Path]) -> dict[int, str]:
    found: dict[int, str] = {}
    for path in files:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                if len(found) == len(pages):
                    return found
                page = file.read_row_group(group, columns=["page"])["page"].to_numpy()
                rows = np.flatnonzero(np.isin(page, np.array(list(pages - found.keys()), np.uint64)))
                if len(rows):
                    locs = pc.take(file.read_row_group(group, columns=["loc"])["loc"], rows).to_pylist()
                    found |= {at: loc for at, loc in zip(page[rows].tolist(), locs, strict=True) if loc is not None}
    return found
