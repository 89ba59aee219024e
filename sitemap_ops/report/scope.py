"""What a site has to tell its engines because of where crawlers fetch its files (C-22 to C-26)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from sitemap_ops.site import Site
from sitemap_ops.site.places import origin_of


def robots_lines(indexes: Sequence[str]) -> list[str]:
    """The lines that the robots.txt of the pages' host has to have (P-48): with them files may lie elsewhere (P-47)."""
    return [f"Sitemap: {url}" for url in indexes]


def scope_findings(site: Site) -> list[dict[str, str]]:
    """Whether the files may speak for the pages where they lie (P-44 to P-47)."""
    home = f"{origin_of(site.base_url)}/robots.txt"
    if site.cross_host:
        advice = f"Crawlers fetch the files from another host than the pages'. Name each index in {home}"
        advice += _others(site)
        return [_finding("P-47", "foreign-host", site.files_url, f"{advice}. Or serve them on the pages' host.")]
    if not urlsplit(site.base_url).path.startswith(urlsplit(site.files_url).path):
        advice = (
            f"The files lie below the pages that they list: serve them from the root, or name each index in {home}."
        )
        return [_finding("P-45", "path-scope", site.files_url, advice)]
    return []


def _others(site: Site) -> str:
    """What engines want besides robots.txt, or do not take."""
    wants = {
        "google": "verify both hosts in Search Console",
        "bing": "Bing refuses to have such a file submitted in its tools",
        "yandex": "for Yandex a redirect from the pages' host is no way round",
    }
    told = [text for engine, text in wants.items() if engine in site.engines]
    return "".join(f"; {text}" for text in told)


def _finding(rule: str, code: str, place: str, advice: str) -> dict[str, str]:
    return {"rule": rule, "code": code, "level": "warning", "place": place, "advice": advice}
