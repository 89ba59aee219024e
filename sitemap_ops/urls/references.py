"""Where the parts of each row's reference lie: RFC 3986 section 3, found for a whole column at once.

Not `urllib.parse`: it works row by row, deletes tabs and newlines without a word (U-02) and takes no position on
backslashes (U-07).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sitemap_ops.columns import from_text_buffers, text_buffers
from sitemap_ops.urls.octets import CONTROL, MARK, classes, classes_held, matches, rows_at

ABSOLUTE, NETWORK, ROOTED, RELATIVE, QUERY_ONLY, SAME_DOCUMENT = range(6)
"""Kinds of reference (RFC 3986 section 4.2): `http(s)://…`, `//host…`, `/path`, `path`, `?query`, `#fragment`."""

_SCHEME = r"^[A-Za-z][A-Za-z0-9+.\-]*:"
_OWN_SCHEME = r"^(?i:https?):"
_HTTP, _HTTPS = (np.uint64(int.from_bytes(prefix, "little")) for prefix in (b"http://", b"https://"))
_LOWER = np.uint64(0x2020202020202020)
_SEVEN_BYTES = np.uint64(0x00FFFFFFFFFFFFFF)


@dataclass(frozen=True)
class References:
    """The rows of a column, taken apart.

    kind: one of the kinds above (int64).
    heads: `scheme://authority`, `//authority` or "" (string array).
    rests: path and query, as they stand. held: the classes of bytes in them (`octets`; uint8 bit set).
    has_query, has_fragment: bool. bare: no path before the query or end (bool).
    empty, control, no_host, other_scheme, backslash: rows to refuse (bool): U-01, U-03, U-07.
    """

    kind: np.ndarray
    heads: pa.Array
    rests: pa.Array
    held: np.ndarray
    has_query: np.ndarray
    has_fragment: np.ndarray
    bare: np.ndarray
    empty: np.ndarray
    control: np.ndarray
    no_host: np.ndarray
    other_scheme: np.ndarray
    backslash: np.ndarray


def take_apart(text: pa.Array) -> References:
    """Take a column of trimmed values (string array, no nulls) apart.

    A backslash before the "?" makes two readings of one value: "/" to a browser, an illegal character to RFC 3986
    (U-07). In a query both readings name the same resource, so there it is only a character to encode.
    """
    offsets, data = text_buffers(text)
    starts, ends = offsets[:-1], offsets[1:]
    kind, authority_starts = _kinds(offsets, data)
    other = np.flatnonzero(kind == RELATIVE)
    no_host, other_scheme = np.zeros((2, len(text)), np.bool_)
    if len(other):
        candidates = text.take(pa.array(other))
        own = matches(candidates, _OWN_SCHEME)
        no_host[other[own]] = True
        other_scheme[other[matches(candidates, _SCHEME) & ~own]] = True

    byte_classes = classes(data)
    marks = np.flatnonzero(byte_classes >= MARK)
    hashes, questions, backslashes = (marks[data[marks] == byte] for byte in b"#?\\")
    rest_starts = starts.copy()
    with_head = np.flatnonzero(kind <= NETWORK)
    rest_starts[with_head] = _first(marks, authority_starts[with_head], ends[with_head])
    rest_ends = _first(hashes, rest_starts, ends)
    query_starts = _first(questions, rest_starts, rest_ends)
    rows = rows_at(offsets, backslashes)
    backslash = np.zeros(len(text), np.bool_)
    backslash[rows[backslashes < query_starts[rows]]] = True

    pieces = np.empty(3 * len(text) + 1, np.int64)
    pieces[0::3], pieces[1::3], pieces[2::3] = offsets, rest_starts, rest_ends
    parts = from_text_buffers(pieces, data)
    held = classes_held(pieces, byte_classes).reshape(-1, 3)
    return References(
        kind=kind,
        heads=_every_third(parts, 0),
        rests=_every_third(parts, 1),
        held=held[:, 1],
        has_query=query_starts < rest_ends,
        has_fragment=rest_ends < ends,
        bare=query_starts == rest_starts,
        empty=starts == ends,
        control=(held[:, 0] | held[:, 1] | held[:, 2]) & CONTROL > 0,
        no_host=no_host,
        other_scheme=other_scheme,
        backslash=backslash,
    )


def without_origin(locs: pa.Array) -> pa.Array:
    """Path and query of absolute URLs (string array; nulls become "")."""
    offsets, data = text_buffers(locs)
    starts = np.minimum(offsets[:-1] + len("https://"), offsets[1:])
    paths = _first(np.flatnonzero(data == ord("/")), starts, offsets[1:])
    pieces = np.empty(2 * len(locs) + 1, np.int64)
    pieces[0::2], pieces[1::2] = offsets, paths
    parts = from_text_buffers(pieces, data)
    return parts.take(pa.array(np.arange(1, 2 * len(locs), 2)))


def _kinds(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row's kind by its first eight bytes, and where its authority starts if it has one."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    padded = np.append(data, np.zeros(8, np.uint8))
    words = np.ndarray((len(data) + 1,), "<u8", padded.data, strides=(1,))[starts]
    lower = words | _LOWER
    https = (lower == _HTTPS) & (lengths >= 8)
    http = (lower & _SEVEN_BYTES == _HTTP) & (lengths >= 7)
    first, second = words & np.uint64(0xFF), words >> np.uint64(8) & np.uint64(0xFF)
    rooted = first == ord("/")
    network = rooted & (second == ord("/")) & (lengths >= 2)
    kind = np.select(
        [http | https, network, rooted, first == ord("?"), first == ord("#")],
        [ABSOLUTE, NETWORK, ROOTED, QUERY_ONLY, SAME_DOCUMENT],
        RELATIVE,
    )
    return kind, starts + np.select([https, http, network], [8, 7, 2], 0)


def _first(positions: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The first of the sorted positions at or after each start, or the end where there is none before it."""
    if not len(positions):
        return ends
    found: np.ndarray = np.append(positions, np.iinfo(np.int64).max)[np.searchsorted(positions, starts)]
    np.minimum(found, ends, out=found)
    return found


def _every_third(parts: pa.Array, first: int) -> pa.Array:
    return parts.take(pa.array(np.arange(first, len(parts), 3)))
