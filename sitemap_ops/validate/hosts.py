"""What is said about a URL's authority. A file has few different ones, so each is looked at once, in plain Python."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import unquote

from sitemap_ops.reading.origins import DEFAULT_PORT, START, Origin, a_label, origin, split_port

MAX_AUTHORITIES = 256
MAX_AUTHORITY_CHARS = 1_000
"""A host has 253."""
_ODD_IPV4 = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}\.?", re.IGNORECASE)
_IPV4 = re.compile(r"(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}")
_LOCAL = re.compile(r"(^|\.)(localhost|local|internal|localdomain)\.?$")
_ASCII_HOST = re.compile(r"[a-z0-9_.-]*", re.IGNORECASE)


class Origins:
    """The origins of a file's URLs. Only the first 256 different authorities are looked at closely.

    A file that has more is at fault anyway, and IDNA takes its time: further ones are told by their letters.
    """

    def __init__(self) -> None:
        self._close: set[tuple[str, str]] = set()

    def of(self, scheme: str, authority: str) -> Origin:
        if self._closely(scheme, authority):
            return origin(scheme, authority)
        host, port = split_port(authority.rpartition("@")[2])
        return Origin(scheme.lower(), host.lower(), (port or "").lstrip("0") or DEFAULT_PORT.get(scheme.lower(), ""))

    def of_url(self, url: str) -> Origin | None:
        """As `origin_of`."""
        match = START.match(url.strip())
        return self.of(match[1], match[2]) if match else None

    def faults(self, scheme: str, authority: str) -> tuple[str, ...]:
        """As `judge`."""
        if self._closely(scheme, authority):
            return judge(scheme, authority)
        _, at, host = authority.rpartition("@")
        return ("url-userinfo",) * bool(at) + ("host-label-length",) * (len(host) > MAX_AUTHORITY_CHARS)

    def _closely(self, scheme: str, authority: str) -> bool:
        if (scheme, authority) in self._close:
            return True
        if len(self._close) >= MAX_AUTHORITIES or len(authority) > MAX_AUTHORITY_CHARS:
            return False
        self._close.add((scheme, authority))
        return True


@lru_cache(maxsize=4_096)
def judge(scheme: str, authority: str) -> tuple[str, ...]:
    """The codes of what is wrong with an authority as written (U-01 to U-06, U-21 to U-27)."""
    codes: list[str] = []
    _, at, rest = authority.rpartition("@")
    if at:
        codes.append("url-userinfo")
    host, port = split_port(rest)
    if not host:
        return (*codes, "url-no-host")
    if port is not None:
        codes += _port(scheme.lower(), port)
    if scheme != scheme.lower() or (host.isascii() and host != host.lower()):
        codes.append("not-normalised")
    if host.startswith("["):
        return (*codes, *_ipv6(host))
    return (*codes, *_name(host))


def _port(scheme: str, port: str) -> list[str]:
    if not port:
        return ["not-normalised"]
    if not (port.isascii() and port.isdigit() and len(port) <= 6 and 1 <= int(port) <= 65_535):
        return ["url-port"]
    return ["not-normalised"] if port == DEFAULT_PORT.get(scheme) or port.startswith("0") else []


def _ipv6(host: str) -> list[str]:
    try:
        address = ipaddress.IPv6Address(host[1:-1].partition("%")[0])
    except ValueError:
        return ["host-idna"]
    return ["host-ip"] + ([] if address.is_global else ["host-private"])


def _name(host: str) -> list[str]:
    codes = []
    if "%" in host:
        codes.append("host-percent")
        host = unquote(host, errors="replace")
    if "\u0130" in host or "\u0131" in host:
        codes.append("host-dotted-i")
    if _IPV4.fullmatch(host):
        return [*codes, *_ipv4(host)]
    if _ODD_IPV4.fullmatch(host):
        return [*codes, "host-ip-odd"]
    if host.endswith("."):
        codes.append("host-trailing-dot")
        host = host[:-1]
    if _LOCAL.search(host.lower()):
        codes.append("host-private")
    if "_" in host:
        codes.append("host-underscore")
    return [*codes, *_labels(host)]


def _ipv4(host: str) -> list[str]:
    try:
        address = ipaddress.IPv4Address(host)
    except ValueError:
        return ["host-ip-odd"]
    return ["host-ip"] + ([] if address.is_global else ["host-private"])


def _labels(host: str) -> list[str]:
    ascii_host = host
    if not host.isascii() or "xn--" in host.lower():
        try:
            ascii_host = a_label(host.replace("_", "-"))
        except UnicodeError as error:
            return [
                "host-label-length"
                if "too long" in str(error).lower() or "empty" in str(error).lower()
                else "host-idna"
            ]
    elif not _ASCII_HOST.fullmatch(host):
        return ["host-idna"]
    labels = ascii_host.split(".")
    if len(ascii_host) > 253 or not all(0 < len(label) <= 63 for label in labels):
        return ["host-label-length"]
    return ["host-idna"] if any(label[0] == "-" or label[-1] == "-" for label in labels) else []
