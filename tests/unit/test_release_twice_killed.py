"""Two attempts of one run that are both killed before they commit: what they have put has an owner."""

from __future__ import annotations

from contextlib import suppress

from tests.protocol import BEFORE, Killed, check_state, killing, operations_of, pages_of, released, watching
from tests.publishing import immutable, publish_pages

AFTER = immutable(pages_of({1: range(13), 7: range(13, 40), 5: range(40, 52)}))
OTHER = immutable(pages_of({1: range(11), 8: range(11, 50)}))


def test_what_the_first_attempt_has_put_stays_owned() -> None:
    """DESIGN 7: the second attempt finds files that the first has put, and a run with other content knows them all."""
    names: list[str] = []
    counted = released(BEFORE)
    start = operations_of(counted).count
    operations_of(counted).hook = lambda number, name, key: names.append(key)
    publish_pages(counted, AFTER, day=1)
    last = next(number for number, key in enumerate(names, start + 1) if "/manifest-" in key and "-1/" in key)
    for second in range(1, last - start + 1):
        stores = released(BEFORE)
        operations = operations_of(stores)
        for kill in (last, last + second):
            operations.hook = killing(kill, watching(stores.target, BEFORE, OTHER))
            with suppress(Killed):
                publish_pages(stores, AFTER, day=1)
        operations.hook = None
        publish_pages(stores, OTHER, day=2)
        check_state(stores)
