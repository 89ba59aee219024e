"""An end to every wait: a socket's own timeout begins anew with each byte, and a server that drips never meets it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

LOOK_SECONDS = 0.5


@dataclass
class _Waiting:
    deadline: float
    sock: socket.socket | None = None


class Watch:
    """Shuts the sockets of threads whose time is up; the thread then sees its connection end."""

    def __init__(self) -> None:
        self._waiting: dict[int, _Waiting] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="audit-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What this thread does in the block has so much time."""
        mine = threading.get_ident()
        self._waiting[mine] = _Waiting(time.monotonic() + seconds)
        try:
            yield
        finally:
            del self._waiting[mine]

    def note(self, sock: socket.socket | None) -> None:
        """The socket that this thread waits for now."""
        waiting = self._waiting.get(threading.get_ident())
        if waiting is not None:
            waiting.sock = sock

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            now = time.monotonic()
            for waiting in list(self._waiting.values()):
                if waiting.sock is not None and now > waiting.deadline:
                    with suppress(OSError):
                        waiting.sock.shutdown(socket.SHUT_RDWR)
