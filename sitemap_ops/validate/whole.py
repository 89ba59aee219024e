"""What is said about files together: URLs listed twice in a set, alternates without an answer (P-53, G-52).

Several file sets can lie side by side: text files, an engine's own, news and fresh repeat URLs of the main set, by
design.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from sitemap_ops.filesets import set_of
from sitemap_ops.reading.column import Column
from sitemap_ops.reading.record import EXAMPLES, Record
from sitemap_ops.validate.document import Judged
from sitemap_ops.validate.links import Links, hashes
from sitemap_ops.validate.seen import Seen


class Whole:
    """Takes the files one after the other. complete: they are all that there are, not one of perhaps many."""

    def __init__(self, engines: Sequence[str]) -> None:
        self.complete = False
        self._engines = engines
        self._seen: defaultdict[str, Seen] = defaultdict(Seen)
        self._links = Links()
        self._hosts: set[str] = set()
        self._locations: list[str] = []

    def take(self, judged: Judged) -> None:
        """Add a file: its repeated URLs are reported in its own record. Empties what the file was kept for."""
        seen = self._seen[set_of(judged.record.location)]
        for listed in judged.locs:
            again = seen.add(listed.hashes)
            if again.any():
                judged.record.add_rows("duplicate-loc", Column(listed.text(), listed.line, listed.hashes), again)
        for linked in judged.links:
            self._links.add(linked, len(self._locations))
        self._locations.append(judged.record.location)
        self._hosts |= {origin.host for origin in judged.origins}
        judged.locs.clear()
        judged.links.clear()

    def one_way(self) -> Iterator[Record]:
        """Once all files are taken: a record for each with alternates that don't name their page back."""
        records: dict[int, Record] = {}
        homes = hashes(sorted(self._hosts))
        for links in self._links.one_way():
            listed = np.logical_or.reduce([seen.holds(links["target"]) for seen in self._seen.values()])
            here = np.isin(links["host"], homes) & ~listed
            self._report(records, links[listed], "hreflang-not-reciprocal", None)
            if self.complete:
                self._report(
                    records, links[here], "hreflang-not-reciprocal", "A page names an alternate that no sitemap lists."
                )
            else:
                said = "An alternate is not in this file, so that its link back can't be checked."
                self._report(records, links[here], "hreflang-not-reciprocal:outside", said)
            self._report(records, links[~here & ~listed], "hreflang-not-reciprocal:outside", None)
        yield from records.values()

    def _report(self, records: dict[int, Record], links: np.ndarray, code: str, message: str | None) -> None:
        for file in np.unique(links["file"]).tolist():
            record = records.setdefault(file, Record(self._locations[file], self._engines))
            of_file = links[links["file"] == file]
            for link in of_file[:EXAMPLES]:
                record.add(code, value=self._links.text(int(link["target"])), line=int(link["line"]), message=message)
            record.add(code, count=len(of_file) - EXAMPLES, message=message)
