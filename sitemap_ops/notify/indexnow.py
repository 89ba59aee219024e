"""IndexNow: the URLs that a release changed, to all engines that take part, through one of them (IN-01 to IN-07).

The key proves that the host is ours: it lies as a text file in the target, where crawlers fetch it. What is read:
indexnow.org/documentation and /faq.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import urlsplit

from sitemap_ops.credentials import Credentials
from sitemap_ops.errors import ConflictError
from sitemap_ops.notify.client import Answer, Api
from sitemap_ops.notify.outcome import Failed, Finding, Told, finding
from sitemap_ops.notify.published import Published
from sitemap_ops.reading.origins import origin_of
from sitemap_ops.storage import Headers, Store

BASE_URL = "https://api.indexnow.org"
MAX_URLS = 10_000
MAX_BATCHES = 100
"""A publish that changes more sends no more: the engines find the rest by the sitemaps' lastmod."""
KEY = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)
KEY_HEADERS = Headers("text/plain; charset=utf-8", "public, max-age=3600")
BULK = 0.5

_REFUSED = {
    400: "the request is not in the protocol's form: report this to sitemap-ops",
    403: "the key is not valid: engines can't fetch {location}, or it does not hold the connection's key",
    422: "the URLs do not belong to the host {host}, or the key does not fit the protocol",
    429: "too many requests were sent lately: the rest waits for the next publish",
}


def tell(published: Published, credentials: Credentials) -> Told:
    """Publish the key, then send what changed, 10,000 URLs at a time; stops at the first batch that is refused."""
    key = (credentials.token or "").strip()
    if not KEY.fullmatch(key):
        raise Failed(
            f"The connection {credentials.conn_id!r} holds no IndexNow key: its password has to be 8 to 128 of"
            " the characters a-z, A-Z, 0-9 and '-'.",
            "indexnow-key",
            "IN-01",
        )
    location = _key_location(published, credentials, key)
    counts: Counter[str] = Counter()
    api = Api("IndexNow", credentials.base_url or BASE_URL, credentials.secrets())
    host = urlsplit(published.site.base_url).netloc
    message = {"host": host, "key": key, "keyLocation": location}
    for batch in _batches(_allowed(published.changed(), published.site.base_url, location, counts)):
        if counts["batches"] == MAX_BATCHES:
            counts["cut"] = 1
            break
        answer = api.json("POST", "/indexnow", message | {"urlList": batch})
        if answer.status not in (200, 202):
            raise Failed(_explained(answer, host, location, counts["sent"]))
        counts["sent"] += len(batch)
        counts["batches"] += 1
    told = f"IndexNow was sent {counts['sent']:,} changed URLs." if counts["sent"] else "No URL of the host changed."
    return Told(told, {"sent": counts["sent"], "batches": counts["batches"]}, _findings(published, counts, location))


def _key_location(published: Published, credentials: Credentials, key: str) -> str:
    """Where engines find the key: a file of ours in the target, or one that the connection's extra names."""
    site = published.site
    if named := credentials.extra.get("key_location"):
        if origin_of(str(named)) != origin_of(site.base_url):
            raise Failed(
                f"key_location of the connection {credentials.conn_id!r} is not on {site.base_url}, where the protocol"
                " wants it: serve the key file from that host.",
                "indexnow-keyfile",
                "IN-02",
            )
        return str(named)
    if site.cross_host:
        raise Failed(
            f"The files lie on {site.files_url}, and the key has to lie on {site.base_url}: put the key file there and"
            f" name its address as key_location in the extra of the connection {credentials.conn_id!r}.",
            "indexnow-keyfile",
            "IN-02",
        )
    _publish_key(published.target, key)
    return f"{site.files_url}{key}.txt"


def _publish_key(target: Store, key: str) -> None:
    name, body = f"{key}.txt", key.encode()
    found = target.get(name)
    if found and found[0] == body:
        return
    try:
        target.put(name, body, KEY_HEADERS, if_match=found[1].etag if found else None, if_none_match=found is None)
    except ConflictError:
        raise Failed(
            f"The key file in {target.uri} was changed by someone else meanwhile: see what is in it.",
            "indexnow-keyfile",
            "IN-02",
        ) from None


def _allowed(urls: Iterable[str], base_url: str, location: str, counts: Counter[str]) -> Iterator[str]:
    """Those on the key's own host, below the key file's folder (IN-02, IN-04); the others are counted."""
    home = origin_of(base_url)
    host, folder = home and home.host, urlsplit(location).path.rpartition("/")[0] + "/"
    for url in urls:
        origin = origin_of(url)
        if origin is None or origin.host != host:
            counts["other-host"] += 1
        elif not (urlsplit(url).path or "/").startswith(folder):
            counts["out-of-scope"] += 1
        else:
            yield url


def _batches(urls: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(urls, MAX_URLS)):
        yield batch


def _explained(answer: Answer, host: str, location: str, sent: int) -> str:
    why = _REFUSED.get(answer.status, f"it says: {answer.text() or 'nothing'}")
    before = f" {sent:,} URLs before were taken." if sent else ""
    return f"IndexNow answers {answer.status}: {why.format(host=host, location=location)}.{before}"


def _findings(published: Published, counts: Counter[str], location: str) -> list[Finding]:
    found = []
    if counts["other-host"]:
        told = f"{counts['other-host']:,} changed URLs are on another host, which needs its own key (Y-28): not sent."
        found.append(finding("IN-04", "indexnow-host", "indexnow", told))
    if counts["out-of-scope"]:
        folder = location.rpartition("/")[0]
        told = f"{counts['out-of-scope']:,} changed URLs lie outside of {folder}/, the key file's folder: not sent."
        found.append(finding("IN-02", "indexnow-scope", "indexnow", told))
    if published.entries and counts["sent"] > BULK * published.entries:
        told = f"{counts['sent']:,} of {published.entries:,} URLs changed at once: engines may take that for spam."
        found.append(finding("IN-06", "indexnow-bulk", "indexnow", told))
    if counts["cut"]:
        told = f"More than {counts['sent']:,} URLs changed at once: the others were not sent."
        found.append(finding("IN-06", "indexnow-bulk", "indexnow", told))
    return found
