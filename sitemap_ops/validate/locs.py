"""What is said about URLs: RFC 3986 and the rule book's section 5, as RE2 patterns over whole columns.

A clean URL passes one pattern and is done with; the patterns that tell what is wrong see the rest only. None of this
shares code with the writer's URL policy, so that each can find the other's mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.reading.column import Column, distinct, lengths, matches
from sitemap_ops.reading.origins import Origin
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.hosts import MAX_AUTHORITIES, Origins

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*"
_PCHAR = r"[A-Za-z0-9._~!$&'()*+,;=:@/-]"
_TRIPLET = "%[0-9A-Fa-f]{2}"
_TAIL = "%[89AB][0-9A-F]"
_NORMAL = (
    "%(?:2[0-46-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-D])"
    rf"|%(?:C[2-9A-F]|D[0-9A-F]){_TAIL}|%E0%[AB][0-9A-F]{_TAIL}|%E[1-9ABCEF](?:{_TAIL}){{2}}|%ED%[89][0-9A-F]{_TAIL}"
    rf"|%F0%[9AB][0-9A-F](?:{_TAIL}){{2}}|%F[1-3](?:{_TAIL}){{3}}|%F4%8[0-9A-F](?:{_TAIL}){{2}}"
)
"""Triplets in upper case that are UTF-8, and of ASCII neither unreserved nor a control nor a percent sign."""
CLEAN = (
    rf"^https?://[a-z0-9](?:[a-z0-9.-]{{0,251}}[a-z0-9])?/(?:{_PCHAR}|{_NORMAL})*"
    rf"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|{_NORMAL})+)?$"
)
_SUSPECT = (
    r"(?i)/\.{1,2}(?:[/?]|$)|://[^/?]*/[^?]*https?://|sess|sid=|asp\.net|cfid|utm_|openstat|mc_[ce]id|clid|clsrc|[gw]braid|igshid"
    r"|&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);"
)
_URI = (
    rf"^{_SCHEME}://(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|{_TRIPLET})*)(?::[0-9]*)?"
    rf"(?:/(?:{_PCHAR}|{_TRIPLET})*)?(?:\?(?:{_PCHAR}|\?|{_TRIPLET})*)?(?:#(?:{_PCHAR}|\?|{_TRIPLET})*)?$"
)
_IRI = _URI.replace(_TRIPLET, rf"{_TRIPLET}|[^\x00-\x7f]")
"""The same with characters beyond ASCII where they may be encoded (RFC 3987): those are reported as not encoded."""
_UNRESERVED = r"(?i)%(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]|3[0-9]|2d|2e|5f|7e)"
_UTF8_TRIPLETS = (
    r"(?i)^(?:[^%]|%[0-7][0-9a-f]|%c[2-9a-f]%[89ab][0-9a-f]|%d[0-9a-f]%[89ab][0-9a-f]|%e0%[ab][0-9a-f]%[89ab][0-9a-f]"
    r"|%(?:e[1-9abcef])(?:%[89ab][0-9a-f]){2}|%ed%[89][0-9a-f]%[89ab][0-9a-f]|%f0%[9ab][0-9a-f](?:%[89ab][0-9a-f]){2}"
    r"|%f[1-3](?:%[89ab][0-9a-f]){3}|%f4%8[0-9a-f](?:%[89ab][0-9a-f]){2}|%(?:[^0-9a-f]|$|[0-9a-f](?:[^0-9a-f]|$)))*$"
)
_TWICE = (
    r"(?i)%25(?:[2-7][0-9a-f]|[cd][0-9a-f]%25[89ab][0-9a-f]|e[0-9a-f](?:%25[89ab][0-9a-f]){2}"
    r"|f[0-4](?:%25[89ab][0-9a-f]){3})"
)
_SESSION = (
    r"(?i)[;?&](?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|sessionid|session_id|sessid|cfid|sid)="
)
_TRACKING = (
    r"[?&](?:utm_[A-Za-z0-9_]*|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|ysclid|_openstat|mc_cid|mc_eid"
    r"|igshid|ttclid|twclid)(?:=|&|#|$)"
)
_DETAILS: tuple[tuple[str, str], ...] = (
    ("url-control-char", r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"),
    ("url-inner-newline", r"[\t\r\n]"),
    ("url-replacement-char", "\ufffd"),
    ("url-backslash", r"\\"),
    ("url-char-encoded", rf'^{_SCHEME}://[^/?#]*[/?#].*[ "<>\[\]^`{{|}}]'),
    ("stray-percent", r"%(?:[^0-9A-Fa-f]|$|[0-9A-Fa-f](?:[^0-9A-Fa-f]|$))"),
    ("url-fragment-removed", "#"),
    ("double-entity-escape", r"(?i)&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);"),
    ("double-encoded", _TWICE),
    ("percent-control", r"(?i)%(?:[01][0-9a-f]|7f)"),
    ("dot-segments", rf"(?i)^{_SCHEME}://[^?#]*/(?:\.|%2e){{1,2}}(?:[/?#]|$)"),
    ("empty-query", r"^[^?#]*\?(?:#|$)"),
    ("loc-joined-twice", r"(?i)^https?://[^?#]*/[^?#]*https?:/"),
    ("session-id", _SESSION),
    ("tracking-param-removed", _TRACKING),
    ("not-normalised", rf"^{_SCHEME}://[^/?#]*(?:[?#]|$)|%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])|{_UNRESERVED}"),
)
_ANY_DETAIL = "|".join(
    f"(?i:{pattern[4:]})" if pattern.startswith("(?i)") else f"(?:{pattern})" for _, pattern in _DETAILS
)
"""Few of the unclean have any: one pass tells which."""
MAX_LOC_CHARS = 2_047
XSD_LOC_CHARS = 12


@dataclass
class Site:
    """What the URLs of a file are held against.

    origin: the one they have to have (P-44): given, or the first one seen. others: further ones that are allowed.
    folder: the path they have to be in (P-45), None where it is not known. submitted: robots.txt names the file (P-47).
    seen: those that the URLs have.
    """

    origin: Origin | None = None
    others: Sequence[Origin] = ()
    folder: str | None = None
    submitted: bool = False
    origins: Origins = field(default_factory=Origins)
    seen: set[Origin] = field(default_factory=set)


def trimmed(column: Column, record: Record) -> Column:
    """The column without surrounding white space, which is a fault of its own (U-02)."""
    padded = column.matches(r"^[\s\p{Z}]|[\s\p{Z}]$")
    if not padded.any():
        return column
    record.add_rows("url-trimmed", column, padded)
    return Column(pc.utf8_trim_whitespace(column.text), column.line, column.entry)


def judge_locs(column: Column, record: Record, site: Site) -> Column:
    """Judge the locs of a batch; returns them trimmed. Empty ones are the caller's (`loc-missing`).

    What has twice the length that a URL may have is said to be too long, and looked at no closer.
    """
    unclean = ~column.matches(CLEAN)
    if unclean.any() and (padded := column.where(unclean)) is not trimmed(padded, record):
        column = Column(pc.utf8_trim_whitespace(column.text), column.line, column.entry)
    size = _size(column, unclean)
    _lengths(column, size, record)
    suspect = (unclean | column.matches(_SUSPECT)) & (size <= 2 * MAX_LOC_CHARS)
    absolute = _absolute(column.where(suspect), record)
    record.add_rows("loc-not-encoded", absolute, absolute.matches(r"[^\x21-\x7e]"))
    faulty = absolute.where(absolute.matches(_ANY_DETAIL))
    for code, pattern in _DETAILS:
        record.add_rows(code, faulty, faulty.matches(pattern))
    _grammar(absolute, record)
    _authorities(column, record, site)
    _scope(column, record, site)
    return column


def judge_urls(column: Column, record: Record, tag: str, not_absolute: str = "loc-not-absolute") -> None:
    """The same for URLs in other tags: absolute, encoded, of legal grammar (C-32, C-40, G-55)."""
    suspects = column.where(~column.matches(CLEAN))
    if not len(suspects):
        return
    relative = ~suspects.matches(r"(?i)^\s*https?://[^/?#]")
    record.add_rows(not_absolute, suspects, relative, f"<{tag}> does not start with http:// or https:// and a host.")
    rest = suspects.where(~relative)
    raw = rest.matches(r"[^\x21-\x7e]")
    record.add_rows("loc-not-encoded", rest, raw, f"<{tag}> holds characters that have to be percent-encoded.")
    record.add_rows("loc-invalid-uri", rest, ~raw & ~rest.matches(_URI), f"<{tag}> breaks the grammar of RFC 3986.")


def elsewhere(column: Column, site: Site) -> np.ndarray:
    """Which URLs (bool) are on another host than the site's."""
    home = {site.origin, *site.others}
    hosts_at_home = {origin.host for origin in home if origin is not None}

    def away(scheme: str, authority: str) -> list[str]:
        return ["away"] if authority and site.origins.of(scheme, authority).host not in hosts_at_home else []

    none = np.zeros(len(column), bool)
    return _by_authority(column, away).get("away", none) if hosts_at_home else none


