"""Sitemaps as a server gives them: no redirect followed, every wait and every size bounded (Y-08, S3-26).

The address that the user names may be any, a private one too. What an index lists is opened on that same origin only,
or on those named besides, so that a foreign index can't make this machine ask its neighbours.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urljoin, urlsplit

import urllib3

from sitemap_ops import __version__
from sitemap_ops.errors import UsageError
from sitemap_ops.reading.origins import Origin, origin_of
from sitemap_ops.reading.places import MAX_ROBOTS_BYTES, Opened
from sitemap_ops.reading.robots import Robots
from sitemap_ops.reading.stop import Stop
from sitemap_ops.reading.unpack import BLOCK

TIMEOUT = urllib3.Timeout(connect=10, read=30)
MAX_SECONDS = 600


class Web:
    """The place of an http(s) URL.

    base_url: where the URL's folder is served to engines, if that is elsewhere: a preview of what will be there. hosts:
    further origins that may be asked. pool: what makes the connections, where that is not left to urllib3.
    """

    def __init__(
        self,
        url: str,
        base_url: str | None = None,
        hosts: Sequence[Origin] = (),
        pool: urllib3.PoolManager | None = None,
    ) -> None:
        origin = origin_of(url)
        if origin is None:
            raise UsageError(f"{url!r} is no address of a web server: write http(s)://host/path.")
        userinfo, at, rest = urlsplit(url).netloc.rpartition("@")
        self._headers = {"User-Agent": f"sitemap-ops/{__version__}", "Accept-Encoding": "gzip"}
        if at:
            self._headers |= urllib3.make_headers(basic_auth=unquote(userinfo))
        self._start = urlsplit(url)._replace(netloc=rest, fragment="").geturl()
        self._folder = self._start.partition("?")[0].rpartition("/")[0] + "/"
        self._base = None if base_url is None else base_url.rstrip("/") + "/"
        self.origins = {origin, *hosts}
        self._pool = pool or urllib3.PoolManager()

    def start(self) -> Sequence[str]:
        return [self._start]

    def show(self, location: str) -> str:
        return location

    def url(self, location: str) -> str:
        return location if self._base is None else location.replace(self._folder, self._base, 1)

    def find(self, loc: str, index: str) -> str | None:
        url = urljoin(index, loc)
        if self._base is not None and url.startswith(self._base):
            url = self._folder + url.removeprefix(self._base)
        if origin_of(url) not in self.origins:
            raise Stop("child-not-followed")
        return url

    def open(self, location: str) -> Opened:
        response = self._get(location)
        if response.status != 200:
            response.close()
            to = response.headers.get("Location")
            said = f"The server answers {response.status}" + (f" and points to {to}." if to else ".")
            raise Stop("http-status", value=str(response.status), message=said)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Opened(urlsplit(location).path, _stream(response), self.url(location), headers, response.close)

    def robots(self) -> Robots | None:
        """The robots.txt of the server's root, without text where it does not answer 200; None if nothing answers."""
        location = urljoin(self._start, "/robots.txt")
        try:
            response = self._get(location)
        except Stop:
            return None
        try:
            text = None
            if response.status == 200:
                text = response.read(MAX_ROBOTS_BYTES, decode_content=True).decode("utf-8", "replace")
            return Robots(location, text)
        except urllib3.exceptions.HTTPError:
            return None
        finally:
            response.close()

    def _get(self, url: str) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                "GET",
                url,
                headers=self._headers,
                timeout=TIMEOUT,
                retries=urllib3.Retry(2, redirect=0, status=0),
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
        except (urllib3.exceptions.HTTPError, UnicodeError) as error:
            raise Stop("unreachable", message=f"The server can't be reached: {reason(error)}.") from None


def _stream(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    deadline = time.monotonic() + MAX_SECONDS
    try:
        for block in response.stream(BLOCK, decode_content=False):
            yield block
            if time.monotonic() > deadline:
                raise Stop("unreachable", message=f"The server did not finish within {MAX_SECONDS} seconds.")
    except urllib3.exceptions.HTTPError as error:
        raise Stop("unreachable", message=f"The answer was cut short: {reason(error)}.") from None


def reason(error: Exception) -> str:
    """The innermost cause in a few words, without the pool's address."""
    cause = getattr(error, "reason", None) or error
    return re.sub(r"^.*?: ", "", re.sub(r"<[^>]*>", "", str(cause))).strip().rstrip(".") or type(cause).__name__
