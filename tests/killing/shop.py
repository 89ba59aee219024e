"""A small site whose releases differ in every way that publishing knows, each made by the real steps."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sitemap_ops.engines.profiles import PROFILES
from sitemap_ops.hashing import hash64
from sitemap_ops.release.history import read_before
from sitemap_ops.sharding import Piece, Sharder
from sitemap_ops.site import Site, load_site
from sitemap_ops.steps import assemble, extract, prepare, publish
from sitemap_ops.steps.releases import rollback
from sitemap_ops.steps.run import workspace_of
from sitemap_ops.storage import open_store
from tests.killing.places import Place

BASE = "https://www.example.com"
FIRST_DAY = datetime(2026, 12, 1, 4, 44, 19, tzinfo=UTC)
MAX_URLS = 20
"""Entries a file may hold here, so that a small inventory fills many."""

SECTIONS = ("products", "pages", "outlet", "blog")

SITE = """\
site: shop
base_url: {base}/
target: {target}
state: {state}
work: {work}
names: {names}
schedule: null
guards: {{max_drop: 1}}
sections:
{sections}
"""
_SECTION = "  - {{name: {name}, source: {{type: csv, path: {name}.csv}}, loc: url, lastmod: changed}}"

Inventory = Mapping[str, Mapping[str, str]]
"""By section, each page's path and the day it changed."""


@pytest.fixture(scope="module", autouse=True)
def small_files() -> Iterator[None]:
    """All engines' files hold MAX_URLS entries at most."""
    with pytest.MonkeyPatch.context() as patch:
        core = PROFILES["core"]
        patch.setitem(PROFILES, "core", replace(core, limits=replace(core.limits, max_urls=MAX_URLS)))  # type: ignore[arg-type]
        yield


@dataclass(frozen=True)
class Made:
    """A run whose files are rendered, and only have to be published."""

    run: dict[str, Any]
    assembled: dict[str, Any]