def encoded_length(text: pa.Array) -> np.ndarray:
    """Characters of each URL once percent-encoded (U-33): one for ASCII, three for each other byte, and for a space."""
    encoded: np.ndarray = 3 * lengths(text) - 2 * lengths(pc.replace_substring_regex(text, r"[^\x21-\x7e]+", ""))
    return encoded


def _size(column: Column, unclean: np.ndarray) -> np.ndarray:
    size = column.lengths()
    if unclean.any():
        size[unclean] = encoded_length(column.where(unclean).text)
    return size


def _absolute(column: Column, record: Record) -> Column:
    absolute = column.matches(r"(?i)^https?://")
    schemed = column.matches(rf"^{_SCHEME}:") & ~absolute
    slashed = column.matches(rf"^{_SCHEME}://")
    empty = column.lengths() == 0
    record.add_rows("url-scheme", column, schemed & ~column.matches(r"(?i)^https?:"))
    record.add_rows("loc-not-absolute", column, ~absolute & ~slashed & ~empty)
    return column.where(absolute)


def _grammar(column: Column, record: Record) -> None:
    """P-27, for what P-26 does not say already."""
    record.add_rows("loc-invalid-uri", column, ~column.matches(_IRI))
    record.add_rows("percent-not-utf8", column, column.matches("%[89A-Fa-f]") & ~column.matches(_UTF8_TRIPLETS))


