"""The records in `state`: what each release holds, and which of them is the site now.

A site's history is a chain: `current.json` names the manifest of the release that is live, each manifest the one
before. Records are JSON with sorted keys, so that equal records are equal bytes. Reading is strict: better to stop
than to publish on a misread past.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sitemap_ops.errors import TargetError

SCHEMA: Literal[1] = 1
STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class ShardRecord:
    """One sitemap file. Sizes are bytes before and after gzip, `sha256` is of the XML before gzip (C-12)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    set: str
    section: str
    entries: int
    xml_bytes: int
    gzip_bytes: int
    sha256: str
    lastmod: str
    """`as_of` of the run in which this content entered the live site, such as 2026-12-01T04:44:19+00:00 (P-41)."""
    first_loc: str = ""
    last_loc: str = ""


@dataclass(frozen=True)
class IndexRecord:
    """One public index as the release wants it; `etag` is what was at its key before, None where nothing was."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    set: str
    sha256: str
    bytes: int
    etag: str | None


@dataclass(frozen=True)
class Unlisted:
    """A file that an earlier release listed and that is still in the target; `since` is when it left the index."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    since: str


@dataclass(frozen=True)
class Manifest:
    """One release, complete. `sections` gives the entries of each section, `previous` the manifest before this one."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    release: str
    run_id: str
    as_of: str
    previous: str | None
    shards: tuple[ShardRecord, ...]
    indexes: tuple[IndexRecord, ...]
    unlisted: tuple[Unlisted, ...]
    sections: Mapping[str, int]
    schema: Literal[1] = field(default=SCHEMA)


@dataclass(frozen=True)
class Intent:
    """Every key of the target that a run may write, told before its first write: no object is ever without an owner."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    release: str
    run_id: str
    as_of: str
    epoch: int
    keys: tuple[str, ...]
    schema: Literal[1] = field(default=SCHEMA)


@dataclass(frozen=True)
class Current:
    """The one fence: which release the site is, and how many commits led here. `manifest` is its manifest's key."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    epoch: int
    release: str
    manifest: str
    indexes: tuple[IndexRecord, ...]
    schema: Literal[1] = field(default=SCHEMA)


Record = TypeVar("Record", Manifest, Intent, Current)


def to_json(record: Manifest | Intent | Current) -> bytes:
    return json.dumps(asdict(record), sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"


def from_json(kind: type[Record], body: bytes, where: str) -> Record:
    """The record in a body. Raises TargetError naming `where` it lies: another schema, another kind, or damage."""
    try:
        version = json.loads(body).get("schema")
        if isinstance(version, int) and version > SCHEMA:
            raise TargetError(
                f"{where} was written by a newer sitemap-ops (schema {version}, this one knows {SCHEMA}):"
                " update this installation, or give it a `state` of its own."
            )
        return TypeAdapter(kind).validate_json(body)
    except (ValueError, AttributeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        at = f" at {'.'.join(map(str, first['loc']))}: {first['msg']}" if first else ""
        raise TargetError(
            f"{where} is damaged{at}: restore it from a backup or an older version of the object, or move it away to"
            " publish as if for the first time."
        ) from None
