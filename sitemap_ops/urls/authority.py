"""Scheme and authority of an absolute URL, and whether a site admits them.

A million rows have a handful of different authorities: these functions see each once, so they are plain Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sitemap_ops.urls.codes import BIT
from sitemap_ops.urls.hosts import parse_host

DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65_535
_HEAD = re.compile(r"(https?)://(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_HOST_AND_PORT = re.compile(r"(\[.*\]|[^:]*)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Authority:
    """What `scheme://authority` comes to: the parts, a reason to refuse it, and change bits.

    `port` is 0 for the scheme's default port.
    """

    scheme: str
    host: str
    port: int
    reason: str | None
    changes: int

    @property
    def origin(self) -> str:
        """scheme://host[:port], without the default port (U-06)."""
        return f"{self.scheme}://{self.host}" + (f":{self.port}" if self.port else "")


@lru_cache(maxsize=65_536)
def parse_authority(head: str) -> Authority:
    """Judge `scheme://authority`, all that stands before the path (U-01, U-04, U-06, U-21 to U-27)."""
    match = _HEAD.fullmatch(head)
    if not match:
        return Authority("", "", 0, "url-scheme", 0)
    scheme = match[1].lower()
    changes = BIT["not-normalised"] if scheme != match[1] else 0
    if "@" in match[2]:
        return Authority(scheme, "", 0, "url-userinfo", 0)
    parts = _HOST_AND_PORT.fullmatch(match[2])
    if not parts:
        return Authority(scheme, "", 0, "url-port", 0)
    host = parse_host(parts[1])
    port = _port(parts[2])
    if not host.name:
        return Authority(scheme, "", 0, host.reason, 0)
    if port is None:
        return Authority(scheme, host.name, 0, "url-port", 0)
    if port == DEFAULT_PORTS[scheme]:
        port = 0
    if (parts[2] is not None and not port) or (port and parts[2] != str(port)):
        changes |= BIT["not-normalised"]
    return Authority(scheme, host.name, port, host.reason, changes | host.changes)


def _port(digits: str | None) -> int | None:
    """0 for none or an empty one, None where it is no port of 1 to 65,535."""
    if not digits:
        return 0
    significant = digits.lstrip("0")
    if not (digits.isascii() and digits.isdigit() and 1 <= len(significant) <= len(str(_MAX_PORT))):
        return None
    port = int(significant)
    return port if port <= _MAX_PORT else None


class Admission:
    """Which authorities a site's rows may have (P-44): its own origins, or any where it names none or admits all.

    An origin that the site file names is admitted even if it is private (`host-private`): it was named on purpose.
    """

    def __init__(self, origins: Iterable[Authority], *, any_host: bool = False) -> None:
        self._own = list(origins)
        self._open = any_host or not self._own
        self.origins = frozenset(own.origin for own in self._own)
        self.plain = frozenset(origin for origin in self.origins if not parse_authority(origin).changes)
        """Those that a row may have without a note."""

    def reason(self, authority: Authority) -> str | None:
        """Why a row with this authority is refused; None where it is not."""
        if authority.host and authority.origin in self.origins and authority.reason in (None, "host-private"):
            return None
        if authority.reason or self._open:
            return authority.reason
        same_host = [own for own in self._own if own.host == authority.host]
        if not same_host:
            return "foreign-host"
        return "foreign-port" if any(own.scheme == authority.scheme for own in same_host) else "foreign-scheme"
