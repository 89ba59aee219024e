"""Where the files to be judged lie: a folder, an object store. What touches the world is here and in `web`.

A place opens locations as streams of bytes, and finds what an index lists. The judging core never sees it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

from sitemap_ops.errors import UsageError
from sitemap_ops.reading.origins import path_of
from sitemap_ops.reading.robots import Robots
from sitemap_ops.reading.stop import Stop
from sitemap_ops.reading.unpack import BLOCK, MAX_BYTES
from sitemap_ops.storage import Store, is_key

MAX_ROBOTS_BYTES = 16 * BLOCK
"""Twice what engines read (G-14): a longer one is told to be so."""
MAX_TAIL = 8
"""Segments of a listed address by which a file is looked for beside its index."""
SITEMAP_NAME = re.compile(r"(?i)\.(xml|txt)(\.gz)?$")
NOT_SITEMAPS = re.compile(r"(?i)(^|/)(robots|humans|llms(-full)?|ads|app-ads|security)\.txt$")


class NothingThere(UsageError):
    """A location with nothing to read: no such file or folder, or a folder without a sitemap."""


@dataclass(frozen=True)
class Opened:
    """One file, ready to be read once.

    name: its file name or URL path. url: where engines fetch it. headers: as served, lower-case names; None where there
    are none (a plain file). close: to be called when done.
    """

    name: str
    chunks: Iterator[bytes]
    url: str | None = None
    headers: Mapping[str, str] | None = None
    close: Callable[[], None] = field(default=lambda: None)


class Place(Protocol):
    """A set of locations that belong together."""

    def start(self) -> Sequence[str]:
        """The locations to judge first. Raises NothingThere where there are none."""

    def open(self, location: str) -> Opened:
        """A location's bytes. Raises Stop where there are none."""

    def find(self, loc: str, index: str) -> str | None:
        """Where that lies which the index at `index` lists; None: nowhere. Raises Stop if it may not be opened."""

    def robots(self) -> Robots | None:
        """The robots.txt that stands beside; None where none is to be expected."""

    def url(self, location: str) -> str:
        """Where engines fetch a location; its bare name where that is not known."""

    def show(self, location: str) -> str:
        """A location as it is told to people."""


class Files(Protocol):
    """Named byte streams below one root."""

    def names(self) -> Sequence[str]: ...

    def exists(self, name: str) -> bool:
        """Whether there is one of that name; a name may be anything."""

    def may_hold(self, folder: str) -> bool:
        """Whether there may be any in a folder, told soon: "" or a name that ends in "/"."""

    def open(self, name: str) -> tuple[Iterator[bytes], Mapping[str, str] | None]: ...

    def show(self, name: str) -> str: ...


