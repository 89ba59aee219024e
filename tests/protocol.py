"""What the tests of the publishing protocol share: releases whose URLs move, readers that watch, killed runs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from lxml import etree

from sitemap_ops.release.history import Fence, committed_already, read_before, read_manifest
from sitemap_ops.release.left import Keep
from sitemap_ops.release.publish import PublishResult
from sitemap_ops.release.rollback import rollback
from tests.memory_store import MemoryStore, Operations
from tests.publishing import FIRST_DAY, Site, Stores, key_of, publish_pages, xml_of

BASE = "https://www.example.com/"
INDEX = re.compile(r"sitemap(-\d+)?\.xml")
Pages = Mapping[str, bytes]
Hook = Callable[[int, str, str], None]


class Killed(Exception):
    """The process is gone."""


def memory_stores() -> Stores:
    operations = Operations()
    return Stores(MemoryStore("target", operations), MemoryStore("state", operations))


def released(pages: Pages, **options: Any) -> Stores:
    """Fresh stores with a first release; nothing where there are no pages."""
    stores = memory_stores()
    if pages:
        publish_pages(stores, pages, **options)
    return stores


def of_another_process(stores: Stores) -> Stores:
    """The same objects, for a run that comes while the first one sleeps in the middle of an operation."""
    operations = Operations()
    return Stores(*(each.of_another(operations) for each in (stores.target, stores.state)))  # type: ignore[attr-defined]


def operations_of(stores: Stores) -> Operations:
    operations: Operations = stores.target.operations  # type: ignore[attr-defined]
    return operations


def bodies(store: Any) -> dict[str, bytes]:
    return {key: body for key, (body, _) in store.objects.items()}


def pages_of(cuts: Mapping[int, range], tag: str = "") -> dict[str, bytes]:
    """Shards by number, each with the URLs of a range; `tag` changes their entries, not their URLs."""
    return {
        key_of(number): xml_of(*(f"/{n:03d}" for n in numbers)).replace(b"</loc>", f"</loc>{tag}".encode())
        for number, numbers in cuts.items()
    }


BEFORE = pages_of({1: range(10), 2: range(10, 20), 3: range(20, 30), 4: range(30, 40), 5: range(40, 50)})


def live(target: Any) -> dict[str, bytes]:
    """The content of every file that an index lists. Fails where one is missing, damaged or no XML."""
    found = {}
    for name, (body, _) in sorted(target.objects.items()):
        if INDEX.fullmatch(name):
            for loc in etree.fromstring(body).iter("{*}loc"):
                key = (loc.text or "").removeprefix(BASE)
                assert key in target.objects, f"{name} lists {key}, which is not there"
                found[key] = gzip.decompress(target.objects[key][0])
                etree.fromstring(found[key])
    return found


def urls(files: Pages) -> set[bytes]:
    return {url for xml in files.values() for url in re.findall(b"<loc>(.*?)</loc>", xml)}


def watching(target: Any, before: Pages, after: Pages, *, exactly_one: bool = False) -> Hook:
    """A reader that looks at the whole site before every operation that follows a change."""
    staying = urls(before) & urls(after)
    seen_at = -1

    def look(number: int, name: str, key: str) -> None:
        nonlocal seen_at
        if seen_at == target.changes:
            return
        seen_at = target.changes
        seen = live(target)
        assert staying <= urls(seen), f"before operation {number} ({name} {key}) a URL that stays is not listed"
        if exactly_one:
            assert seen in ({**before}, {**after}), f"before operation {number} ({name} {key}) releases are mixed"

    return look


def killing(at: int, look: Hook) -> Hook:
    """Watches, and lets the operation `at` and all after it fail, as those of a process that is gone."""

    def hook(number: int, name: str, key: str) -> None:
        look(number, name, key)
        if number >= at:
            raise Killed(f"{number}: {name} {key}")

    return hook


def put_back(stores: Stores, to: str, *, run: str = "back", day: int = 9, keep: Keep = Keep()) -> PublishResult:  # noqa: B008
    return rollback(
        site=Site(),
        to=to,
        release=run,
        run_id=run,
        as_of=(FIRST_DAY + timedelta(days=day)).isoformat(),
        target=stores.target,
        state=stores.state,
        retention=keep,
    )


def attempt(stores: Stores, pages: Pages, fence: Fence, *, day: int, **options: Any) -> PublishResult:
    """One attempt of a run that began when the fence was so."""
    before = read_before(stores.state, "shop")
    resumed = committed_already(before, fence, f"release-{day}")
    return publish_pages(stores, pages, day=day, before=before, resumed=resumed, **options)


def check_state(stores: Stores) -> None:
    """Every kept release is whole in `state`: its manifest, and every body that a rollback would need."""
    state = bodies(stores.state)
    before = read_before(stores.state, "shop")
    assert before.current and before.manifest
    kept = [before.current.manifest, *(past.manifest for past in before.manifest.history or ())]
    for key in kept:
        manifest = read_manifest(stores.state, key)
        missing = {sha for sha in manifest.contents.values() if f"bodies/{sha}.gz" not in state}
        assert not missing, f"{manifest.release} lacks {missing}"
    owned = {shard.key for shard in before.manifest.shards} | {file.key for file in before.manifest.unlisted}
    intents = (json.loads(body) for key, body in state.items() if key.endswith("/intent.json"))
    owned |= {key for intent in intents for key in intent["files"]} | {each.key for each in before.manifest.indexes}
    stray = bodies(stores.target).keys() - owned
    assert not stray, f"nobody owns {stray}"
