"""What the tests of publishing share: small releases, and the stores they go to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from sitemap_ops.release.publish import PublishResult, ReleaseSet, RenderedShard, publish
from sitemap_ops.render.gzip import compress
from sitemap_ops.render.xml import FOOTER, HEADER
from sitemap_ops.storage import Store

FIRST_DAY = datetime(2026, 12, 1, 4, 44, 19, tzinfo=UTC)


@dataclass(frozen=True)
class Site:
    site: str = "shop"
    files_url: str = "https://www.example.com/"


@dataclass(frozen=True)
class Stores:
    target: Store
    state: Store


def xml_of(*paths: str) -> bytes:
    return HEADER + b"".join(f"<url><loc>https://www.example.com{p}</loc></url>\n".encode() for p in paths) + FOOTER


def key_of(number: int) -> str:
    return f"shop-pages-{number:04x}.xml.gz"


def release_of(pages: Mapping[str, bytes]) -> tuple[list[RenderedShard], dict[str, bytes]]:
    """The shards and bodies of XML documents by key."""
    bodies = {key: compress(xml) for key, xml in pages.items()}
    return [shard_of(key, xml, bodies[key]) for key, xml in pages.items()], bodies


def shard_of(key: str, xml: bytes, body: bytes) -> RenderedShard:
    locs = [loc.decode() for loc in re.findall(b"<loc>(.*?)</loc>", xml)]
    return RenderedShard(
        key,
        "main",
        "pages",
        len(locs),
        len(xml),
        len(body),
        sha256(xml).hexdigest(),
        sha256(body).hexdigest(),
        min(locs, default=""),
        max(locs, default=""),
    )


def shop(count: int, **changed: bytes) -> dict[str, bytes]:
    """`count` shards of one URL each; `changed` gives others' XML as s3=..., by number."""
    return {key_of(n): changed.get(f"s{n}", xml_of(f"/{n}")) for n in range(count)}


def immutable(pages: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same shards under names that hold the start of their content's digest."""
    return {key.replace(".xml", f"-{sha256(xml).hexdigest()[:16]}.xml"): xml for key, xml in pages.items()}


def publish_pages(stores: Stores, pages: Mapping[str, bytes], *, day: int = 0, **options: Any) -> PublishResult:
    """Publish as the run of a day; options override what `publish` takes."""
    shards, bodies = release_of(pages)
    arguments: dict[str, Any] = {
        "site": Site(),
        "release": f"release-{day}",
        "run_id": f"run-{day}",
        "as_of": FIRST_DAY + timedelta(days=day),
        "shards": shards,
        "sets": [ReleaseSet("main", "sitemap.xml", options.pop("max_files", 50_000))],
        "body": bodies.__getitem__,
        "target": stores.target,
        "state": stores.state,
    }
    return publish(**(arguments | options))


def contents(store: Store) -> dict[str, bytes]:
    """Every object of a store."""
    found = {}
    for each in store.list():
        got = store.get(each.key)
        assert got is not None
        found[each.key] = got[0]
    return found
