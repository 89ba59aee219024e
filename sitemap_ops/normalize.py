"""Explain the URL policy line by line: what each URL becomes, why it is refused, what was changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import arrow, column
from sitemap_ops.urls import UrlPolicy, canonicalize, change_codes

_codes = lru_cache(maxsize=4_096)(change_codes)


def explain(batch: bytes, policy: UrlPolicy) -> Iterator[str]:
    """One JSON object a line of UTF-8 text: input, loc (null where refused), reason (null where not), changes."""
    inputs = [line.removesuffix("\r") for line in _decode(batch).removesuffix("\n").split("\n")]
    results = canonicalize(_series(inputs), policy)
    locs = arrow(results["loc"]).to_pylist()
    reasons = arrow(results["reason"]).to_pylist()
    changes = arrow(results["changes"]).to_pylist()
    for given, loc, reason, bits in zip(inputs, locs, reasons, changes, strict=True):
        yield _json({"input": given, "loc": loc, "reason": reason, "changes": _codes(bits)})


def batches(reads: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, as they become available."""
    rest = b""
    for block in reads:
        lines, newline, rest_of_block = (rest + block).rpartition(b"\n")
        rest = rest_of_block
        if newline:
            yield lines + newline
    if rest:
        yield rest


def _decode(batch: bytes) -> str:
    try:
        return batch.decode()
    except UnicodeDecodeError:
        return batch.decode(errors="surrogateescape")


def _series(inputs: list[str]) -> pd.Series:
    try:
        return column(pa.array(inputs, pa.string()))
    except UnicodeEncodeError:
        return pd.Series(inputs, dtype=object)


def _json(line: dict[str, object]) -> str:
    text = json.dumps(line, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # the input was not UTF-8: its bytes show as escaped surrogates
        return json.dumps(line)
    return text
