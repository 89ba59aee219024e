"""Ask for the sampled pages: several at a time, at the site file's pace, and give up where the server does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import urljoin

from protego import Protego

from sitemap_ops.audit.fetch import Fetcher, Page, Unreached
from sitemap_ops.audit.judge import REDIRECTS, Fault, Wanted, judge_page
from sitemap_ops.audit.pace import Pace
from sitemap_ops.engines import profile
from sitemap_ops.reading.origins import Origin, origin_of
from sitemap_ops.reading.record import Record

ROBOTS_BYTES = 512_000
ROBOTS_REDIRECTS = 5
BUSY = frozenset({429, 503})
DEFAULT_PAUSE = 5.0
MAX_IN_A_ROW = 50
"""Pages without a useful answer, one after the other, that end the crawl: the server has enough to do."""


@dataclass
class Crawled:
    """What came of the sample. statuses: how many of each, "none" for no answer. seconds: of each answer."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    stopped: str | None = None


class Crawl:
    """origins: the site's own hosts, the only ones that are asked."""

    def __init__(
        self, fetcher: Fetcher, pace: Pace, wanted: Wanted, origins: Sequence[Origin], concurrency: int
    ) -> None:
        self._fetcher, self._pace, self._wanted = fetcher, pace, wanted
        self._origins, self._concurrency = frozenset(origins), concurrency
        self._robots: dict[Origin, Protego | Unreached] = {}
        self._lock = Lock()
        self.crawled = Crawled()

    def run(self, urls: Sequence[str], progress: Callable[[int], None]) -> list[Record]:
        """What is to be said of the pages, in their order. progress: told how many were asked for."""
        said: list[tuple[int, Record]] = []
        failed = 0
        for done, (position, record, page) in enumerate(self._answers(urls), 1):
            self._count(page)
            if record.counts:
                said.append((position, record))
            failed = 0 if page is not None and page.status < 500 and page.status not in BUSY else failed + 1
            if failed == MAX_IN_A_ROW:
                self.crawled.stopped = f"The last {failed} pages failed, so that no more were asked for."
            progress(done)
        return [record for _, record in sorted(said, key=lambda one: one[0])]

    def _answers(self, urls: Sequence[str]) -> Iterator[tuple[int, Record, Page | None]]:
        """As they come: a slow page holds up no other. None is asked for once the crawl was stopped."""
        with ThreadPoolExecutor(self._concurrency, "audit") as pool:
            ahead: set[Future[tuple[int, Record, Page | None]]] = set()
            for position, url in enumerate(urls):
                if self.crawled.stopped:
                    break
                ahead.add(pool.submit(self._one, position, url))
                if len(ahead) == 2 * self._concurrency:
                    ready, ahead = wait(ahead, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in ready)
            yield from (each.result() for each in as_completed(ahead))

    def _count(self, page: Page | None) -> None:
        self.crawled.statuses["none" if page is None else str(page.status)] += 1
        if page is not None:
            self.crawled.seconds.append(page.seconds)

    def _one(self, position: int, url: str) -> tuple[int, Record, Page | None]:
        record, page, faults = Record(url, self._wanted.engines), None, []
        try:
            blocked = self._blocked(url)
            if blocked:
                faults = [blocked]
            else:
                page = self._page(url)
                faults = [*judge_page(page, self._wanted), *self._redirect(page)]
        except Unreached as unreached:
            faults = [Fault("page-unreachable", None, str(unreached))]
        for fault in faults:
            record.add(fault.code, value=fault.value, message=fault.message)
        return position, record, page

    def _page(self, url: str) -> Page:
        """The page, once more after a pause where the server asks for one."""
        self._pace.wait()
        page = self._fetcher.get(url)
        if page.status in BUSY and self._pace.pause(_seconds(page.header("retry-after"))):
            self._pace.wait()
            page = self._fetcher.get(url)
        return page

    def _redirect(self, page: Page) -> Iterator[Fault]:
        """Where a redirect leads to, and what that answers: one step, on the site's own hosts only (P-06)."""
        location = page.header("location")
        if page.status not in REDIRECTS or not location:
            return
        target = _joined(page.url, location)
        said = f"It answers {page.status} and points to {target}"
        if origin_of(target) not in self._origins:
            yield Fault("loc-redirects", str(page.status), f"{said}, on another host.")
            return
        try:
            self._pace.wait()
            answer = f"which answers {self._fetcher.get(target).status}"
        except Unreached as unreached:
            answer = f"which can't be read: {unreached}"
        yield Fault("loc-redirects", str(page.status), f"{said}, {answer.rstrip('.')}.")

    def _blocked(self, url: str) -> Fault | None:
        """Whether robots.txt forbids the page to an engine. Raises Unreached where it can't be read."""
        origin = origin_of(url)
        if origin is None:
            raise Unreached("It is no URL.")
        with self._lock:
            if origin not in self._robots:
                self._robots[origin] = self._read_robots(url)
            rules = self._robots[origin]
        if isinstance(rules, Unreached):
            raise Unreached(f"Not asked: its host's robots.txt fails, which shuts crawlers out. {rules}")
        robots = {name: profile(name).robot for name in self._wanted.engines or ("core",)}
        against = [robot for robot in dict.fromkeys(robots.values()) if not rules.can_fetch(url, robot)]
        if not against:
            return None
        who = ", ".join("every robot" if robot == "*" else robot for robot in against)
        return Fault("robots-disallowed", who, f"robots.txt forbids the page to {who}.")

    def _read_robots(self, url: str) -> Protego | Unreached:
        """As RFC 9309 section 2.3.1 wants it: 4xx are no rules, 5xx and no answer forbid everything."""
        location = _joined(url, "/robots.txt")
        try:
            for _ in range(ROBOTS_REDIRECTS + 1):
                page = self._fetcher.get(location, ROBOTS_BYTES)
                if page.status not in REDIRECTS:
                    break
                location = _joined(location, page.header("location"))
            if page.status >= 500:
                return Unreached(f"It answers {page.status}.")
        except Unreached as unreached:
            return unreached
        body = page.body[:ROBOTS_BYTES].decode("utf-8-sig", "replace") if page.status == 200 else ""
        return Protego.parse(body)


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _seconds(retry_after: str) -> float:
    return float(retry_after) if re.fullmatch(r"[0-9]{1,6}", retry_after.strip()) else DEFAULT_PAUSE
