"""The elements of an extension in a batch, each with its children: what the rules for images, videos and news take."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np

from sitemap_ops.reading.column import Column, strings
from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.entries import names


class Groups:
    """All elements of one tag at depth 3, such as `image:image`; positions among them are what owners refer to."""

    def __init__(self, batch: Elements, tag: str) -> None:
        self.batch = batch
        self.rows = batch.rows(tag)
        self.prefix = tag.partition(":")[0] + ":"
        self._parents = (batch.depth == 3).nonzero()[0]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def tags(self) -> Column:
        """The elements themselves, to point at."""
        return names(self.batch, self.rows)

    def owners(self, rows: np.ndarray) -> np.ndarray:
        """The position of the element that each deeper row is in; -1 where it is in none of these."""
        parents = self._parents[self.batch.owner(rows, self._parents)]
        at = np.searchsorted(self.rows, parents)
        at[at == len(self.rows)] = 0
        return np.where(self.rows[at] == parents, at, -1)

    def child(self, name: str, depth: int = 4) -> tuple[Column, np.ndarray]:
        """The values of a child tag (`name` without prefix), and the position of the element each is in."""
        rows = self.batch.rows(self.prefix + name, depth)
        if not len(self) or not len(rows):
            return self.batch.column(rows[:0]), rows[:0]
        owners = self.owners(rows)
        return self.batch.column(rows[owners >= 0]), owners[owners >= 0]

    def attribute(self, name: str, attribute: str) -> Column:
        """An attribute of a child tag, "" where it is missing."""
        rows = self.batch.rows(self.prefix + name, 4)
        values = [self.batch.attributes.get(int(row), {}).get(attribute, "") for row in rows]
        return Column(strings(values), self.batch.line[rows], self.batch.entry[rows])

    def counts(self, name: str, depth: int = 4) -> np.ndarray:
        """How many non-empty children of this tag each element has."""
        column, owners = self.child(name, depth)
        return np.bincount(owners[column.matches(r"\S")], minlength=len(self))

    def report_unknown(self, known: Collection[str], record: Record, code: str) -> None:
        """Children of the same namespace that the extension does not have."""
        deeper = (self.batch.depth == 4).nonzero()[0]
        if not len(deeper) or not len(self):
            return
        named = [at for at, name in enumerate(self.batch.names) if name.startswith(self.prefix)]
        strange = [at for at in named if self.batch.names[at].removeprefix(self.prefix) not in known]
        rows = deeper[np.isin(self.batch.tag[deeper], strange)]
        rows = rows[self.owners(rows) >= 0] if len(rows) else rows
        record.add_rows(code, names(self.batch, rows), np.ones(len(rows), bool))
