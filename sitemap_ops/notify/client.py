"""Requests to the engines' APIs: bounded in time, size and number, and with no secret in a log or a message.

A request is sent again, after a pause, where the answer says that it may work then (429, 5xx) or none came: every
request made here may arrive twice without harm. Redirects are not followed, since they would carry credentials along.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from sitemap_ops import __version__
from sitemap_ops.notify.outcome import Failed, without
from sitemap_ops.reading.web import reason

TIMEOUT = urllib3.Timeout(connect=10, read=30)
ATTEMPTS = 4
MAX_PAUSES = 120.0
"""Seconds that one request may wait to be sent again: a quota that takes longer is the next publish's matter."""
MAX_BODY = 4 << 20
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
SHOWN = 300

_LOGGER = logging.getLogger("urllib3.connectionpool")
sleep = time.sleep


@dataclass(frozen=True)
class Answer:
    """headers: lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body; an empty object where it is no JSON object."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def text(self) -> str:
        """The start of the body on one line, for messages."""
        return " ".join(self.body[: SHOWN * 4].decode("utf-8", "replace").split())[:SHOWN]


class Api:
    """One API below a base URL. name: for messages. secrets: what is taken out of urllib3's log lines."""

    def __init__(self, name: str, base_url: str, secrets: Sequence[str] = (), headers: Mapping[str, str] = {}) -> None:
        self._name, self._base, self._secrets = name, base_url, secrets
        self._headers = {"User-Agent": f"sitemap-ops/{__version__}", "Accept": "application/json", **headers}
        self._pool = _pool(base_url)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] = {},
        is_final: Callable[[Answer], bool] = lambda answer: False,
    ) -> Answer:
        """The last answer. path: percent-encoded. is_final: of a transient status, whether it will not change soon.

        Raises Failed where the API can't be reached.
        """
        url = self._base + path + (f"?{urlencode(query)}" if query else "")
        waited = 0.0
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                answer = self._send(method, url, body, headers)
            except urllib3.exceptions.HTTPError as error:
                answer, said = None, reason(error)
            if answer is not None and (answer.status not in TRANSIENT or is_final(answer) or last):
                return answer
            pause = _pause(answer, attempt)
            if last or waited + pause > MAX_PAUSES:
                if answer is not None:
                    return answer
                host = urlsplit(url).hostname
                raise Failed(f"{self._name} can't be reached at {host}: {said}. The next publish tells it again.")
            waited += pause
            sleep(pause)
        raise AssertionError("unreachable")

    def json(self, method: str, path: str, value: Any, **options: Any) -> Answer:
        """The same with a JSON body."""
        headers = {"Content-Type": "application/json; charset=utf-8"}
        return self.request(method, path, body=json.dumps(value).encode(), headers=headers, **options)

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        with _hidden(self._secrets):
            response = self._pool.request(
                method,
                url,
                body=body,
                headers={**self._headers, **headers},
                retries=False,
                redirect=False,
                timeout=TIMEOUT,
                preload_content=False,
            )
            try:
                content = response.read(MAX_BODY, decode_content=True)
            finally:
                response.close()
        names = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status, names, content)


def _pool(base_url: str) -> urllib3.PoolManager:
    """By the machine's proxy, where it has one for this host, as the AWS SDK does."""
    parts = urlsplit(base_url)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    if not proxy:
        return urllib3.PoolManager()
    userinfo, at, rest = urlsplit(proxy).netloc.rpartition("@")
    headers = urllib3.make_headers(proxy_basic_auth=unquote(userinfo)) if at else None
    return urllib3.ProxyManager(urlsplit(proxy)._replace(netloc=rest).geturl(), proxy_headers=headers)


def _pause(answer: Answer | None, attempt: int) -> float:
    """Seconds to wait: what Retry-After asks for (RFC 9110 section 10.2.3), else twice as long each time."""
    asked = answer.headers.get("retry-after", "").strip() if answer else ""
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        then = parsedate_to_datetime(asked)
    except ValueError:
        return float(2 ** (attempt - 1))
    return max(0.0, (then - datetime.now(UTC)).total_seconds()) if then.tzinfo else float(2 ** (attempt - 1))


@contextmanager
def _hidden(secrets: Sequence[str]) -> Iterator[None]:
    """urllib3 logs each request's path at DEBUG level, and one API wants its key in there."""

    def hide(record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(without(each, secrets) for each in record.args)
        return True

    _LOGGER.addFilter(hide)
    try:
        yield
    finally:
        _LOGGER.removeFilter(hide)
