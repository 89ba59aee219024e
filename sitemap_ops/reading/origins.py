"""Scheme, host and port of URLs, as they are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

DEFAULT_PORT = {"http": "80", "https": "443"}
START = re.compile(r"(https?)://([^/?#\\]+)", re.IGNORECASE)
"""Scheme and authority of an http(s) URL."""
_PATH = re.compile(r"(?:[^:/?#]+:)?(?://[^/?#]*)?([^?#]*)")


@dataclass(frozen=True)
class Origin:
    """Scheme, host (lower-case, as A-label where it can be) and port (the default one filled in) of a URL."""

    scheme: str
    host: str
    port: str


def origin_of(url: str) -> Origin | None:
    """The origin of an http(s) URL; None for anything else, or where there is no host."""
    match = START.match(url.strip())
    return origin(match[1], match[2]) if match else None


def path_of(url: str) -> str:
    """The path of a URL or of a relative reference, whatever it is; "/" where there is none (RFC 3986, appendix B)."""
    match = _PATH.match(url)
    return (match[1] if match else "") or "/"


@lru_cache(maxsize=4_096)
def origin(scheme: str, authority: str) -> Origin:
    host, port = split_port(authority.rpartition("@")[2])
    scheme = scheme.lower()
    try:
        decoded = unquote(host, errors="strict")
        host = decoded.lower() if decoded.isascii() else a_label(decoded)
    except (UnicodeError, ValueError):
        host = host.lower()
    return Origin(scheme, host, (port or "").lstrip("0") or DEFAULT_PORT.get(scheme, ""))


def a_label(host: str) -> str:
    """UTS 46, non-transitional (U-23). Raises idna.IDNAError (a UnicodeError)."""
    import idna

    return idna.encode(host, uts46=True, transitional=False).decode("ascii").lower()


def split_port(authority: str) -> tuple[str, str | None]:
    """Host and port of an authority without userinfo; None where there is no port."""
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(.*))?", authority, re.DOTALL)
    return (match[1], match[2]) if match else (authority, None)
