"""From rendered pieces to shards, and from a shard to the file that is published."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sitemap_ops.filesets import FileSet
from sitemap_ops.release.plan import RenderedShard
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.xml import EXTENSIONS, FOOTER, header, loc_of, prefixes_in
from sitemap_ops.sharding import Shard, Sharder
from sitemap_ops.site import Site
from sitemap_ops.steps.derive import SetPiece


@dataclass(frozen=True)
class SetShard:
    """A shard of one section (its rank) in one file set."""

    fileset: FileSet
    rank: int
    shard: Shard


def cut(pieces: Iterable[SetPiece], sets: Sequence[FileSet], sections: int) -> Iterator[SetShard]:
    """The shards of all sets, each as soon as it is complete; pieces come in the order of their entries."""
    sharders = [[Sharder(each.limits.max_urls, room(each)) for _ in range(sections)] for each in sets]
    for each in pieces:
        for shard in sharders[each.set_][each.rank].add(each.piece):
            yield SetShard(sets[each.set_], each.rank, shard)
    for fileset, of_set in zip(sets, sharders, strict=True):
        for rank, sharder in enumerate(of_set):
            for shard in sharder.finish():
                yield SetShard(fileset, rank, shard)


def room(fileset: FileSet) -> int:
    """The bytes that a file's entries may take: what is around them counts too (P-31)."""
    if fileset.format == "txt":
        return fileset.limits.max_bytes
    prefixes = [EXTENSIONS[name] for name in fileset.extensions]
    return fileset.limits.max_bytes - len(header(prefixes, schema_location=fileset.schema_location)) - len(FOOTER)


def shard_file(site: Site, made: SetShard) -> tuple[RenderedShard, bytes]:
    """A shard's record and the bytes that are put under its key."""
    fileset, shard = made.fileset, made.shard
    section = site.sections[made.rank].name
    content = _content(fileset, shard)
    digest = hashlib.sha256(content).hexdigest()
    body = content if fileset.format == "txt" else compress(content)
    named = f"-{digest[:16]}" if site.names == "immutable" and fileset.format == "xml" else ""
    first, last = shard.pieces[0], shard.pieces[-1]
    record = RenderedShard(
        key=f"{site.site}-{section}-{shard.key}{named}{fileset.suffix}",
        set=fileset.name,
        section=section,
        entries=shard.entries,
        xml_bytes=len(content),
        gzip_bytes=len(body),
        sha256=digest,
        body_sha256=hashlib.sha256(body).hexdigest(),
        first_loc=loc_of(first.data[: first.offsets[1]].tobytes()),
        last_loc=loc_of(last.data[last.offsets[-2] :].tobytes()),
    )
    return record, body


def _content(fileset: FileSet, shard: Shard) -> bytes:
    rendered = [piece.data.data for piece in shard.pieces]
    if fileset.format == "txt":
        return b"".join(rendered)
    if not fileset.extensions:
        return b"".join([header(schema_location=fileset.schema_location), *rendered, FOOTER])
    entries = b"".join(rendered)
    return b"".join([header(prefixes_in(entries), schema_location=fileset.schema_location), entries, FOOTER])
