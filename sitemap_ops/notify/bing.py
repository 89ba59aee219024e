"""Bing Webmaster: SubmitFeed for each index (B-07).

Read: learn.microsoft.com, IWebmasterApi.SubmitFeed and ApiErrorCode.
"""

from __future__ import annotations

from sitemap_ops.credentials import Credentials
from sitemap_ops.notify.client import Answer, Api
from sitemap_ops.notify.outcome import Failed, Told
from sitemap_ops.notify.published import Published

BASE_URL = "https://ssl.bing.com"
PATH = "/webmaster/api.svc/json/SubmitFeed"
ALREADY_EXISTS = 12

_ERRORS = {
    1: ("InternalError", "Bing failed; the next publish tells it again"),
    2: ("UnknownError", "Bing failed; the next publish tells it again"),
    3: (
        "InvalidApiKey",
        "put a new key of Bing Webmaster Tools, Settings, API access, into the connection",
    ),
    4: ("ThrottleUser", "too many calls were made with this key; the next publish tells it again"),
    5: ("ThrottleHost", "too many calls were made for this site; the next publish tells it again"),
    6: ("UserBlocked", "Bing has blocked the key's owner"),
    7: ("InvalidUrl", "Bing does not take the index's address"),
    8: ("InvalidParameter", "Bing does not take the site's or the index's address"),
    9: ("TooManySites", "the account has too many sites"),
    10: ("UserNotFound", "the key's owner is unknown: make a new key"),
    11: ("NotFound", "the site is not in the account: add and verify it in Bing Webmaster Tools"),
    ALREADY_EXISTS: ("AlreadyExists", "Bing has it"),
    13: ("NotAllowed", "the account may not do this"),
    14: ("NotAuthorized", "the site is not verified in the account: verify it in Bing Webmaster Tools"),
    15: ("UnexpectedState", "Bing failed; the next publish tells it again"),
    16: ("Deprecated", "the method is gone: update sitemap-ops"),
}


def tell(published: Published, credentials: Credentials) -> Told:
    """The connection's password is the API key; its extra may name `site_url`, the site as Bing's account has it."""
    if not credentials.token:
        raise Failed(f"The connection {credentials.conn_id!r} holds no API key: put it into its password.")
    api = Api("Bing Webmaster", credentials.base_url or BASE_URL, credentials.secrets())
    site_url = str(credentials.extra.get("site_url") or published.site.base_url)
    indexes = published.indexes_for("bing")
    for index in indexes:
        query = {"apikey": credentials.token}
        answer = api.json("POST", PATH, {"siteUrl": site_url, "feedUrl": index}, query=query)
        if answer.status != 200 and _code(answer) != ALREADY_EXISTS:
            raise Failed(f"Bing Webmaster refuses {index}: {_explained(answer)}.")
    return Told("Bing Webmaster was sent every index.", {"submitted": indexes})


def _code(answer: Answer) -> int | None:
    code = answer.json().get("ErrorCode")
    return code if isinstance(code, int) else None


def _explained(answer: Answer) -> str:
    known = _ERRORS.get(_code(answer) or 0)
    if known:
        return f"{known[0]}: {known[1]}"
    return f"it answers {answer.status} {answer.json().get('Message') or answer.text()}".rstrip()
