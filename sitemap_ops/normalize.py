"""Explain the URL policy line by line: what each URL becomes, why it is refused, what was changed."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import arrow, column
from sitemap_ops.urls import UrlPolicy, canonicalize, change_codes

MAX_LINE_BYTES = 1 << 16
"""No URL comes near: a longer line is refused as `loc-too-long`, and only its start is kept and shown."""
SHOWN_BYTES = 2_048
READ_BYTES = 1 << 18
GATHERED_BYTES = 1 << 20
"""What is worked on at once where much comes: some 15,000 lines, over which the policy's fixed costs are spread."""
LITTLE_BYTES = 4_096
"""So little is answered as it comes: someone waits for it."""
QUIET_MILLISECONDS, LONGEST_SECONDS = 50, 0.5
"""More is gathered until nothing has come for so long, or so long has passed."""


def reads(descriptor: int) -> Iterator[bytes]:
    """The bytes of a file, pipe or terminal, gathered as far as they come without a pause."""
    coming = select.poll()
    coming.register(descriptor, select.POLLIN)
    held: list[bytes] = []
    size, since = 0, 0.0
    while block := os.read(descriptor, READ_BYTES):
        since = since if held else time.monotonic()
        held.append(block)
        size += len(block)
        enough = size >= GATHERED_BYTES or time.monotonic() > since + LONGEST_SECONDS
        if enough or not coming.poll(QUIET_MILLISECONDS if size > LITTLE_BYTES else 0):
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def batches(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, as they become available; of a line over MAX_LINE_BYTES one byte more than these, at most."""
    rest = b""
    for block in blocks:
        if len(rest) > MAX_LINE_BYTES:
            block = block[block.find(b"\n") :] if b"\n" in block else b""
        lines, newline, rest = (rest + block).rpartition(b"\n")
        rest = rest[: MAX_LINE_BYTES + 1]
        if newline:
            yield lines + newline
    if rest:
        yield rest


def explain(batch: bytes, policy: UrlPolicy) -> bytes:
    """One JSON object a line of UTF-8: input, loc (null where refused), reason (null where not), changes.

    A line may end in CR LF. What is no UTF-8 shows as escaped surrogates.
    """
    lines = batch.removesuffix(b"\n").split(b"\n")
    too_long = [at for at, line in enumerate(lines) if len(line) > MAX_LINE_BYTES]
    for at in too_long:
        lines[at] = lines[at][:SHOWN_BYTES].decode("utf-8", "ignore").encode()
    inputs = [line.removesuffix("\r") for line in _decode(b"\n".join(lines)).split("\n")]
    results = canonicalize(_series(inputs), policy)
    locs, reasons, changes = (arrow(results[name]).to_pylist() for name in ("loc", "reason", "changes"))
    for at in too_long:
        locs[at], reasons[at], changes[at] = None, "loc-too-long", 0
    written = [
        f'{{"input": {given}, "loc": {_quoted(loc)}, {_judgement(reason, bits)}}}\n'
        for given, loc, reason, bits in zip(_json(inputs), locs, reasons, changes, strict=True)
    ]
    return "".join(written).encode()


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


def _quoted(loc: str | None) -> str:
    """A loc holds no character that JSON escapes (U-08)."""
    return "null" if loc is None else f'"{loc}"'


@lru_cache(maxsize=4_096)
def _judgement(reason: str | None, bits: int) -> str:
    return json.dumps({"reason": reason, "changes": change_codes(bits)})[1:-1]


def _json(texts: list[str]) -> list[str]:
    """Each text as a JSON string. In these there is no line feed, so that all can be written in one go."""
    written = json.dumps(texts, ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n")
    return [one if _is_unicode(one) else json.dumps(text) for one, text in zip(written, texts, strict=True)]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
