"""How fast pages are asked for: evenly, at the site file's rate, and later where the server asks for patience."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MAX_PAUSES = 10
MAX_PAUSE_SECONDS = 60.0


class Pace:
    """A bucket of one token, filled `rate` times a second, for all threads together."""

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._gap, self._clock, self._sleep = 1.0 / rate, clock, sleep
        self._next = clock()
        self._pauses = 0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Until the caller may send a request."""
        with self._lock:
            now = self._clock()
            at = max(now, self._next)
            self._next = at + self._gap
        if at > now:
            self._sleep(at - now)

    def pause(self, seconds: float) -> bool:
        """Let nobody send for so long, a minute at most; False where there were too many pauses already."""
        with self._lock:
            if self._pauses == MAX_PAUSES:
                return False
            self._pauses += 1
            self._next = max(self._next, self._clock() + min(seconds, MAX_PAUSE_SECONDS))
            return True