@dataclass(frozen=True)
class Folder:
    """Files below a folder."""

    root: Path

    def names(self) -> Sequence[str]:
        return [path.relative_to(self.root).as_posix() for path in sorted(self.root.rglob("*")) if path.is_file()]

    def exists(self, name: str) -> bool:
        return is_key(name) and os.path.isfile(f"{self.root}/{name}")  # noqa: PTH113 - an index may list 50,000

    def open(self, name: str) -> tuple[Iterator[bytes], Mapping[str, str] | None]:
        return self._read(self.root / name), None

    def may_hold(self, folder: str) -> bool:
        return not folder or folder.partition("/")[0] in self._folders

    def show(self, name: str) -> str:
        return str(self.root / name)

    @cached_property
    def _folders(self) -> set[str]:
        """The names of the folders in it."""
        try:
            with os.scandir(self.root) as entries:
                return {entry.name for entry in entries if entry.is_dir()}
        except OSError:
            return set()

    def _read(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    yield block
        except OSError as error:
            raise Stop("unreadable", message=f"The file can't be read: {error.strerror or error}.") from None


@dataclass(frozen=True)
class Objects:
    """Objects of a store, with the headers they are served with."""

    store: Store

    def names(self) -> Sequence[str]:
        return [stored.key for stored in self.store.list()]

    def exists(self, name: str) -> bool:
        return is_key(name) and self.store.head(name) is not None

    def may_hold(self, folder: str) -> bool:
        return True

    def open(self, name: str) -> tuple[Iterator[bytes], Mapping[str, str] | None]:
        stored = self.store.head(name)
        if stored is None:
            raise Stop("unreadable", message="There is no such object.")
        if stored.size > MAX_BYTES:
            raise Stop("too-large", value=f"{stored.size:,} bytes as stored")
        body = self.store.get(name)
        if body is None:
            raise Stop("unreadable", message="There is no such object.")
        told = stored.headers
        headers = None
        if told is not None:
            both = {
                "content-type": told.content_type,
                "cache-control": told.cache_control,
                "content-encoding": told.content_encoding,
            }
            headers = {key: value for key, value in both.items() if value}
        return _blocks(body[0]), headers

    def show(self, name: str) -> str:
        return f"{self.store.uri.rstrip('/')}/{name}"


def _blocks(body: bytes) -> Iterator[bytes]:
    view = memoryview(body)
    for start in range(0, len(body), BLOCK):
        yield bytes(view[start : start + BLOCK])


@dataclass(frozen=True)
class Tree:
    """A folder or a prefix, or one file of it.

    only: the name of the one file to start from; None for all. base_url: where the root is served, if that is known.
    """

    files: Files
    only: str | None = None
    base_url: str | None = None

    def start(self) -> Sequence[str]:
        if self.only is not None:
            return [self.only]
        found = [name for name in self.files.names() if SITEMAP_NAME.search(name) and not NOT_SITEMAPS.search(name)]
        if not found:
            raise NothingThere(
                f"There is no sitemap in {self.files.show('')}: files named *.xml, *.xml.gz, *.txt or *.txt.gz."
            )
        return found

    def open(self, location: str) -> Opened:
        chunks, headers = self.files.open(location)
        return Opened(location, chunks, self.url(location) if self.base_url else None, headers)

    def url(self, location: str) -> str:
        return location if self.base_url is None else f"{self.base_url.rstrip('/')}/{quote(location)}"

    def find(self, loc: str, index: str) -> str | None:
        """By base_url where that is known; else the longest tail of the loc's path that is a file beside the index."""
        base = (self.base_url or "").rstrip("/") + "/"
        if self.base_url is not None and loc.startswith(base):
            candidates = [unquote(loc.removeprefix(base).partition("?")[0])]
        else:
            head, _, name = path_of(loc).rpartition("/")
            folders = self._beside.get((index, head))
            if folders is None:
                folders = self._beside[index, head] = self._tails(index, head)
            candidates = [folder + unquote(name) for folder in folders]
        return next(filter(self.files.exists, candidates), None)

    @cached_property
    def _beside(self) -> dict[tuple[str, str], list[str]]:
        """By index and the folder of a listed address: where the file may be. An index lists 50,000 of one folder."""
        return {}

    def _tails(self, index: str, head: str) -> list[str]:
        """The tails of an address's folder, longest first, below the index's own."""
        start = index.rpartition("/")[0]
        tail = "/".join(head.rsplit("/", MAX_TAIL)[-MAX_TAIL:])
        segments = [part for part in unquote(tail).split("/") if part not in ("", ".", "..")]
        below = ["/".join([*filter(None, [start]), *segments[at:], ""]) for at in range(len(segments) + 1)]
        return [folder for folder in below if self.files.may_hold(folder)]

    def robots(self) -> Robots | None:
        if not self.files.exists("robots.txt"):
            return None
        chunks = islice(self.files.open("robots.txt")[0], MAX_ROBOTS_BYTES // BLOCK)
        return Robots(self.files.show("robots.txt"), b"".join(chunks).decode("utf-8", "replace"))

    def show(self, location: str) -> str:
        return self.files.show(location)
