"""A crawler that looks at the live site again and again, while it is being published and after each kill."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from lxml import etree

from sitemap_ops.validate import validate
from tests.killing.places import Place
from tests.killing.shop import BASE

_INDEX = re.compile(r"sitemap(-\d+)?\.xml")
_FILE = re.compile(r"shop-(?P<section>[a-z]+)-[0-9a-f]{16}(-(?P<digest>[0-9a-f]{16}))?\.xml\.gz")

Files = Mapping[str, bytes]
"""The files that are listed, by name, as they are served."""


@dataclass(frozen=True)
class Expected:
    """What has to be true of a site at every moment.

    staying: section and URL of what is never unlisted. exactly: the sites, as names of files, one of which it has to be
    (None: a mixture is right too, as long as nothing is missing).
    """

    staying: Collection[tuple[str, str]] = ()
    exactly: Collection[frozenset[str]] | None = None


@dataclass
class Reader:
    """looks: how often it looked; whole: how often nothing changed meanwhile, so that the site as a whole was seen.

    It reads a file again when its version is another one, as crawlers do: so it can look more often.
    """

    place: Place
    expected: Expected = field(default_factory=Expected)
    looks: int = 0
    whole: int = 0
    _seen: tuple[Mapping[str, object], Files] | None = None
    _bodies: dict[tuple[str, object], bytes] = field(default_factory=dict)
    _judged: dict[bytes, frozenset[str]] = field(default_factory=dict)

    def look(self) -> Files | None:
        """Read all that the indexes lead to; gives it where nothing changed meanwhile.

        Fails where a file that is listed is missing, does not unpack, or is not valid; and of a whole site where a URL
        that stays is not listed, or releases are mixed that must not be.
        """
        versions = self.place.versions()
        self.looks += 1
        if self._seen and self._seen[0] == versions:
            self.whole += 1
            return self._seen[1]
        read: dict[str, bytes | None] = {}
        files = self._crawl(versions, read)
        if read and self.place.versions() != versions:
            return None
        self._bodies |= {(name, versions.get(name)): body for name, body in read.items() if body is not None}
        self.whole += 1
        self._check(files)
        self._seen = versions, files
        return files

    def site(self) -> Files:
        """The whole site, once nothing changes any more: the last request of a killed process may still be at work."""
        while (files := self.look()) is None:
            pass
        return files

    def _crawl(self, versions: Mapping[str, object], read: dict[str, bytes | None]) -> Files:
        """What is listed; `read` gets what is not known by its version."""

        def body_of(name: str) -> bytes | None:
            version = versions.get(name)
            if version is not None and (known := self._bodies.get((name, version))) is not None:
                return known
            read[name] = self.place.read(name)
            return read[name]

        files: dict[str, bytes] = {}
        for index in filter(_INDEX.fullmatch, versions):
            body = body_of(index)
            if body is None:  # one that the release does not have any more
                continue
            for url in self._locs(index, body):
                name = url.removeprefix(f"{BASE}/")
                file = body_of(name)
                assert file is not None, f"{index} lists {name}, which is not there"
                self._locs(name, file)
                files[name] = file
        return files

    def _locs(self, name: str, body: bytes) -> frozenset[str]:
        """What a file lists; it is valid. Each content is looked at once."""
        if (known := self._judged.get(body)) is None:
            xml = gzip.decompress(body) if name.endswith(".gz") else body
            with TemporaryDirectory() as folder:
                path = Path(folder, name)
                path.write_bytes(body)
                found = validate(path, follow=False)
            errors = [kind.rule for kind in found.kinds() if kind.level == "error"]
            assert not errors, f"{name} is not valid: {errors}"
            known = frozenset(loc.text or "" for loc in etree.fromstring(xml).iter("{*}loc"))
            self._judged[body] = known
        return known

    def _check(self, files: Files) -> None:
        listed = set()
        for name, body in files.items():
            match = _FILE.fullmatch(name)
            assert match, name
            if match["digest"]:
                assert hashlib.sha256(gzip.decompress(body)).hexdigest().startswith(match["digest"]), name
            listed |= {(match["section"], url) for url in self._locs(name, body)}
        missing = set(self.expected.staying) - listed
        assert not missing, f"{len(missing)} URLs that stay are not listed, such as {sorted(missing)[0]}"
        if self.expected.exactly is not None:
            assert frozenset(files) in self.expected.exactly, f"releases are mixed: {sorted(files)}"