@dataclass(frozen=True)
class Shop:
    """The site at a place."""

    site: Site
    place: Place

    @classmethod
    def at(cls, place: Place, folder: Path, names: str = "stable", keys: str = "", work: Path | None = None) -> Shop:
        """keys: further lines of the site file. work: where runs stage their files, by default below the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        sections = "\n".join(_SECTION.format(name=name) for name in SECTIONS)
        text = SITE.format(
            base=BASE, target=place.target, state=place.state, names=names,
            work=(work or folder / "work").as_uri() + "/",
            sections=sections,
        )  # fmt: skip
        (folder / "shop.yaml").write_text(keys + text)
        return cls(load_site(folder / "shop.yaml"), place)

    def begin(self, run_id: str, *, day: float = 0) -> dict[str, Any]:
        """What a run is told at its start: its name, its instant, and what was live then."""
        as_of = FIRST_DAY + timedelta(days=day)
        return prepare(self.site, run_id=run_id, as_of=as_of, connections=self.place.connections)

    def make(self, inventory: Inventory, run_id: str, *, day: float = 0) -> Made:
        for name in SECTIONS:
            rows = [f"{path},{changed}" for path, changed in inventory.get(name, {}).items()]
            (self.site.folder / f"{name}.csv").write_text("\n".join(["url,changed", *rows]) + "\n")
        run = self.begin(run_id, day=day)
        connections = self.place.connections
        parts = [extract(self.site, run, name, connections) for name in SECTIONS]
        return Made(run, assemble(self.site, run, parts, connections))

    def again(self, made: Made) -> Made:
        """The run as one that begins now, over what is live now."""
        return replace(made, run=made.run | {"fence": self.begin("again")["fence"]})

    def anew(self, made: Made, run_id: str, *, day: float) -> Made:
        """A new run that begins now and has the same rows: their files are made already."""
        return replace(made, run=self.begin(run_id, day=day) | {"work": made.run["work"]})

    def publish(self, made: Made, connections: Any = None, **options: Any) -> dict[str, Any]:
        return publish(self.site, made.run, made.assembled, connections or self.place.connections, **options)

    def listed(self) -> list[str]:
        """The names of the files of the live release."""
        manifest = read_before(open_store(self.site.state, self.place.connections), self.site.site).manifest
        return [shard.key for shard in manifest.shards] if manifest else []

    def files_of(self, made: Made) -> dict[str, bytes]:
        """The files that a run will publish."""
        with workspace_of(self.site, made.run, self.place.connections) as workspace:
            names = [shard["key"] for shard in workspace.read_json(made.assembled)["shards"]]
            return {name: workspace.fetch(f"shards/{name}").read_bytes() for name in names}

    def rollback(self, to: str, connections: Any = None, *, day: float = 0) -> dict[str, Any]:
        as_of = FIRST_DAY + timedelta(days=day)
        return rollback(self.site, to, connections or self.place.connections, as_of=as_of)


def urls_of(inventory: Inventory) -> frozenset[tuple[str, str]]:
    """Section and URL of every page."""
    return frozenset((name, BASE + path) for name, pages in inventory.items() for path in pages)


def staying(*inventories: Inventory) -> frozenset[tuple[str, str]]:
    """The URLs that stay in their section."""
    return frozenset.intersection(*map(urls_of, inventories))


def inventories(files: int, seed: int = 0) -> tuple[Inventory, Inventory]:
    """A site before and after an edit, each of so many files.

    With more than one file, files are added, removed and changed, and one stays as it was; with several, URLs that stay
    move to other files, because cuts move: away from a URL that leaves, and to some of the many that come.
    """
    chance = random.Random(seed)
    for _ in count():
        before = _filled(_random(chance, files), files)
        after = _filled(edited(before, chance), files)
        if len(cuts(before)) == len(cuts(after)) == files and (files == 1 or _every_kind(before, after)):
            return before, after
    raise AssertionError("unreachable")


def cuts(inventory: Inventory) -> dict[tuple[str, str], dict[str, str]]:
    """The files of an inventory, by section and key: what is in each."""
    found = {}
    for name, pages in inventory.items():
        paths = sorted(pages)
        sharder = Sharder(MAX_URLS, 1 << 20)
        offsets = pa.array(range(len(paths) + 1), pa.int64()).to_numpy()
        locs = pa.array([BASE + path for path in paths], pa.large_string())
        piece = Piece(offsets, pa.array(bytes(len(paths)), pa.uint8()).to_numpy(), hash64(locs))
        for shard in [*sharder.add(piece), *sharder.finish()]:
            found[name, shard.key] = {path: pages[path] for path in paths[: shard.entries]}
            del paths[: shard.entries]
    return found


def _random(chance: random.Random, files: int) -> dict[str, dict[str, str]]:
    products = {f"/p/{chance.randrange(10**6):06d}": "2026-10-01" for _ in range(files * MAX_URLS)}
    if files == 1:
        return {"pages": dict(list(products.items())[:9])}
    return {"products": products, "outlet": {f"/o/{n}": "2026-10-02" for n in range(3)}}


def edited(before: Inventory, chance: random.Random) -> dict[str, dict[str, str]]:
    """A section leaves, another comes; of the first one some leave, some come in one place, one changes."""
    name = next(iter(before))
    pages = dict(before[name])
    gone, changed, near = chance.sample(sorted(pages), 3)
    del pages[gone]
    pages[changed] = "2026-11-30"
    new = {f"{near}-{n:02d}": "2026-11-29" for n in range(3)}
    if len(before) == 1:
        return {name: pages | new}
    first = [next(iter(files)) for (section, _), files in cuts(before).items() if section == name]
    del pages[first[len(first) // 2]]
    more = {f"{near}-x{n:02d}": "2026-11-28" for n in range(MAX_URLS)}
    return {name: pages | new | more, "blog": {f"/b/{n}": "2026-11-30" for n in range(4)}}


def _filled(inventory: Inventory, files: int) -> Inventory:
    """As many files at most: without the last pages of the first section."""
    name = next(iter(inventory))
    pages = dict(inventory[name])
    while pages and len(cuts({**inventory, name: pages})) > files:
        del pages[max(pages)]
    return {**inventory, name: pages}


def _every_kind(before: Inventory, after: Inventory) -> bool:
    was, now = cuts(before), cuts(after)
    both = was.keys() & now.keys()
    place = {(name, path): key for (name, key), pages in was.items() for path in pages}
    moved = {path for (name, key), pages in now.items() for path in pages if place.get((name, path), key) != key}
    kinds = [now.keys() - was.keys(), was.keys() - now.keys(), [k for k in both if was[k] != now[k]],
             [k for k in both if was[k] == now[k]], moved]  # fmt: skip
    return all(map(len, kinds))
