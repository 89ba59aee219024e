"""The publishing protocol over random histories: releases, kills, rollbacks, prunings, strangers, stale runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sitemap_ops.errors import ConflictError
from sitemap_ops.release.history import list_releases, read_before, read_fence
from sitemap_ops.release.left import Keep
from tests.protocol import (
    Hook,
    Killed,
    Pages,
    attempt,
    bodies,
    check_state,
    live,
    memory_stores,
    of_another_process,
    operations_of,
    pages_of,
    put_back,
    urls,
)
from tests.publishing import immutable, publish_pages

URLS = 40
NAMED = {"stable": dict, "immutable": immutable}

cuts = st.sets(st.integers(1, URLS - 1), max_size=6)
tags = st.sampled_from(["", "<!--a-->", "<!--b-->"])
moments = st.integers(1, 90)


def inventory(starts: set[int], first: int, tag: str) -> dict[str, bytes]:
    """A section cut at some of its URLs: a file is called by the URL that it starts with, the first always the same."""
    borders = [first, *sorted(start for start in starts if start > first), URLS]
    names = [0, *borders[1:-1]]
    return pages_of({name: range(low, high) for name, low, high in zip(names, borders, borders[1:], strict=False)}, tag)


class Protocol(RuleBasedStateMachine):
    """`public` is what the last run that ended well has published; None after one that was killed: either is right."""

    @initialize(names=st.sampled_from(sorted(NAMED)), max_files=st.sampled_from([2, 3, 50_000]), keep=st.booleans())
    def start(self, names: str, max_files: int, keep: bool) -> None:
        self.stores = memory_stores()
        self.named = NAMED[names]
        self.keep = Keep() if keep else Keep(releases=1, days=0)
        self.options = {"max_files": max_files, "retention": self.keep}
        self.day = 0
        self.seen: dict[str, Mapping[str, bytes]] = {}
        self.public: Pages | None = {}
        self.wanted: Pages = self.named(inventory(set(), 0, ""))
        self.publish(set(), 0, "")

    def next_day(self, days: int = 1) -> int:
        self.day += days
        return self.day

    def watch(self, *others: Pages) -> Hook:
        """No URL of what is live that is in all of the others is ever unlisted, whatever is listed is whole."""
        target = self.stores.target
        staying = urls(live(target))
        for pages in others:
            staying &= urls(pages)

        def look(number: int, name: str, key: str) -> None:
            assert staying <= urls(live(target)), (number, name, key)

        return look

    def done(self, pages: Pages, release: str) -> None:
        self.public = self.wanted = pages
        index = {key: body for key, body in bodies(self.stores.target).items() if key.startswith("sitemap")}
        self.seen[release] = index | {key: bodies(self.stores.target)[key] for key in pages}

    @rule(starts=cuts, first=st.integers(0, 5), tag=tags, days=st.sampled_from([1, 1, 1, 40]))
    def publish(self, starts: set[int], first: int, tag: str, days: int = 1) -> None:
        pages = self.named(inventory(starts, first, tag))
        operations_of(self.stores).hook = self.watch(pages, self.wanted)
        day = self.next_day(days)
        publish_pages(self.stores, pages, day=day, **self.options)
        operations_of(self.stores).hook = None
        self.done(pages, f"release-{day}")

    @rule(starts=cuts, first=st.integers(0, 5), tag=tags, at=moments)
    def publish_and_be_killed(self, starts: set[int], first: int, tag: str, at: int) -> None:
        pages = self.named(inventory(starts, first, tag))
        operations = operations_of(self.stores)
        look, last = self.watch(pages, self.wanted), operations.count + at

        def hook(number: int, name: str, key: str) -> None:
            look(number, name, key)
            if number >= last:
                raise Killed

        operations.hook = hook
        day = self.next_day()
        try:
            publish_pages(self.stores, pages, day=day, **self.options)
            self.done(pages, f"release-{day}")
        except Killed:
            self.public = None
            current = read_before(of_another_process(self.stores).state, "shop").current
            if current and current.release == f"release-{day}":
                self.wanted = pages
        operations.hook = None

    @rule(starts=cuts, first=st.integers(0, 5), tag=tags, newer=cuts, at=moments)
    def publish_late(self, starts: set[int], first: int, tag: str, newer: set[int], at: int) -> None:
        """A run that sleeps somewhere while another one comes: that one stays."""
        pages, winner = self.named(inventory(starts, first, tag)), self.named(inventory(newer, 0, tag))
        operations = operations_of(self.stores)
        stale, day = self.next_day(), self.next_day()
        last = operations.count + at
        slept = []

        def hook(number: int, name: str, key: str) -> None:
            if number >= last and not slept:
                slept.append(number)
                publish_pages(of_another_process(self.stores), winner, day=day, **self.options)

        fence = read_fence(self.stores.state, "shop")
        operations.hook = hook
        with suppress(ConflictError):
            attempt(self.stores, pages, fence, day=stale, **self.options)
        operations.hook = None
        if slept:
            self.done(winner, f"release-{day}")
        else:
            self.done(pages, f"release-{stale}")

    @rule(which=st.integers(0, 5))
    def roll_back(self, which: int) -> None:
        kept = [past for past in list_releases(read_before(self.stores.state, "shop")) if past.release in self.seen]
        if not kept:
            return
        past = kept[which % len(kept)]
        day = self.next_day()
        put_back(self.stores, past.release, run=f"back-{day}", day=day, keep=self.keep)
        wanted = self.seen[past.release]
        found = bodies(self.stores.target)
        assert {key: found.get(key) for key in wanted} == wanted
        self.done(live(self.stores.target), f"back-{day}")

    @rule(which=st.integers(0, 20))
    def lose_a_file(self, which: int) -> None:
        """A stranger removes something: readers see it until the next run has mended it."""
        if self.public is None:
            return
        keys = sorted(bodies(self.stores.target))
        self.stores.target.delete([keys[which % len(keys)]])
        publish_pages(self.stores, self.wanted, day=self.next_day(), **self.options)
        self.done(self.wanted, f"release-{self.day}")

    @invariant()
    def the_site_is_whole(self) -> None:
        found = live(self.stores.target)
        if self.public is not None:
            assert found == dict(self.public)

    @invariant()
    def the_records_are_whole(self) -> None:
        check_state(of_another_process(self.stores))


Protocol.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestProtocol = Protocol.TestCase
