"""robots.txt: what to write into it, whether the live one says it, or writing it into the target (P-47, P-48, Y-23)."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urljoin, urlsplit

import urllib3

from sitemap_ops import __version__
from sitemap_ops.errors import ConflictError
from sitemap_ops.notify.client import TIMEOUT
from sitemap_ops.notify.outcome import Failed, Finding, Told, finding
from sitemap_ops.notify.published import Published
from sitemap_ops.notify.robots_text import merged
from sitemap_ops.reading.places import MAX_ROBOTS_BYTES
from sitemap_ops.reading.robots import Robots
from sitemap_ops.reading.web import reason
from sitemap_ops.report.scope import robots_lines
from sitemap_ops.storage import Headers
from sitemap_ops.validate.robots import judge_robots

KEY = "robots.txt"
HEADERS = Headers("text/plain; charset=utf-8", "public, max-age=300")
REDIRECTS = 5
"""What a crawler has to follow (RFC 9309 section 2.3.1.2)."""
PUTS = 3


def tell(published: Published) -> Told:
    """As the site file's `notify.robots` says: print, check or publish."""
    assert published.site.notify
    return {"print": _print, "check": _check, "publish": _publish}[published.site.notify.robots or "print"](published)


def _print(published: Published) -> Told:
    lines = robots_lines(published.indexes)
    return Told(f"{_root(published.site.base_url)} has to hold these lines.", {"lines": lines})


def _check(published: Published) -> Told:
    """The site's own robots.txt has to name the indexes, also where they lie on another host (P-47).

    That other host's must not forbid them.
    """
    site, engines = published.site, published.site.engines
    own = _fetch(_root(site.base_url))
    findings = [each for url in published.indexes for each in _judged(own, url, engines)]
    if site.cross_host:
        other = _fetch(_root(site.files_url))
        forbidding = [each for url in published.indexes for each in _judged(other, url, engines)]
        findings = [each for each in findings if each["code"] != "robots-blocks-sitemap"]
        findings += [each for each in forbidding if each["code"] == "robots-blocks-sitemap"]
    findings = list({(each["code"], each["advice"]): each for each in findings}.values())
    if not findings:
        return Told(f"{own.location} names every index and forbids none.")
    codes = ", ".join(sorted({each["code"] for each in findings}))
    return Told(f"{own.location} is to be mended: {codes}.", {"lines": robots_lines(published.indexes)}, findings)


def _judged(robots: Robots, url: str, engines: Sequence[str]) -> list[Finding]:
    record = judge_robots(robots, url, "index", engines)
    return [
        finding(each.rule, each.code, each.location, " ".join(filter(None, (each.message, each.value, each.advice))))
        | {"level": each.level}
        for each in record.findings
    ]


def _root(address: str) -> str:
    return urljoin(address, f"/{KEY}")


def _fetch(url: str) -> Robots:
    """What a crawler would take for the host's robots.txt: none where it answers 4xx (RFC 9309 section 2.3.1.3)."""
    headers = {"User-Agent": f"sitemap-ops/{__version__}"}
    retries = urllib3.Retry(2, redirect=REDIRECTS, backoff_factor=0.5, raise_on_redirect=True)
    try:
        with urllib3.PoolManager(headers=headers, timeout=TIMEOUT, retries=retries) as pool:
            response = pool.request("GET", url, preload_content=False)
            body = response.read(MAX_ROBOTS_BYTES, decode_content=True)
            response.close()
    except urllib3.exceptions.HTTPError as error:
        raise Failed(f"{url} can't be read: {reason(error)}. Engines then stop crawling.") from None
    if response.status == 200:
        return Robots(url, body.decode("utf-8", "replace"))
    if 400 <= response.status < 500:
        return Robots(url, None)
    raise Failed(f"{url} answers {response.status}: engines take that as a ban on the whole site until it is mended.")


def _publish(published: Published) -> Told:
    """Put our lines into the target's robots.txt, over exactly the one that was read."""
    site, target = published.site, published.target
    if site.cross_host or urlsplit(site.files_url).path != "/":
        raise Failed(
            f"robots.txt can't be published: {site.files_url} is not the root of {site.base_url}, where it has to lie."
            " Write `robots: print` and put the lines in by hand."
        )
    lines = robots_lines(published.indexes)
    for attempt in range(1, PUTS + 1):
        found = target.get(KEY)
        old, headers = (found[0], found[1].headers or HEADERS) if found else (b"", HEADERS)
        if headers.content_encoding or old.startswith((b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")):
            raise Failed(f"{target.uri}{KEY} is compressed or UTF-16, and was left alone: store it as UTF-8 text.")
        new = merged(old, lines, site.site)
        findings = [
            each
            for url in published.indexes
            for each in _judged(Robots(f"{target.uri}{KEY}", new.decode("utf-8", "replace")), url, site.engines)
        ]
        if new == old:
            return Told(f"{target.uri}{KEY} names every index already.", {"written": False}, findings)
        try:
            target.put(KEY, new, headers, if_match=found[1].etag if found else None, if_none_match=found is None)
        except ConflictError:
            if attempt == PUTS:
                raise Failed(
                    f"{target.uri}{KEY} was changed by someone else each time it was to be written, and was left alone:"
                    " the next publish tries again."
                ) from None
            continue
        return Told(f"{target.uri}{KEY} names every index now.", {"written": True}, findings)
    raise AssertionError("unreachable")
