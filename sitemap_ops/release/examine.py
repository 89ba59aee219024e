"""What a file in the target is, found out by reading it: for targets whose records are lost, or another program's."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from sitemap_ops.parallel import ordered_map
from sitemap_ops.release.bodies import Bodies
from sitemap_ops.release.headers import CONTENT_TYPES
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.release.plan import CONCURRENT_REQUESTS
from sitemap_ops.storage import Store
from sitemap_ops.storage.content import GZIP_MAGIC, DamagedContent, gunzip_blocks

_ENTRY = re.compile(rb"<(?:\w+:)?url[\s>]")
_OPEN, _CLOSE = b"<loc>", b"</loc>"


@dataclass(frozen=True)
class Listed:
    """A file that an index lists."""

    key: str
    set: str
    section: str
    lastmod: str | None


def examine(files: Sequence[Listed], target: Store, bodies: Bodies) -> list[ShardRecord | None]:
    """The record of each file; None for one that is not there, or is no whole file of a kind that is published here.

    Their bodies are kept in `state`.
    """

    def record(file: Listed) -> ShardRecord | None:
        got = target.get(file.key) if file.key.endswith(tuple(CONTENT_TYPES)) else None
        content = content_of(got[0]) if got else None
        if got is None or content is None:
            return None
        digest = sha256(content).hexdigest()
        bodies.keep(got[0], digest)
        text = file.key.endswith((".txt", ".txt.gz"))
        entries, first, last = _text_facts(content) if text else _xml_facts(content)
        return ShardRecord(
            key=file.key,
            set=file.set,
            section=file.section,
            entries=entries,
            xml_bytes=len(content),
            gzip_bytes=len(got[0]),
            sha256=digest,
            lastmod=file.lastmod,
            first_loc=first,
            last_loc=last,
        )

    return list(ordered_map(record, files, workers=CONCURRENT_REQUESTS))


def content_of(body: bytes) -> bytes | None:
    """A file's content after gunzip; None where its gzip is damaged."""
    try:
        return b"".join(gunzip_blocks([body])) if body.startswith(GZIP_MAGIC) else body
    except DamagedContent:
        return None


def _xml_facts(content: bytes) -> tuple[int, str, str]:
    """How many entries there are, and the first and the last loc."""
    entries = sum(1 for _ in _ENTRY.finditer(content))
    return entries, _loc_at(content, content.find(_OPEN)), _loc_at(content, content.rfind(_OPEN))


def _loc_at(content: bytes, start: int) -> str:
    if start < 0:
        return ""
    value = content[start + len(_OPEN) : content.find(_CLOSE, start)]
    return html.unescape(value.decode("utf-8", "replace")).strip()


def _text_facts(content: bytes) -> tuple[int, str, str]:
    lines = [line for line in content.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    return len(lines), lines[0] if lines else "", lines[-1] if lines else ""
