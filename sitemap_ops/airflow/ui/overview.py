"""All sites at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitemap_ops.airflow.ui.sites import ListedSite
from sitemap_ops.errors import SitemapOpsError
from sitemap_ops.parallel import ordered_map
from sitemap_ops.report.archive import Standing

SITES_AT_ONCE = 8


@dataclass(frozen=True)
class SiteStanding:
    """A site and how it stands; `problem` is a sentence where its records can't be read."""

    site: ListedSite
    standing: Standing | None
    problem: str = ""


def standings(sites: Sequence[ListedSite]) -> list[SiteStanding]:
    """All sites side by side: one whose store does not answer spoils no other's line."""
    return list(ordered_map(_standing, sites, workers=SITES_AT_ONCE))


def _standing(site: ListedSite) -> SiteStanding:
    try:
        return SiteStanding(site, site.archive().standing())
    except SitemapOpsError as error:
        return SiteStanding(site, None, str(error))
