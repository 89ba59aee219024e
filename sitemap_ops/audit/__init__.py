"""Look at a site as crawlers find it: its live index and files over HTTP, and a sample of the pages they list.

Files are judged by every rule of `validate`; pages by their status, redirects, directives, canonical, type, time and
size. Nothing is asked that is not the site's own, no private address unless the site file allows it, and no faster
than it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from sitemap_ops.audit.addresses import Guard, Refused, guarded_pools
from sitemap_ops.audit.crawl import Crawl, Crawled
from sitemap_ops.audit.fetch import Fetcher
from sitemap_ops.audit.judge import Wanted
from sitemap_ops.audit.pace import Pace
from sitemap_ops.audit.report import AuditReport, build_audit_report
from sitemap_ops.audit.sample import Sample
from sitemap_ops.audit.watch import Watch
from sitemap_ops.errors import UsageError
from sitemap_ops.reading.origins import origin_of
from sitemap_ops.site import Audit, Site
from sitemap_ops.urls import UrlPolicy
from sitemap_ops.validate import validate
from sitemap_ops.validate.findings import Validation

__all__ = ["Audited", "audit"]

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Audited:
    """report: JSON-able. validation: the findings in it, as `validate.output` shows them."""

    report: AuditReport
    validation: Validation


def audit(
    site: Site,
    indexes: Sequence[str],
    asked: Audit,
    *,
    now: datetime | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Audited:
    """Read the indexes at these URLs and all they list, then ask for the sampled pages.

    asked: sample, seed, rate and limits. now: held against lastmods and file times. progress: told ("validate", files
    done, known) and ("audit", pages done, sampled). Raises UsageError where the site is at a private address and that
    was not allowed; everything else that goes wrong is a finding.
    """
    started = datetime.now(UTC)
    guard = Guard(asked.allow_private)
    own = [site.base_url, *site.urls.hosts]
    for address in (site.base_url, site.files_url):
        _check(guard, address)
    sample = Sample(asked.sample, asked.seed, own)
    result = Validation(indexes[0], site.engines)
    with Watch() as watch:
        pools = guarded_pools(guard, watch, maxsize=asked.concurrency, block=False)
        for index in indexes:
            found = validate(
                index,
                engines=site.engines,
                now=now,
                hosts=own,
                progress=progress,
                pool=pools,
                listed=sample.take,
            )
            _add(result, found)
        crawled = _pages(site, asked, sample.urls(), Fetcher(pools, watch), result, progress)
        pools.clear()
    finished = datetime.now(UTC)
    report = build_audit_report(site, asked, indexes, result, crawled, started=started, finished=finished)
    return Audited(report, result)


def _check(guard: Guard, address: str) -> None:
    parts = urlsplit(address)
    try:
        guard.addresses(parts.hostname or "", parts.port or 443)
    except Refused as refused:
        raise UsageError(f"{address} is not asked: {refused} in the site file.") from None
    except (OSError, UnicodeError):
        return  # whoever asks for it is told


def _add(result: Validation, found: Validation) -> None:
    result.files += found.files
    result.urls += found.urls
    result.findings += found.findings
    for key, count in found.counts.items():
        result.counts[key] = result.counts.get(key, 0) + count


def _pages(
    site: Site, asked: Audit, urls: Sequence[str], fetcher: Fetcher, result: Validation, progress: Progress
) -> Crawled:
    wanted = Wanted(asked.slow, site.engines, UrlPolicy(any_host=True, charset=site.urls.charset))
    origins = [origin for origin in map(origin_of, (site.base_url, *site.urls.hosts)) if origin is not None]
    crawl = Crawl(fetcher, Pace(asked.rate), wanted, origins, asked.concurrency)
    for record in crawl.run(urls, lambda done: progress("audit", done, len(urls))):
        result.take(record)
    return crawl.crawled
