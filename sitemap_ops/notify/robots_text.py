"""Our lines in somebody's robots.txt: between two comments, so that they are known again and nothing else is touched.

Works on bytes: what else the file holds, in whatever charset and line ends, stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SITEMAP = re.compile(rb"[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE)


def merged(body: bytes, lines: Sequence[str], site: str) -> bytes:
    """The robots.txt with the site's Sitemap lines and no others of its own (P-48).

    A line that is there outside of the comments stays, and is not written again.
    """
    start, end = (f"# sitemap-ops {word} {site}".encode() for word in ("begin", "end"))
    newline = b"\r\n" if b"\r\n" in body or body.endswith(b"\r") else b"\n"
    before, after, found = _around(body, start, end)
    foreign = {match[1] for line in (before + after).splitlines() if (match := _SITEMAP.match(line))}
    ours = [line.encode() for line in lines if line.partition(":")[2].strip().encode() not in foreign]
    block = b"".join(line + newline for line in [start, *ours, end]) if ours else b""
    if found:
        return before + block + after
    if not block:
        return body
    gap = b"" if not before or before.endswith(b"\n") else newline
    return before + gap + (newline if before.strip() else b"") + block


def _around(body: bytes, start: bytes, end: bytes) -> tuple[bytes, bytes, bool]:
    """What stands before and after our lines. Without an end (someone cut it) they end where Sitemap lines do."""
    lines = body.splitlines(keepends=True)
    stripped = [line.strip() for line in lines]
    if start not in stripped:
        return body, b"", False
    first = stripped.index(start)
    last = first
    while last + 1 < len(lines) and _SITEMAP.match(lines[last + 1]):
        last += 1
    if last + 1 < len(lines) and stripped[last + 1] == end:
        last += 1
    return b"".join(lines[:first]), b"".join(lines[last + 1 :]), True
