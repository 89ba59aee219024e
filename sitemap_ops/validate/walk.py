"""From one location to all files that belong to it, several at a time, and what is to be said about them together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlsplit

import pyarrow as pa

from sitemap_ops.reading.places import Place
from sitemap_ops.reading.record import Record
from sitemap_ops.reading.robots import Robots
from sitemap_ops.reading.stop import Stop
from sitemap_ops.validate.dates import TOLERANCE, parse
from sitemap_ops.validate.document import Judged, Known, judge
from sitemap_ops.validate.findings import Validation
from sitemap_ops.validate.headers import judge_headers
from sitemap_ops.validate.indexes import Child
from sitemap_ops.validate.robots import judge_robots
from sitemap_ops.validate.whole import Whole

WORKERS = 4
MAX_INDEXES = 500
Progress = Callable[[str, int, int | None], None]
"""Called with what is counted, how many are done, and how many are known of."""


@dataclass
class Walk:
    """One validation under way."""

    place: Place
    known: Known
    result: Validation
    follow: bool = True
    progress: Progress = lambda what, done, total: None
    listed: Callable[[pa.Array], None] | None = None
    """Told the URLs of every file, in batches (string), in the order of the files."""
    _kinds: dict[str, str | None] = field(default_factory=dict)
    _modified: dict[str, datetime] = field(default_factory=dict)
    _listed: dict[str, list[tuple[str, Child]]] = field(default_factory=dict)
    _total: int = 0

    def run(self) -> Validation:
        """Judge what the place starts with, then what the indexes among it list."""
        started = self.place.start()
        robots = self.place.robots()
        if robots is not None:
            self.known = replace(self.known, submitted=any(robots.names(self.place.url(one)) for one in started))
        whole = Whole(self.known.engines)
        listed = self._judge_all(started, whole)
        whole.complete = len(started) > 1 or bool(listed)
        self._judge_all(listed, whole)
        for index, children in self._listed.items():
            self.result.take(self._after_reading(index, children))
        for record in whole.one_way():
            self.result.take(record)
        self._together(started)
        if robots is not None:
            self._robots(robots, started)
        return self.result

    def _judge_all(self, locations: Sequence[str], whole: Whole) -> list[str]:
        """Judge the locations; returns those that indexes among them list and that were not judged yet."""
        self._total += len(locations)
        children: dict[str, None] = {}
        for location, judged in self._judged(locations):
            self._kinds[location] = judged.kind
            if judged.modified is not None:
                self._modified[location] = judged.modified
            self.result.files += 1
            if judged.kind != "index":
                self.result.urls += judged.urls
            if self.listed is not None:
                for batch in judged.locs:
                    self.listed(batch.text())
            whole.take(judged)
            if self.follow and judged.kind == "index":
                children.update(dict.fromkeys(self._children(location, judged)))
            self.result.take(judged.record)
            self.progress("validate", self.result.files, self._total)
        return [location for location in children if location not in self._kinds]

    def _judged(self, locations: Iterable[str]) -> Iterator[tuple[str, Judged]]:
        """In order, a bounded number ahead."""
        with ThreadPoolExecutor(WORKERS) as pool:
            ahead: deque[tuple[str, Future[Judged]]] = deque()
            for location in locations:
                ahead.append((location, pool.submit(self._one, location)))
                if len(ahead) > WORKERS:
                    first, future = ahead.popleft()
                    yield first, future.result()
            while ahead:
                first, future = ahead.popleft()
                yield first, future.result()

    def _one(self, location: str) -> Judged:
        shown = self.place.show(location)
        try:
            opened = self.place.open(location)
        except Stop as stop:
            record = Record(shown, self.known.engines)
            record.add(stop.code, value=stop.value, line=stop.line, message=stop.message)
            return Judged(record)
        try:
            judged = judge(shown, opened.chunks, replace(self.known, name=opened.name, url=opened.url))
        finally:
            opened.close()
        if opened.headers is not None:
            judge_headers(opened.headers, opened.name, judged, self.known.now)
        return judged

    def _children(self, index: str, judged: Judged) -> Iterator[str]:
        """The locations of what an index lists; reports what is not there, may not be opened, or is listed twice."""
        seen: set[str] = set()
        for child in judged.children:
            if child.loc in seen:
                judged.record.add("duplicate-loc", value=child.loc, line=child.line)
                continue
            seen.add(child.loc)
            try:
                location = self.place.find(child.loc, index)
            except Stop as stop:
                judged.record.add(stop.code, value=child.loc, line=child.line, message=stop.message)
                continue
            if location is None:
                judged.record.add("child-missing", value=child.loc, line=child.line)
                continue
            self._listed.setdefault(index, []).append((location, child))
            yield location

    def _after_reading(self, index: str, children: list[tuple[str, Child]]) -> Record:
        """What is said of an index once what it lists has been read (G-07, P-41)."""
        record = Record(self.place.show(index), self.known.engines)
        for location, child in children:
            if self._kinds.get(location) == "index":
                record.add("nested-index", value=self.place.show(location), line=child.line)
            claimed, modified = parse(child.lastmod), self._modified.get(location)
            if claimed is not None and modified is not None and claimed > modified + TOLERANCE:
                record.add("index-lastmod-mismatch", value=child.lastmod, line=child.line)
        return record

    def _robots(self, robots: Robots, started: Sequence[str]) -> None:
        """Of several files the index is the one to be named, and none of them by itself."""
        indexes = [one for one in started if self._kinds[one] == "index"]
        main = (indexes or list(started))[0]
        others = [self.place.url(location) for location in self._kinds if location != main]
        self.result.take(judge_robots(robots, self.place.url(main), self._kinds[main], self.known.engines, others))

    def _together(self, started: Sequence[str]) -> None:
        """What concerns a folder or prefix as a whole (P-34, P-46, G-08)."""
        kinds = [self._kinds[location] for location in started]
        record = Record(self.result.location, self.known.engines)
        if len(kinds) > 1 and "index" not in kinds and kinds.count("sitemap") > 1:
            record.add("shards-without-index", value=f"{kinds.count('sitemap')} sitemaps")
        if kinds.count("index") > MAX_INDEXES:
            record.add("too-many-indexes", value=f"{kinds.count('index')} indexes")
        path = urlsplit(self.place.url(started[0]))
        if path.scheme and path.path.count("/") > 1:
            record.add("not-at-root", value=self.place.url(started[0]))
        self.result.take(record)
