"""One page, as a crawler asks for it: no redirect followed, every wait and every size bounded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import urllib3
from urllib3.exceptions import HTTPError

from sitemap_ops import __version__
from sitemap_ops.audit.addresses import Refused
from sitemap_ops.audit.head import HEAD_BYTES
from sitemap_ops.audit.watch import Watch
from sitemap_ops.reading.web import reason

CONNECT_SECONDS, READ_SECONDS, PAGE_SECONDS = 10.0, 10.0, 30.0
MAX_BYTES = 2 << 20
"""What Googlebot reads of a page (G-15)."""
BLOCK = 65_536
HEADERS = {
    "User-Agent": f"sitemap-ops/{__version__}",
    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate",
}


class Unreached(Exception):
    """No answer, or none that can be read to its end; the sentence says why."""


@dataclass(frozen=True)
class Page:
    """An answer. headers: by lower-case name, each as often as it came. body: decoded, perhaps only its start.

    size: of the decoded body in bytes, as far as it is known: more than MAX_BYTES where it is larger than that.
    seconds: until everything that was read had come.
    """

    url: str
    status: int
    headers: dict[str, list[str]]
    body: bytes
    size: int
    seconds: float

    def header(self, name: str) -> str:
        """The first value, "" where there is none."""
        return self.headers.get(name, [""])[0]

    def media(self) -> str:
        """The media type without parameters, in lower case."""
        return self.header("content-type").partition(";")[0].strip().lower()


class Fetcher:
    """pools: as `addresses.guarded_pools` makes them. Safe for several threads."""

    def __init__(self, pools: urllib3.PoolManager, watch: Watch) -> None:
        self._pools, self._watch = pools, watch

    def get(self, url: str, max_bytes: int = MAX_BYTES) -> Page:
        """Raises Unreached. A connection that breaks is tried once more: the fault may have been on the way."""
        try:
            return self._get(url, max_bytes)
        except Unreached:
            raise
        except (HTTPError, ValueError):
            try:
                return self._get(url, max_bytes)
            except (HTTPError, ValueError) as error:
                raise Unreached(f"The server can't be reached: {reason(error)}.") from None

    def _get(self, url: str, max_bytes: int) -> Page:
        started = time.monotonic()
        try:
            with self._watch.within(PAGE_SECONDS):
                page = self._answer(url, max_bytes, started)
            if page.seconds >= PAGE_SECONDS:  # what the watch cut off may look like a whole answer
                raise _unfinished()
            return page
        except Refused as refused:
            raise Unreached(f"Not asked: {refused}.") from None
        except urllib3.exceptions.DecodeError:
            raise Unreached("The answer can't be unpacked as its Content-Encoding says.") from None
        except urllib3.exceptions.NewConnectionError:  # to urllib3 a kind of time-out
            raise
        except urllib3.exceptions.TimeoutError:
            raise Unreached(f"The server does not answer within {READ_SECONDS:.0f} seconds.") from None
        except HTTPError:
            if time.monotonic() - started >= PAGE_SECONDS:
                raise _unfinished() from None
            raise

    def _answer(self, url: str, max_bytes: int, started: float) -> Page:
        response = self._pools.request(
            "GET",
            url,
            headers=HEADERS,
            retries=False,
            redirect=False,
            preload_content=False,
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
        )
        try:
            headers: dict[str, list[str]] = {}
            for name, value in response.headers.iteritems():
                headers.setdefault(name.lower(), []).append(value)
            declared = _declared(headers)
            body, size = _read(response, max_bytes if declared is None else min(max_bytes, HEAD_BYTES))
        finally:
            response.close()  # one that was read to its end has given its connection back by now
        whole = size if declared is None else max(size, declared)
        return Page(url, response.status, headers, body, whole, time.monotonic() - started)


def _unfinished() -> Unreached:
    return Unreached(f"The server did not finish within {PAGE_SECONDS:.0f} seconds.")


def _declared(headers: dict[str, list[str]]) -> int | None:
    """The body's size where the server tells it, and its bytes are as they are sent."""
    length: Sequence[str] = headers.get("content-length", [""])
    if "content-encoding" in headers or not (length[0].isascii() and length[0].isdigit()):
        return None
    return int(length[0])


def _read(response: urllib3.BaseHTTPResponse, limit: int) -> tuple[bytes, int]:
    """The start of the decoded body, and how much there was up to one byte over the limit."""
    blocks, size = [], 0
    while size <= limit:
        block = response.read(min(BLOCK, limit + 1 - size), decode_content=True)
        if not block:
            break
        size += len(block)
        blocks.append(block)
    return b"".join(blocks), size
