"""`normalize`: how lines are gathered from a pipe, and what is said about each."""

from __future__ import annotations

import json
import os
import random
import threading
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_ops.normalize import GATHERED_BYTES, MAX_LINE_BYTES, SHOWN_BYTES, batches, explain, reads
from sitemap_ops.urls import UrlPolicy

POLICY = UrlPolicy("https://a.example/")


def explained(batch: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in explain(batch, POLICY).splitlines()]


def test_lines() -> None:
    """DESIGN 8: an object a line, in order; the last line may lack its newline, any may end in CR LF."""
    assert explained(b"/a\r\n\nftp://x/\r\n/%c3%bc?a=1&amp;b") == [
        {"input": "/a", "loc": "https://a.example/a", "reason": None, "changes": ["loc-resolved"]},
        {"input": "", "loc": None, "reason": "loc-missing", "changes": []},
        {"input": "ftp://x/", "loc": None, "reason": "url-scheme", "changes": []},
        {
            "input": "/%c3%bc?a=1&amp;b",
            "loc": "https://a.example/%C3%BC?a=1&amp;b",
            "reason": None,
            "changes": ["loc-resolved", "not-normalised", "double-entity-escape"],
        },
    ]


def test_no_utf_8() -> None:
    """Bytes that are no UTF-8 cost their own line only, and show as what they are; the output is UTF-8."""
    said = explain("/ü\n".encode() + b"/\xff\n/\xe4\xbd\n/a\n", POLICY)
    assert "/ü" in said.decode()
    reasons = [(line["input"], line["reason"]) for line in map(json.loads, said.splitlines())]
    refused = [("/\udcff", "url-surrogate"), ("/\udce4\udcbd", "url-surrogate")]
    assert reasons == [("/ü", None), *refused, ("/a", None)]


def test_huge_line() -> None:
    """A line longer than any URL is refused, its start is shown, and its neighbours are judged as ever."""
    huge = "/ü" * MAX_LINE_BYTES
    before, long, after = explained(f"/a\n{huge}\n/b\n".encode())
    assert (before["loc"], after["loc"]) == ("https://a.example/a", "https://a.example/b")
    assert (long["loc"], long["reason"], long["changes"]) == (None, "loc-too-long", [])
    assert huge.startswith(long["input"])
    assert SHOWN_BYTES - 4 < len(long["input"].encode()) <= SHOWN_BYTES


def test_huge_line_is_bounded() -> None:
    """A line without an end, 128 MiB of it, is not held; what follows it is read as ever."""
    tracemalloc.start()
    blocks = (b"a" * (1 << 18) for _ in range(512))
    found = list(batches(block for part in (blocks, [b"a\n/b"]) for block in part))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (1 << 20)
    assert [line["reason"] for batch in found for line in explained(batch)] == ["loc-too-long", None]


@given(st.binary(max_size=60).map(lambda text: text.replace(b"x", b"\n")), st.lists(st.integers(1, 9), min_size=1))
def test_batches_are_whole_lines(text: bytes, sizes: list[int]) -> None:
    """However the bytes come, what is yielded are all lines, whole, in order."""
    edges = [0]
    while edges[-1] < len(text):
        edges.append(edges[-1] + sizes[len(edges) % len(sizes)])
    found = list(batches(text[start:end] for start, end in pairwise(edges)))
    assert b"".join(found) == text
    assert all(batch.endswith(b"\n") for batch in found[:-1])


def test_any_bytes() -> None:
    """Each line of random bytes gets one JSON line."""
    text = random.Random(7).randbytes(20_000)
    assert len(explained(text)) == text.removesuffix(b"\n").count(b"\n") + 1


def test_much_is_gathered(tmp_path: Path) -> None:
    """Issue 3.8: where much comes, the policy is asked about 10,000 lines and more at once."""
    path = tmp_path / "lines"
    line = b"https://a.example/a-path-of-some-length/and-more/12345678\n"
    path.write_bytes(line * (4 * GATHERED_BYTES // len(line)))
    with path.open("rb") as file:
        sizes = [batch.count(b"\n") for batch in batches(reads(file.fileno()))]
    assert sum(sizes) == path.stat().st_size // len(line)
    assert sizes[0] > 10_000
    assert len(sizes) <= 5


def test_a_pipe_of_small_reads_is_gathered() -> None:
    """Through a pipe, that gives 64 KiB a read, several reads are answered together."""
    ours, theirs = os.pipe()
    line = b"https://a.example/" + b"a" * 62 + b"\n"
    written = line * 20_000

    def write() -> None:
        with os.fdopen(theirs, "wb") as pipe:
            pipe.write(written)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(ours, "rb") as pipe:
        found = list(reads(pipe.fileno()))
    writer.join()
    assert b"".join(found) == written
    assert max(map(len, found)) > 1 << 17


@pytest.mark.parametrize("text", [b"/a\n", b"/a\n/b\n", b"x" * 5_000 + b"\n"])
def test_a_pipe_that_stays_open_is_answered(text: bytes) -> None:
    """Who waits for an answer gets it, though the pipe is not closed; the rest comes when it is."""
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as reading, os.fdopen(theirs, "wb", buffering=0) as writing:
        found = batches(reads(reading.fileno()))
        for _ in range(2):
            writing.write(text)
            assert next(found) == text
        writing.write(b"/last")
        writing.close()
        assert list(found) == [b"/last"]