def _lengths(column: Column, size: np.ndarray, record: Record) -> None:
    record.add_rows("loc-too-long", column, size > MAX_LOC_CHARS)
    record.add_rows("loc-shorter-than-xsd", column, (size < XSD_LOC_CHARS) & column.matches("^http"))
    record.add_rows("baidu-loc-over-256-bytes", column, size > 256)
    record.add_rows("yandex-url-over-1024", column, size > 1_024)
    if (size > 1_024).any():
        long = column.where(size > 1_024)
        path = pc.replace_substring_regex(long.text, r"^[^:/?#]*://[^/?#]*", "")
        path_size = encoded_length(path)
        record.add_rows("yandex-path-too-long", long, path_size > 1_024)
        record.add_rows("yandex-host-too-long", long, size[size > 1_024] - path_size > 1_024)


def _authorities(column: Column, record: Record, site: Site) -> None:
    def faults(scheme: str, authority: str) -> list[str]:
        foreign = _foreign(site.origins.of(scheme, authority), site) if authority else []
        return [*site.origins.faults(scheme, authority), *foreign]

    for code, rows in _by_authority(column, faults).items():
        record.add_rows(code, column, rows)


def _by_authority(column: Column, judge: Callable[[str, str], Iterable[str]]) -> dict[str, np.ndarray]:
    """Which rows (bool) have which of the codes that `judge` gives for a scheme and authority: asked once for each."""
    found = pc.extract_regex(column.text, r"^(?P<start>[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\]*)")
    which, different = distinct(pc.struct_field(found, "start"))
    members: dict[str, list[int]] = {}
    for at, start in enumerate(different):
        scheme, _, authority = start.partition("://")
        for code in judge(scheme, authority):
            members.setdefault(code, []).append(at)
    return {code: np.isin(which, some) for code, some in members.items()}


def _foreign(origin: Origin, site: Site) -> list[str]:
    if len(site.seen) < MAX_AUTHORITIES:
        site.seen.add(origin)
    if site.origin is None:
        site.origin = origin
    home = site.origin
    if origin == home or origin in site.others:
        return []
    if origin.host != home.host:
        return ["foreign-host"]
    return ["foreign-scheme"] if origin.scheme != home.scheme else ["foreign-port"]


def _scope(column: Column, record: Record, site: Site) -> None:
    if not site.folder or site.folder == "/":
        return
    path = pc.replace_substring_regex(column.text, r"^[^:/?#]*://[^/?#]*", "")
    absolute = column.matches(r"(?i)^https?://[^/?#]")
    outside = absolute & ~matches(path, f"^{re.escape(site.folder)}")
    record.add_rows("path-scope:submitted" if site.submitted else "path-scope", column, outside)
