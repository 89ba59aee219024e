"""What became of the rows that one task read, sent to the driver beside the entries."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from sitemap_ops.clean import Cleaned
from sitemap_ops.entries import LastmodSpread
from sitemap_ops.examples import add_examples
from sitemap_ops.steps.rejects import by_reason


@dataclass
class Tally:
    """Counts of one section's rows (its rank): of a part that a task read, or merged.

    rejects: files of `write_rejects`, each with the rows of the parts before its own. error: why the source could not
    be read; the counts then mean nothing.
    """

    rank: int
    part: int = 0
    rows: int = 0
    entries: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    rejects: list[tuple[int, str]] = field(default_factory=list)
    spread: LastmodSpread = field(default_factory=LastmodSpread)
    error: Exception | None = None

    def add(self, cleaned: Cleaned, entries: pa.Table, rejects: str | None) -> None:
        """Count a chunk: entries are those of it that are left after its own duplicates."""
        self.rows += cleaned.rows
        self.entries += entries.num_rows
        self.duplicates += cleaned.entries.num_rows - entries.num_rows
        self.changed += cleaned.changed
        self.rejected.update(by_reason(cleaned.rejects))
        self.rejects += [(0, rejects)] if rejects else []
        self.spread.update(entries["instant"])
        add_examples(self.examples, cleaned.examples)

    def merge(self, other: Tally) -> None:
        """Add the part that follows, whose own row numbers begin at 1."""
        self.rejects += [(self.rows + before, name) for before, name in other.rejects]
        add_examples(self.examples, other.examples, self.rows)
        self.rows += other.rows
        self.entries += other.entries
        self.duplicates += other.duplicates
        self.changed += other.changed
        self.rejected += other.rejected
        self.spread.merge(other.spread)

    def summary(self, section: str, as_of: datetime, seconds: float) -> dict[str, Any]:
        """What the extract step says of a section."""
        return {
            "section": section,
            "rows": self.rows,
            "rejected": dict(self.rejected),
            "changed": dict(self.changed),
            "examples": self.examples,
            "rejects": self.rejects,
            "lastmod_uniform": self.spread.uniform(as_of),
            "seconds": round(seconds, 3),
        }


def packed(value: Any) -> bytes:
    """A result for the driver, which only this run's executors make: Spark itself moves functions in this form."""
    return pickle.dumps(value)


def unpacked(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301
