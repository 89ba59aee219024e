"""Kill a publisher at one moment after the other: readers notice nothing, and the next run ends what was begun."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

from sitemap_ops.connections import Connections
from tests.killing.places import PUBLIC, Objects, Place
from tests.killing.processes import Ended, Points, forked
from tests.killing.reader import Reader
from tests.killing.records import check_records

Work = Callable[[Connections], Any]
"""What a process does with the connections it is given."""


@dataclass(frozen=True)
class Next:
    """What is started after a kill. begin: called then; gives the work. same: it is the run that was killed, again, so
    that what it leaves in `state` is that of an undisturbed run too."""

    begin: Callable[[], Work]
    same: bool = False


@dataclass
class Scene:
    """Something that is done to a site over and over again, each time from the same state of it, `base`.

    work: what is killed. then: what is started after it, in turn.
    """

    place: Place
    reader: Reader
    base: Objects
    work: Work
    then: Sequence[Next]
    kills: int = 0

    @cached_property
    def connections(self) -> Connections:
        """Each child's copy of them; never used by this process."""
        return self.place.connections

    @cached_property
    def undisturbed(self) -> tuple[int, Objects]:
        """How many points the work passes, and what it makes, when nobody kills it."""
        self.place.restore(self.base)
        ended = self.once(self.work)
        assert ended.well, ended
        return ended.gives, self.place.objects()

    def kill_everywhere(self) -> int:
        """At every point there is. Gives how many kills the site survived."""
        assert self.undisturbed
        for at in count(1):
            if not self._killed(at):
                break
        return self.kills

    def kill_at_some(self, kills: int, seed: int = 0) -> int:
        """At so many points, by chance; at all where there are no more."""
        points = range(1, self.undisturbed[0] + 1)
        chosen = random.Random(seed).sample(points, min(kills, len(points)))
        for at in sorted(chosen):
            self._killed(at)
        assert self.kills > 0.8 * len(chosen), "a run may pass a point less than the one before, but hardly more"
        return self.kills

    def once(self, work: Work, at: int | None = None, connections: Connections | None = None) -> Ended:
        """Do the work in a child, which is killed at a point; this process reads the site meanwhile.

        connections: others than the scene's own; never used by this process either.
        """
        connections = connections or self.connections

        def job() -> int:
            points = Points(at)
            self.place.watch(points, connections)
            work(connections)
            return points.count

        return forked(job, self.reader.look)

    def _killed(self, at: int) -> bool:
        """Whether there is such a point; fails where the site did not survive a kill there."""
        self.place.restore(self.base)
        ended = self.once(self.work, at)
        assert ended.error is None, ended.error
        if not ended.killed:
            return False
        self.reader.site()
        then = self.then[at // 2 % len(self.then)]
        after = self.once(then.begin())
        assert after.well, f"after a kill at point {at} the next run ended so: {after}"
        self.reader.site()
        found = self.place.objects()
        check_records(found)
        told = differences(self.undisturbed[1], found, private_too=then.same)
        assert not told, f"after a kill at point {at} the site is not what it would have been: {told}"
        self.kills += 1
        return True


def differences(wanted: Objects, found: Objects, *, private_too: bool) -> list[str]:
    """The names of what differs in bytes or headers; a report tells when it was made, and is left out."""
    names: Iterable[str] = sorted(wanted.keys() | found.keys())
    compared = (name for name in names if name.startswith(PUBLIC) or (private_too and "/report." not in name))
    return [name for name in compared if wanted.get(name) != found.get(name)]
