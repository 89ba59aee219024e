"""Small files for the validator's tests, and what it says about them."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sitemap_ops.validate import Validation, validate

NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)
NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
EXTENSIONS = (
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
Files = Mapping[str, bytes]


def urlset(
    *entries: str,
    attributes: str = "",
    namespace: str = NS,
    declaration: str = '<?xml version="1.0" encoding="UTF-8"?>',
) -> bytes:
    body = "\n".join(entries)
    return f'{declaration}\n<urlset xmlns="{namespace}"{attributes}>\n{body}\n</urlset>\n'.encode()


def page(loc: str = "https://shop.example/a", rest: str = "") -> str:
    return f"<url><loc>{loc}</loc>{rest}</url>"


def pages(*locs: str) -> bytes:
    return urlset(*map(page, locs))


def extended(*rest: str, loc: str = "https://shop.example/a") -> bytes:
    """One entry with extension tags."""
    return urlset(page(loc, "".join(rest)), attributes=EXTENSIONS)


def index(*entries: str) -> bytes:
    body = "\n".join(entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{NS}">\n{body}\n</sitemapindex>\n'.encode()


def shard(name: str, rest: str = "<lastmod>2024-06-01</lastmod>", root: str = "https://shop.example/") -> str:
    return f"<sitemap><loc>{root}{name}</loc>{rest}</sitemap>"


def gz(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


@dataclass(frozen=True)
class Case:
    """A rule, its key in the rule table, files that break it and files that keep it.

    A file alone is `sitemap.xml`, and is asked for by that name; several are asked for as a folder.
    """

    rule: str
    key: str
    bad: bytes | Files
    good: bytes | Files
    level: str = "error"
    engines: Sequence[str] = ()
    base_url: str | None = None

    @property
    def id(self) -> str:
        return f"{self.rule} {self.key} {'+'.join(self.engines)}".strip()


def said(folder: Path, files: bytes | Files, engines: Sequence[str] = (), base_url: str | None = None) -> Validation:
    """What the validator says about files put into a folder."""
    named = {"sitemap.xml": files} if isinstance(files, bytes) else files
    for name, body in named.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    asked = folder / next(iter(named)) if len(named) == 1 else folder
    return validate(asked, engines=engines, base_url=base_url, now=NOW)


def keys(validation: Validation) -> set[str]:
    return {key for _, key in validation.counts}


def check(case: Case, tmp_path: Path) -> None:
    """The bad files get the finding with its level and rule; the good ones do not get it."""
    bad = said(tmp_path / "bad", case.bad, case.engines, case.base_url)
    code = case.key.partition(":")[0]
    found = [one for one in bad.findings if one.code == code and one.level == case.level]
    assert case.key in keys(bad), f"not found; found {sorted(keys(bad))}"
    assert found
    good = said(tmp_path / "good", case.good, case.engines, case.base_url)
    assert case.key not in keys(good), [one for one in good.findings if one.code == code]
