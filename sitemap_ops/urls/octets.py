"""Columns of text as byte buffers: classes of bytes, rows that hold something, percent-encoding.

One allowed set serves path and query together. RFC 3986's `pchar`, "/" and "?" are legal in both, the first "?" is
always the delimiter and "#" ends what is encoded, so no byte needs to know in which component it stands. WHATWG's five
sets (U-19) differ from it: they leave `[ ] | ^` and more as they are, which RFC 3986 does not allow (U-08).

Tables are applied with `bytes.translate`, at a third of the time of a NumPy lookup, which makes 8-byte indexes first.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.columns import from_text_buffers, text_buffers

UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
"""RFC 3986 section 2.3 (U-10)."""
ALLOWED = UNRESERVED | frozenset("!$&'()*+,;=:@/?")
"""What may stand unencoded in a path or query: RFC 3986 sections 3.3 and 3.4 (U-08, U-11, U-13)."""

CONTROL, NON_ASCII, ILLEGAL, PERCENT, DOT, COLON, SESSION, MARK = (1 << bit for bit in range(8))
"""Classes of bytes, as bits. CONTROL: C0 and DEL; ILLEGAL: other ASCII that has to be encoded; SESSION: "=" and "(";
MARK: what may end a component, `/ ? #` and the backslash.
"""

_LONE_PERCENT = 0x01
"""Stands for a "%" that starts no triplet while a buffer is rewritten (real control characters are refused before)."""
_BLOCK = 1 << 16
"""Bytes expanded at once, so that the four-fold intermediate stays in the cache."""


def _class_of(byte: int) -> int:
    if byte < 0x20 or byte == 0x7F:
        return CONTROL
    if byte > 0x7F:
        return NON_ASCII
    special = {"%": PERCENT, ".": DOT, ":": COLON, "=": SESSION, "(": SESSION, "/": MARK, "?": MARK, "#": MARK}
    special["\\"] = ILLEGAL | MARK
    return special.get(chr(byte), 0 if chr(byte) in ALLOWED else ILLEGAL)


_CLASSES = bytes(map(_class_of, range(256)))


def _written(byte: int) -> bytes:
    if byte == 0:
        return b""
    if byte == _LONE_PERCENT:
        return b"%25"
    return bytes([byte]) if chr(byte) in ALLOWED | {"%"} else b"%%%02X" % byte


_WRITTEN = np.array([int.from_bytes(_written(byte), "little") for byte in range(256)], "<u4")
"""What each byte becomes: up to three characters, the rest NUL."""
_WRITTEN_LENGTH = bytes(len(_written(byte)) for byte in range(256))
_HEX_VALUE = np.full(256, 0xFF, np.uint8)
for _digit in string.hexdigits:
    _HEX_VALUE[ord(_digit)] = int(_digit, 16)
_UPPER = np.frombuffer(bytes(range(256)).upper(), np.uint8)
_IS_UNRESERVED = np.array([chr(byte) in UNRESERVED for byte in range(256)])


def translate(data: np.ndarray, table: bytes) -> np.ndarray:
    """Each byte through a table of 256."""
    return np.frombuffer(data.tobytes().translate(table), np.uint8)


def classes(data: np.ndarray) -> np.ndarray:
    """The class of each byte (uint8 bit set)."""
    return translate(data, _CLASSES)


def classes_held(offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The classes that each row's bytes have (uint8 bit set)."""
    return _reduce(np.bitwise_or, offsets, classes, np.uint8)


def _reduce(operation: np.ufunc, offsets: np.ndarray, values: np.ndarray, dtype: type) -> np.ndarray:
    """`operation` over each row's values; 0 for an empty row, to which reduceat would give its neighbour's value."""
    reduced: np.ndarray = np.zeros(len(offsets) - 1, dtype)
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        reduced[filled] = operation.reduceat(values, offsets[:-1][filled], dtype=dtype)
    return reduced


def rows_at(offsets: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The row in which each of the sorted byte positions lies."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(np.searchsorted(positions, offsets)))


def rows_holding(array: pa.Array, character: bytes) -> np.ndarray:
    """Which rows of a string array hold a character, or one that starts with these bytes of UTF-8 (bool)."""
    offsets, data = text_buffers(array)
    hits = np.flatnonzero(data[: len(data) - len(character) + 1] == character[0])
    for i, byte in enumerate(character[1:], 1):
        hits = hits[data[hits + i] == byte]
    holding = np.zeros(len(array), np.bool_)
    holding[rows_at(offsets, hits)] = True
    return holding


@dataclass(frozen=True)
class Encoded:
    """Rows after percent-encoding, and which of them (bool) had what done to their triplets."""

    text: pa.Array
    stray: np.ndarray
    respelled: np.ndarray


def percent_encode(array: pa.Array) -> Encoded:
    """Paths and queries (string or binary array, no nulls, no control characters) as RFC 3986 writes them.

    Valid triplets stay, hex upper-cased (U-12, U-14), but for those of unreserved characters, which are decoded (U-10);
    a "%" that starts none becomes %25 (U-15); every byte that may not stand there is encoded (U-08, U-11). Idempotent.
    """
    offsets, source = text_buffers(array)
    data = np.append(source, np.zeros(2, np.uint8))
    stray, respelled = np.zeros((2, len(array)), np.bool_)
    percents = np.flatnonzero(source == ord("%"))
    if len(percents):
        rows = rows_at(offsets, percents)
        high, low = _HEX_VALUE[data[percents + 1]], _HEX_VALUE[data[percents + 2]]
        triplet = (high < 16) & (low < 16) & (percents + 2 < offsets[rows + 1])
        data[percents[~triplet]] = _LONE_PERCENT
        stray[rows[~triplet]] = True
        rows, percents = rows[triplet], percents[triplet]
        octet = high[triplet] << 4 | low[triplet]
        plain = _IS_UNRESERVED[octet]
        kept = percents[~plain]
        digits = data[[kept + 1, kept + 2]]
        data[[kept + 1, kept + 2]] = _UPPER[digits]
        respelled[rows[plain]] = True
        respelled[rows[~plain][(digits != _UPPER[digits]).any(axis=0)]] = True
        percents = percents[plain]
        data[percents] = octet[plain]
        data[[percents + 1, percents + 2]] = 0
    data = data[: len(source)]
    lengths = _reduce(np.add, offsets, translate(data, _WRITTEN_LENGTH), np.int32)
    return Encoded(from_text_buffers(np.append(0, np.cumsum(lengths, dtype=np.int64)), _expand(data)), stray, respelled)


def _expand(data: np.ndarray) -> np.ndarray:
    blocks = (np.take(_WRITTEN, data[start : start + _BLOCK]) for start in range(0, len(data), _BLOCK))
    return np.frombuffer(b"".join(block.tobytes().translate(None, b"\0") for block in blocks), np.uint8)


def replace_rows(array: pa.Array, rows: np.ndarray, values: pa.Array) -> pa.Array:
    """The array with the rows of a mask (bool) replaced by `values`, in order."""
    if rows.all():
        return values
    return pc.replace_with_mask(array, pa.array(rows), values)


def matches(array: pa.Array, pattern: str, among: np.ndarray | None = None) -> np.ndarray:
    """Which rows of a string array, or of those that a mask names, an RE2 pattern is found in (bool); nulls are not."""
    if among is not None:
        found = among.copy()
        if among.any():
            found[among] = matches(array.filter(pa.array(among)), pattern)
        return found
    result = pc.match_substring_regex(array, pattern)
    found = (result.fill_null(False) if result.null_count else result).to_numpy(zero_copy_only=False)
    return np.asarray(found)
