"""Google Search Console: `sitemaps.submit` for each index, then what Google says of them (G-61, G-62).

Read: developers.google.com/webmaster-tools/v1/sitemaps, /sites; identity/protocols/oauth2/service-account. The token
comes from a service account: a signed assertion is exchanged for it, once a run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from sitemap_ops.credentials import Credentials
from sitemap_ops.notify.client import Answer, Api
from sitemap_ops.notify.outcome import Failed, Told, without
from sitemap_ops.notify.published import Published

BASE_URL = "https://www.googleapis.com"
TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105
SCOPE = "https://www.googleapis.com/auth/webmasters"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
LIFE_SECONDS = 3_600
"""The longest that Google takes."""
MAY_SUBMIT = ("siteOwner", "siteFullUser")

_ERRORS = {
    400: "the request is not in the API's form: report this to sitemap-ops",
    401: "the token is not accepted: see that the service account is enabled",
    403: "the service account may not do this: add its address as an owner or full user of the property in Search"
    " Console, and enable the Search Console API in its project",
    404: "the property is not known: add the service account's address to it in Search Console",
    429: "the quota is used up; the next publish tells it again",
}


def tell(published: Published, credentials: Credentials) -> Told:
    """The connection holds the service account's key; its extra may name `site_url`, the property."""
    key = _key(credentials)
    token = _token(key, credentials.secrets())
    secrets = [*credentials.secrets(), token]
    api = Api("Search Console", credentials.base_url or BASE_URL, secrets, {"Authorization": f"Bearer {token}"})
    named = credentials.extra.get("site_url")
    try:
        property_url = str(named) if named else _property(api, published.site.base_url, key["client_email"])
        return _submitted(api, property_url, published.indexes_for("google"))
    except Failed as failure:
        raise Failed(without(failure.told, secrets)) from None


def _submitted(api: Api, property_url: str, indexes: Sequence[str]) -> Told:
    path = f"/webmasters/v3/sites/{quote(property_url, safe='')}/sitemaps"
    for index in indexes:
        answer = api.request("PUT", f"{path}/{quote(index, safe='')}")
        if not 200 <= answer.status < 300:
            raise Failed(f"Search Console refuses {index}: {_explained(answer)}.")
    seen = _seen(api, path, indexes)
    told = "".join(
        f" It shows {each['errors']} errors and {each['warnings']} warnings of {each['index']}."
        for each in seen
        if each["errors"] or each["warnings"]
    )
    return Told(f"Search Console was sent every index.{told}", {"property": property_url, "seen": seen})


def _key(credentials: Credentials) -> dict[str, Any]:
    """The service account's key, from any of the places where a connection may keep it."""
    extra = credentials.extra
    prefix = "extra__google_cloud_platform__"
    given = extra.get("keyfile_dict") or extra.get(f"{prefix}keyfile_dict") or credentials.token
    path = extra.get("key_path") or extra.get(f"{prefix}key_path")
    try:
        if not given and path:
            given = Path(str(path)).read_text(encoding="utf-8")
        key: Any = json.loads(given) if isinstance(given, str) else given
        if all(isinstance(key[name], str) for name in ("client_email", "private_key")):
            return dict(key)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise Failed(
        f"The connection {credentials.conn_id!r} holds no service account's key: put the JSON of its key"
        " into the extra keyfile_dict, or name its file as key_path."
    )


def _token(key: Mapping[str, Any], secrets: Sequence[str]) -> str:
    """An access token for this run (RFC 7523). Raises Failed where the key is none, or Google refuses it."""
    import jwt

    url = str(key.get("token_uri") or TOKEN_URL)
    now = int(time.time())
    claims = {"iss": key["client_email"], "scope": SCOPE, "aud": url, "iat": now, "exp": now + LIFE_SECONDS}
    kid = key.get("private_key_id")
    try:
        assertion = jwt.encode(claims, key["private_key"], algorithm="RS256", headers={"kid": kid} if kid else None)
    except (ValueError, TypeError, jwt.PyJWTError):
        raise Failed("The service account's private key can't be read: download the key anew.") from None
    parts = urlsplit(url)
    api = Api("Google's token service", f"{parts.scheme}://{parts.netloc}", [*secrets, assertion])
    form = urlencode({"grant_type": GRANT, "assertion": assertion}).encode()
    answer = api.request(
        "POST", parts.path or "/", body=form, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    token = answer.json().get("access_token")
    if answer.status == 200 and isinstance(token, str) and token:
        return token
    said = answer.json()
    why = " ".join(str(said[name]) for name in ("error", "error_description") if said.get(name)) or answer.text()
    raise Failed(
        f"Google gives no token for {key['client_email']}, it answers {answer.status} {why}: see that the key was not"
        " revoked and that this machine's clock is right."
    )


def _property(api: Api, base_url: str, account: str) -> str:
    """The narrowest property that holds the site: by its address, else by its domain."""
    answer = api.request("GET", "/webmasters/v3/sites")
    if answer.status != 200:
        raise Failed(f"Search Console refuses: {_explained(answer)}.")
    usable = [
        str(each.get("siteUrl"))
        for each in answer.json().get("siteEntry", [])
        if each.get("permissionLevel") in MAY_SUBMIT
    ]
    host = urlsplit(base_url).hostname or ""
    fitting = [url for url in usable if base_url.startswith(url) or _is_domain_of(url, host)]
    if not fitting:
        raise Failed(
            f"Search Console has no property for {base_url} that {account} may submit to: add that address there as an"
            " owner or full user."
        )
    return max(fitting, key=lambda url: (not url.startswith("sc-domain:"), len(url)))


def _is_domain_of(url: str, host: str) -> bool:
    prefix, _, domain = url.partition(":")
    return prefix == "sc-domain" and f".{host}".endswith(f".{domain}")


def _seen(api: Api, path: str, indexes: Sequence[str]) -> list[dict[str, Any]]:
    """What Google says of each index since it last read it; nothing where it does not say."""
    answer = api.request("GET", path)
    listed = answer.json().get("sitemap", []) if answer.status == 200 else []
    by_url = {str(each.get("path")): each for each in listed}
    return [
        {
            "index": index,
            "errors": int(each.get("errors") or 0),
            "warnings": int(each.get("warnings") or 0),
            "pending": bool(each.get("isPending")),
            "read": each.get("lastDownloaded"),
        }
        for index in indexes
        if (each := by_url.get(index))
    ]


def _explained(answer: Answer) -> str:
    error = answer.json().get("error")
    error = error if isinstance(error, dict) else {}
    said = str(error.get("message") or answer.text()).rstrip(".")
    why = _ERRORS.get(answer.status, "the next publish tells it again")
    return f"it answers {answer.status} {said}; {why}" if said else f"it answers {answer.status}; {why}"
