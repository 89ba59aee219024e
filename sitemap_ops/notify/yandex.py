"""Yandex Webmaster API v4: add our indexes to the site's sitemaps, take away those of ours that are gone (Y-25, Y-26).

Read: yandex.com/dev/webmaster/doc/en/reference, host-user-added-sitemaps-* and errors. What someone else added is never
deleted: what we added is remembered in `state`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from sitemap_ops.credentials import Credentials
from sitemap_ops.notify.client import Answer, Api
from sitemap_ops.notify.outcome import Failed, Told
from sitemap_ops.notify.published import Published
from sitemap_ops.reading.origins import origin_of
from sitemap_ops.storage import Headers, Store

BASE_URL = "https://api.webmaster.yandex.net"
PAGE = 100
MAX_PAGES = 50
MEMORY = "notify/yandex.json"
MEMORY_HEADERS = Headers("application/json")

_ERRORS = {
    "ACCESS_FORBIDDEN": "the token's application lacks a permission: give it webmaster:hostinfo and webmaster:verify",
    "ENTITY_VALIDATION_ERROR": "the request is not in the API's form: report this to sitemap-ops",
    "FIELD_VALIDATION_ERROR": "the request is not in the API's form: report this to sitemap-ops",
    "HOST_NOT_FOUND": "the site is not in the account: add it in Yandex Webmaster",
    "HOST_NOT_INDEXED": "Yandex has not indexed the site yet; the next publish tells it again",
    "HOST_NOT_LOADED": "Yandex has not loaded the site yet, which may take weeks; the next publish tells it again",
    "HOST_NOT_VERIFIED": "the site is not verified in the account: verify it in Yandex Webmaster",
    "INVALID_OAUTH_TOKEN": "the token is wrong or has expired: put a new one into the connection",
    "INVALID_URL": "Yandex does not take the index's address: it has to be on the site's own host",
    "INVALID_USER_ID": "the token is another user's: put a new one into the connection",
    "QUOTA_EXCEEDED": "the quota is used up; the next publish tells it again",
    "TOO_MANY_REQUESTS_ERROR": "too many requests were sent; the next publish tells it again",
}


def tell(published: Published, credentials: Credentials) -> Told:
    """The connection's password is an OAuth token of the site's owner in Yandex Webmaster."""
    if not credentials.token:
        raise Failed(f"The connection {credentials.conn_id!r} holds no OAuth token: put it into its password.")
    headers = {"Authorization": f"OAuth {credentials.token}"}
    api = Api("Yandex Webmaster", credentials.base_url or BASE_URL, credentials.secrets(), headers)
    path = _sitemaps_path(api, published.site.base_url)
    there = dict(_listed(api, path))
    indexes = published.indexes_for("yandex")
    ours = _remembered(published.state)
    added: list[str] = []
    gone: list[str] = []
    try:
        for url in indexes:
            if url not in there and (sitemap_id := _add(api, path, url)):
                ours[url] = sitemap_id
                added.append(url)
        for url in [each for each in ours if each not in indexes]:
            _delete(api, path, ours[url])
            del ours[url]
            gone.append(url)
    finally:
        if added or gone:
            body = json.dumps({"schema": 1, "added": ours}, indent=1, sort_keys=True).encode()
            published.state.put(MEMORY, body, MEMORY_HEADERS)
    changes = f" {len(added)} added, {len(gone)} deleted." if added or gone else ""
    return Told(f"Yandex Webmaster has every index.{changes}", {"added": added, "deleted": gone})


def _sitemaps_path(api: Api, base_url: str) -> str:
    user = _asked(api, "GET", "/v4/user").get("user_id")
    if not isinstance(user, int):
        raise Failed("Yandex Webmaster gives no user id for this token: the answer is none of the API's.")
    hosts = _asked(api, "GET", f"/v4/user/{user}/hosts").get("hosts", [])
    home = origin_of(base_url)
    host = next((each for each in hosts if origin_of(str(each.get("ascii_host_url"))) == home), None)
    if host is None:
        raise Failed(f"Yandex Webmaster does not have {base_url} in this account: {_ERRORS['HOST_NOT_FOUND']}.")
    if not host.get("verified"):
        raise Failed(f"Yandex Webmaster refuses {base_url}: {_ERRORS['HOST_NOT_VERIFIED']}.")
    return f"/v4/user/{user}/hosts/{quote(str(host['host_id']), safe=':')}/user-added-sitemaps"


def _listed(api: Api, path: str) -> Iterator[tuple[str, str]]:
    """URL and id of what users added, page by page: each starts after the last id of the one before."""
    query = {"limit": str(PAGE)}
    for _ in range(MAX_PAGES):
        page = _asked(api, "GET", path, query=query).get("sitemaps", [])
        for each in page:
            yield each["sitemap_url"], each["sitemap_id"]
        if len(page) < PAGE:
            return
        query["offset"] = page[-1]["sitemap_id"]


def _add(api: Api, path: str, url: str) -> str | None:
    """The id of the sitemap; None where it was there, so that it is not ours to delete."""
    answer = api.json("POST", path, {"url": url}, is_final=_is_quota)
    if answer.status == 409 and _code(answer) == "SITEMAP_ALREADY_ADDED":
        return None
    if answer.status != 201:
        raise Failed(f"Yandex Webmaster refuses {url}: {_explained(answer)}.")
    return str(answer.json().get("sitemap_id"))


def _delete(api: Api, path: str, sitemap_id: str) -> None:
    answer = api.request("DELETE", f"{path}/{quote(sitemap_id, safe=':')}", is_final=_is_quota)
    gone = answer.status == 404 and _code(answer) in ("SITEMAP_NOT_ADDED", "SITEMAP_NOT_FOUND")
    if answer.status != 204 and not gone:
        raise Failed(f"Yandex Webmaster does not delete an index that is gone: {_explained(answer)}.")


def _asked(api: Api, method: str, path: str, query: dict[str, str] | None = None) -> dict[str, Any]:
    answer = api.request(method, path, query=query, is_final=_is_quota)
    if answer.status != 200:
        raise Failed(f"Yandex Webmaster refuses: {_explained(answer)}.")
    found: dict[str, Any] = answer.json()
    return found


def _code(answer: Answer) -> str:
    return str(answer.json().get("error_code", ""))


def _is_quota(answer: Answer) -> bool:
    return _code(answer) == "QUOTA_EXCEEDED"


def _explained(answer: Answer) -> str:
    code = _code(answer)
    if code in _ERRORS:
        return f"{code}, {_ERRORS[code]}"
    return f"it answers {answer.status} {code} {answer.json().get('error_message') or answer.text()}".rstrip()


def _remembered(state: Store) -> dict[str, str]:
    """Ids by URL of what we added. A damaged memory forgets: then nothing is deleted."""
    found = state.get(MEMORY)
    try:
        added = json.loads(found[0])["added"] if found else {}
        return {str(url): str(each) for url, each in added.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
