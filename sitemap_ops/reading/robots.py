"""A robots.txt, and the sitemaps that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SITEMAP = re.compile(r"\s*sitemap\s*:\s*(\S*)", re.IGNORECASE)


@dataclass(frozen=True)
class Robots:
    """A robots.txt: where it is, and its text, None where there is none."""

    location: str
    text: str | None

    def sitemaps(self) -> list[tuple[int, str]]:
        """The lines and values of its Sitemap records, which belong to no group (RFC 9309 2.2.4)."""
        lines = (self.text or "").lstrip("\ufeff").splitlines()
        found = ((number, _SITEMAP.match(line)) for number, line in enumerate(lines, 1))
        return [(number, match[1]) for number, match in found if match]

    def names(self, url: str) -> bool:
        """Whether it names a sitemap: by its URL, or by its file name where that is all that is known."""
        values = [value for _, value in self.sitemaps()]
        return url in values or ("://" not in url and any(value.endswith(f"/{url}") for value in values))
