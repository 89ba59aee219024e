"""Tell the search engines, after a good publish, as the site file's `notify` asks; it can never fail the publish.

robots.txt, IndexNow, Yandex Webmaster, Google Search Console and Bing Webmaster (PUB-10). There is no ping: what
Google and Bing had of it is gone (P-59, C-106).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sitemap_ops.connections import Connections
from sitemap_ops.credentials import Credentials
from sitemap_ops.errors import SitemapOpsError
from sitemap_ops.notify import bing, google, indexnow, robots, yandex
from sitemap_ops.notify.outcome import Failed, Told, done, failed, without
from sitemap_ops.notify.published import Published
from sitemap_ops.site import Site
from sitemap_ops.storage import Store

__all__ = ["notify"]

log = logging.getLogger(__name__)

Channel = Callable[[Published, Credentials], Told]
_APIS: dict[str, Channel] = {
    "indexnow": indexnow.tell,
    "yandex": yandex.tell,
    "google": google.tell,
    "bing": bing.tell,
}


def notify(
    site: Site,
    indexes: Sequence[str],
    changed: Callable[[], Iterator[str]],
    connections: Connections,
    target: Store,
    state: Store,
    *,
    sets: Mapping[str, str] | None = None,
    entries: int | None = None,
) -> list[dict[str, Any]]:
    """Tell every channel that the site file names; one result each, JSON-able, and no exception.

    indexes: the URLs of the public indexes. changed: gives the URLs that the release added, changed or removed.
    sets: the file set of an index by its URL, so that no engine is told of another's. entries: how many URLs the site
    has, if that is known. A result has `channel`, `outcome` (told, failed), `told` (a
    sentence), `findings` (a failure is the warning notify-failed) and what the channel counts; none holds a secret.
    """
    asked = site.notify
    if asked is None or not indexes:
        return []
    published = Published(site, indexes, changed, connections, target, state, sets or {}, entries)
    results = [_result("robots", partial(robots.tell, published), [])] if asked.robots else []
    for channel, tell in _APIS.items():
        if conn_id := getattr(asked, channel):
            results.append(_told(channel, tell, conn_id, published))
    return results


def _told(channel: str, tell: Channel, conn_id: str, published: Published) -> dict[str, Any]:
    try:
        credentials = published.connections.secret(conn_id)
    except SitemapOpsError as error:
        return failed(channel, Failed(str(error)))
    except Exception as error:
        log.warning("%s was not told: the connection %r gave %s", channel, conn_id, type(error).__name__)
        return failed(channel, Failed(f"The connection {conn_id!r} can't be read ({type(error).__name__})."))
    return _result(channel, partial(tell, published, credentials), credentials.secrets())


def _result(channel: str, tell: Callable[[], Told], secrets: Sequence[str]) -> dict[str, Any]:
    """What came of it. Whatever goes wrong, also by a fault of this program, ends here (C-107)."""
    try:
        result = done(channel, tell())
    except Failed as failure:
        result = failed(channel, failure)
    except SitemapOpsError as error:
        result = failed(channel, Failed(str(error)))
    except Exception as error:
        # Without the traceback: what a library says may hold a secret.
        log.warning("%s was not told, by a fault of this program: %s", channel, type(error).__name__)
        result = failed(channel, Failed(f"A fault of this program ({type(error).__name__}): report it."))
    hidden: dict[str, Any] = without(result, secrets)
    return hidden
