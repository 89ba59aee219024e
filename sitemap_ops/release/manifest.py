"""The records in `state`: what each release holds, and which of them is the site now.

`current.json` names the manifest of the release that is live; a manifest names those before it that are kept. Records
are JSON with sorted keys, so that equal records are equal bytes. Reading is strict: better to stop than to publish on a
misread past.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sitemap_ops.errors import TargetError
from sitemap_ops.release.schema import SCHEMA, migrated

STRICT = ConfigDict(extra="forbid", strict=True)

Outcome = Literal["published", "forced", "rolled back", "adopted", "rebuilt"]
"""How a release came to be; "forced" is a build that a guard had stopped."""


@dataclass(frozen=True)
class ShardRecord:
    """One sitemap file. Sizes are bytes before and after gzip, `sha256` is of the content before gzip (C-12)."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    set: str
    section: str
    entries: int
    xml_bytes: int
    gzip_bytes: int
    sha256: str
    lastmod: str | None
    """`as_of` of the run in which this content entered the live site, such as 2026-12-01T04:44:19+00:00 (P-41); None
    for a file that another program made and dated nowhere."""
    first_loc: str = ""
    last_loc: str = ""


@dataclass(frozen=True)
class IndexRecord:
    """One public index as the release wants it; `max_files` is how many files one of its set may list."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    set: str
    sha256: str
    bytes: int
    max_files: int


@dataclass(frozen=True)
class Unlisted:
    """A file that is, or may be, in the target and that no index lists.

    since: as_of of the run that took it out of the index, or found that a run which never committed had left it.
    epoch: that run's. digests: what this program may have put there; other content is not its own (none: not known).
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    key: str
    since: str
    epoch: int
    digests: tuple[str, ...]


@dataclass(frozen=True)
class IdleBody:
    """A body in `state` that the release does not use; `since` and `epoch` are of the first such release."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    sha256: str
    since: str
    epoch: int


@dataclass(frozen=True)
class Past:
    """An earlier release that is kept: what a list of releases says of it, and its manifest's key."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    release: str
    manifest: str
    epoch: int
    as_of: str
    outcome: Outcome
    restores: str | None
    entries: int
    shards: int
    rejected: int | None


@dataclass(frozen=True)
class Manifest:
    """One release, complete.

    previous: the key of the manifest before. sections: the entries of each section. gone: indexes of the release before
    that are removed at the end of its projection. idle: bodies that only earlier releases use. guests: sitemaps of
    another program, by URL, that its main index lists too. restores: the release that a rollback brought back. tracked:
    the key of its records of tracked pages, None where the site tracks none.
    history: the releases kept besides it, newest first; None where a manifest of schema 1 did not say.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    release: str
    run_id: str
    as_of: str
    epoch: int
    outcome: Outcome
    previous: str | None
    shards: tuple[ShardRecord, ...]
    indexes: tuple[IndexRecord, ...]
    gone: tuple[str, ...]
    unlisted: tuple[Unlisted, ...]
    idle: tuple[IdleBody, ...]
    sections: Mapping[str, int]
    rejected: int | None
    history: tuple[Past, ...] | None
    restores: str | None = None
    guests: tuple[str, ...] = ()
    tracked: str | None = None
    schema: Literal[2] = field(default=SCHEMA)

    @property
    def contents(self) -> dict[str, str]:
        """The digest of every file that the release holds, by key, its indexes among them."""
        return {each.key: each.sha256 for each in self.shards} | {each.key: each.sha256 for each in self.indexes}


@dataclass(frozen=True)
class Intent:
    """Every key of the target that a run may write, told before its first write: no object is ever without an owner.

    epoch: of the release that was live when the run began. files: the digest of what it will put, by key.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    release: str
    run_id: str
    as_of: str
    epoch: int
    files: Mapping[str, str]
    schema: Literal[2] = field(default=SCHEMA)


@dataclass(frozen=True)
class Current:
    """The one fence: which release the site is, and how many commits led here. `manifest` is its manifest's key."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site: str
    epoch: int
    release: str
    manifest: str
    indexes: tuple[IndexRecord, ...]
    schema: Literal[2] = field(default=SCHEMA)


@dataclass(frozen=True)
class Projected:
    """Says that the public files are those of the release of this epoch, all of them."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    epoch: int
    release: str
    schema: Literal[2] = field(default=SCHEMA)


AnyRecord = Manifest | Intent | Current | Projected
Record = TypeVar("Record", Manifest, Intent, Current, Projected)


_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind) for kind in (Manifest, Intent, Current, Projected)
}


def to_json(record: AnyRecord) -> bytes:
    return json.dumps(asdict(record), sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"


def from_json(kind: type[Record], body: bytes, where: str) -> Record:
    """The record in a body, of this schema or an older one.

    Raises TargetError naming `where` it lies: a newer schema, another kind, or damage.
    """
    try:
        read = json.loads(body)
        version = read.get("schema")
        if isinstance(version, int) and version > SCHEMA:
            raise TargetError(
                f"{where} was written by a newer sitemap-ops (schema {version}, this one knows {SCHEMA}):"
                " update this installation, or give it a `state` of its own."
            )
        record: Record = _ADAPTERS[kind.__name__].validate_json(json.dumps(migrated(kind.__name__, read)))
        return record
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        at = f" at {'.'.join(map(str, first['loc']))}: {first['msg']}" if first else ""
        raise TargetError(
            f"{where} is damaged{at}: restore it from a backup or an older version of the object, or, if that can't be"
            " had, delete current.json and make `state` anew with rebuild-state."
        ) from None
