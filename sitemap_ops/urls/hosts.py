"""A host name as it stands in a URL, to the one form it has in a canonical URL.

UTS 46 without transitional processing (U-23), as browsers and crawlers do it: neither Python's "idna" codec (IDNA 2003
turns faß.de into another domain) nor the whole of IDNA 2008 (which refuses names that resolve, such as emoji ones).
The `idna` package has the tables and the single checks; the processing is the WHATWG URL standard's "domain to ASCII",
and then U-24 for what may be in a label.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sitemap_ops.urls.codes import BIT

_MAX_LABEL, _MAX_NAME = 63, 253
_NAME = re.compile(r"[a-z0-9_.-]+")
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}", re.ASCII)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LONGEST_ZEROS = re.compile(r"(?:^|:)0(?::0)+(?=:|$)")

_PRIVATE = [
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::/127",
        "fc00::/7",
        "fe80::/10",
    )
]
"""Unspecified, loopback, private and link-local ranges (U-26; RFC 6890)."""


@dataclass(frozen=True)
class Host:
    """A judged host: its canonical `name` ("" where it has none), a reason to refuse it, and change bits.

    `name` is also given with "host-private": such a host is well-formed and may be the site's own.
    """

    name: str
    reason: str | None = None
    changes: int = 0


def parse_host(raw: str) -> Host:
    """Judge the host part of an authority (no userinfo, no port): U-21 to U-27."""
    if not raw:
        return Host("", "url-no-host")
    if raw.startswith("["):
        return _ipv6(raw)
    changes = 0
    name = raw
    if "%" in raw:
        changes |= BIT["host-percent"]
        try:
            name = unquote_to_bytes(raw).decode("utf-8")
        except UnicodeDecodeError:
            return Host("", "host-idna")
    if "İ" in name or "ı" in name:
        changes |= BIT["host-dotted-i"]
    if name.isascii():
        ascii_name = name.lower()
        changes |= BIT["not-normalised"] if ascii_name != name else 0
    else:
        changes |= BIT["loc-not-encoded"]
        try:
            ascii_name = domain_to_ascii(name)
        except ValueError:
            return Host("", "host-idna")
    return _judge_name(ascii_name, changes)


def _judge_name(name: str, changes: int) -> Host:
    """Judge an ASCII, lower-case host name."""
    if not name:
        return Host("", "url-no-host")
    if not _NAME.fullmatch(name):
        return Host("", "host-idna")
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if not _IPV4.fullmatch(name):
            return Host("", "host-ip-odd")
        return _judge_address(ipaddress.IPv4Address(name), name, changes)
    if not all(1 <= len(label) <= _MAX_LABEL for label in labels) or len(name.removesuffix(".")) > _MAX_NAME:
        return Host("", "host-label-length")
    if "_" in name:
        changes |= BIT["host-underscore"]
    if name.endswith("."):
        changes |= BIT["host-trailing-dot"]
    # RFC 6761 section 6.3: localhost and what is below it is the loopback address.
    return Host(name, "host-private" if labels[-1] == "localhost" else None, changes)


def _judge_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address, name: str, changes: int) -> Host:
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    private = any((inner or address) in network for network in _PRIVATE)
    return Host(name, "host-private" if private else None, changes | BIT["host-ip"])


def _ipv6(raw: str) -> Host:
    """An address in brackets, in RFC 5952's form (IPv4-mapped ones in hex, as WHATWG writes them)."""
    try:
        address = ipaddress.IPv6Address(raw.removeprefix("[").removesuffix("]") if raw.endswith("]") else "")
    except ValueError:
        return Host("", "host-ip-odd")
    if address.scope_id is not None:
        return Host("", "host-ip-odd")
    groups = ":".join(f"{int(address) >> shift & 0xFFFF:x}" for shift in range(112, -1, -16))
    longest = max(_LONGEST_ZEROS.finditer(groups), key=lambda m: m.group().count("0"), default=None)
    if longest:
        groups = groups[: longest.start()] + "::" + groups[longest.end() :].removeprefix(":")
    name = f"[{groups}]"
    return _judge_address(address, name, BIT["not-normalised"] if name != raw else 0)


def domain_to_ascii(domain: str) -> str:
    """UTS 46 ToASCII, non-transitional, with CheckBidi and CheckJoiners, without UseSTD3ASCIIRules and CheckHyphens.

    Raises ValueError where the domain has no such form.
    """
    import idna

    labels = [_to_unicode(label) for label in idna.uts46_remap(domain, std3_rules=False).split(".")]
    is_bidi = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for label in labels for char in label)
    for label in labels:
        _check_label(label, is_bidi)
    return ".".join(label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in labels)


def _to_unicode(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    encoded = label[4:]
    decoded = encoded.encode("ascii").decode("punycode")
    if decoded.isascii() or decoded.encode("punycode").decode("ascii") != encoded:
        raise ValueError(f"{label!r} is not the A-label of anything")
    return decoded


def _check_label(label: str, is_bidi: bool) -> None:
    """UTS 46 section 4.1, validity criteria; raises ValueError."""
    import idna
    from idna.core import check_bidi, valid_contextj

    if not label or label.isascii():
        if label and is_bidi:
            check_bidi(label, check_ltr=True)
        return
    if idna.uts46_remap(label, std3_rules=False) != label or unicodedata.category(label[0]).startswith("M"):
        raise ValueError(f"{label!r} holds a character that no label may")
    if not all(valid_contextj(label, i) for i, char in enumerate(label) if char in "\u200c\u200d"):
        raise ValueError(f"{label!r} holds a joiner that joins nothing")
    if is_bidi:
        check_bidi(label, check_ltr=True)
