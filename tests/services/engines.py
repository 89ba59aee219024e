"""The search engines' APIs on loopback, as their documentation describes them.

Every request is held against the documented protocol: what breaks it is kept in `faults`, which a test has to find
empty. `answer_next` makes the next request of an API get another answer, so that each documented status can be tried.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

YANDEX_TOKEN = "y0_S3cr3t-oauth/token+with=letters"
BING_KEY = "S3cr3tBingKey/0123+4567"
INDEXNOW_KEY = "s3cr3t-0123456789abcdef"
GOOGLE_TOKEN = "ya29.S3cr3t-access-token"
ACCOUNT = "sitemaps@project.iam.gserviceaccount.com"
USER_ID, HOST_ID = 4711, "https:www.example.com:443"
PAGE = 100

_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*")


@dataclass(frozen=True)
class Asked:
    """One request as it came: `path` still percent-encoded, header names in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    json: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: bool = False
    """Close the connection instead of answering."""

    def content(self) -> bytes:
        return self.body if self.json is None else json.dumps(self.json).encode()


@dataclass
class Engines:
    """key_file: what engines find at an address, None for nothing. added: Yandex's sitemaps, id by URL."""

    url: str
    key_file: Callable[[str], bytes | None] = lambda location: None
    asked: list[Asked] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    added: dict[str, str] = field(default_factory=dict)
    host_verified: bool = True
    properties: dict[str, str] = field(default_factory=lambda: {"https://www.example.com/": "siteOwner"})
    submitted: dict[str, dict[str, Any]] = field(default_factory=dict)
    _next: dict[str, list[Reply]] = field(default_factory=dict)
    _known_keys: set[str] = field(default_factory=set)

    def answer_next(self, api: str, *replies: Reply) -> None:
        """api: indexnow, yandex, google, token or bing."""
        self._next.setdefault(api, []).extend(replies)

    def of(self, api: str) -> list[Asked]:
        return [each for each in self.asked if api_of(each.path) == api]

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        api = api_of(asked.path)
        if api is None:
            self.faults.append(f"no API has {asked.method} {asked.path}")
            return Reply(404)
        if not asked.headers.get("user-agent", "").startswith("sitemap-ops/"):
            self.faults.append("no User-Agent")
        ordinary = {"indexnow": _indexnow, "yandex": _yandex, "google": _google, "token": _token, "bing": _bing}[api]
        reply = ordinary(self, asked)
        waiting = self._next.get(api)
        return waiting.pop(0) if waiting else reply

    def hold(self, true: bool, fault: str) -> None:
        if not true:
            self.faults.append(fault)


def api_of(path: str) -> str | None:
    starts = {
        "/indexnow": "indexnow",
        "/v4/": "yandex",
        "/webmasters/": "google",
        "/token": "token",
        "/webmaster/": "bing",
    }
    return next((api for start, api in starts.items() if path.startswith(start)), None)


def _indexnow(engines: Engines, asked: Asked) -> Reply:
    """indexnow.org/documentation: submitting a set of URLs; the key file; the answers."""
    engines.hold(
        (asked.method, asked.path, asked.query) == ("POST", "/indexnow", {}), f"IndexNow: {asked.method} {asked.path}"
    )
    engines.hold(asked.headers.get("content-type") == "application/json; charset=utf-8", "IndexNow: Content-Type")
    sent = asked.json()
    engines.hold(set(sent) == {"host", "key", "keyLocation", "urlList"}, f"IndexNow: keys {sorted(sent)}")
    urls = sent["urlList"]
    engines.hold(1 <= len(urls) <= 10_000, f"IndexNow: {len(urls)} URLs")
    engines.hold(bool(re.fullmatch("[A-Za-z0-9-]{8,128}", sent["key"])), "IndexNow: key")
    folder = sent["keyLocation"].rpartition("/")[0] + "/"
    for url in urls:
        engines.hold(bool(_URL.fullmatch(url)), f"IndexNow: {url} is not as RFC 3986 has it")
        engines.hold(urlsplit(url).netloc == sent["host"], f"IndexNow: {url} is not on {sent['host']}")
        engines.hold(url.startswith(folder), f"IndexNow: {url} is not below {folder}")
    if engines.key_file(sent["keyLocation"]) != sent["key"].encode():
        return Reply(403)
    known = sent["key"] in engines._known_keys
    engines._known_keys.add(sent["key"])
    return Reply(200 if known else 202)


def _yandex(engines: Engines, asked: Asked) -> Reply:
    """yandex.com/dev/webmaster/doc/en/reference: user, hosts, host-user-added-sitemaps-{get,post}, …-id-delete."""
    if asked.headers.get("authorization") != f"OAuth {YANDEX_TOKEN}":
        return _yandex_error(403, "INVALID_OAUTH_TOKEN")
    path = unquote(asked.path)
    if (asked.method, path) == ("GET", "/v4/user"):
        return Reply(json={"user_id": USER_ID})
    if (asked.method, path) == ("GET", f"/v4/user/{USER_ID}/hosts"):
        hosts = [_host("http:www.example.com:80", "http://www.example.com/", True)]
        hosts.append(_host(HOST_ID, "https://www.example.com/", engines.host_verified))
        return Reply(json={"hosts": hosts})
    base = f"/v4/user/{USER_ID}/hosts/{HOST_ID}/user-added-sitemaps"
    if (asked.method, path) == ("GET", base):
        return _yandex_list(engines, asked)
    if (asked.method, path) == ("POST", base):
        engines.hold(asked.headers.get("content-type", "").startswith("application/json"), "Yandex: Content-Type")
        url = asked.json()["url"]
        engines.hold(set(asked.json()) == {"url"}, "Yandex: body")
        if url in engines.added:
            return _yandex_error(409, "SITEMAP_ALREADY_ADDED", sitemap_id=engines.added[url])
        engines.added[url] = f"c7-fe:80-c{len(engines.added)}"
        return Reply(201, {"sitemap_id": engines.added[url]})
    if asked.method == "DELETE" and path.startswith(base + "/"):
        gone = [url for url, sitemap_id in engines.added.items() if sitemap_id == path.removeprefix(base + "/")]
        for url in gone:
            del engines.added[url]
        return Reply(204) if gone else _yandex_error(404, "SITEMAP_NOT_ADDED")
    engines.faults.append(f"Yandex: {asked.method} {asked.path}")
    return _yandex_error(404, "RESOURCE_NOT_FOUND")


def _host(host_id: str, url: str, verified: bool) -> dict[str, Any]:
    return {
        "host_id": host_id,
        "ascii_host_url": url,
        "unicode_host_url": url,
        "verified": verified,
        "main_mirror": None,
    }


def _yandex_list(engines: Engines, asked: Asked) -> Reply:
    limit = int(asked.query.get("limit", ["100"])[0])
    engines.hold(1 <= limit <= PAGE, f"Yandex: limit {limit}")
    ids = list(engines.added.values())
    start = ids.index(asked.query["offset"][0]) + 1 if "offset" in asked.query else 0
    page = [
        {"sitemap_id": sitemap_id, "sitemap_url": url, "added_date": "2016-01-01T00:00:00,000+0300"}
        for url, sitemap_id in engines.added.items()
    ]
    return Reply(json={"sitemaps": page[start : start + limit], "count": len(ids)})


def _yandex_error(status: int, code: str, **more: Any) -> Reply:
    return Reply(status, {"error_code": code, **more, "error_message": "some string"})


def yandex_error(status: int, code: str, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, _yandex_error(status, code).json, headers or {})


def _token(engines: Engines, asked: Asked) -> Reply:
    """developers.google.com/identity/protocols/oauth2/service-account, HTTP/REST: the assertion and its claims."""
    engines.hold((asked.method, asked.path) == ("POST", "/token"), f"token: {asked.method} {asked.path}")
    engines.hold(asked.headers.get("content-type") == "application/x-www-form-urlencoded", "token: Content-Type")
    form = parse_qs(asked.body.decode(), strict_parsing=True)
    engines.hold(set(form) == {"grant_type", "assertion"}, f"token: form {sorted(form)}")
    engines.hold(form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"], "token: grant_type")
    (assertion,) = form["assertion"]
    try:
        claims = jwt.decode(assertion, _key_pair()[1], algorithms=["RS256"], audience=f"{engines.url}/token")
    except jwt.PyJWTError:
        return Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})
    engines.hold(jwt.get_unverified_header(assertion)["kid"] == "key-1", "token: kid")
    engines.hold(set(claims) == {"iss", "scope", "aud", "iat", "exp"}, f"token: claims {sorted(claims)}")
    engines.hold(claims["iss"] == ACCOUNT, "token: iss")
    engines.hold(claims["scope"] == "https://www.googleapis.com/auth/webmasters", "token: scope")
    engines.hold(0 < claims["exp"] - claims["iat"] <= 3_600, "token: lives longer than an hour")
    return Reply(json={"access_token": GOOGLE_TOKEN, "expires_in": 3_599, "token_type": "Bearer"})


def _google(engines: Engines, asked: Asked) -> Reply:
    """developers.google.com/webmaster-tools/v1: sites.list, sitemaps.submit, sitemaps.list."""
    if asked.headers.get("authorization") != f"Bearer {GOOGLE_TOKEN}":
        return google_error(401, "Request had invalid authentication credentials.", "authError")
    start, _, rest = asked.path.partition("/webmasters/v3/sites")
    engines.hold(start == "" and asked.query == {}, f"Search Console: {asked.path}")
    if (asked.method, rest) == ("GET", ""):
        entries = [{"siteUrl": url, "permissionLevel": level} for url, level in engines.properties.items()]
        return Reply(json={"siteEntry": entries})
    match = re.fullmatch(r"/([^/:]+)/sitemaps(?:/([^/:]+))?", rest)
    if not match:
        engines.faults.append(f"Search Console: {asked.method} {asked.path}")
        return google_error(404, "Not Found", "notFound")
    if engines.properties.get(unquote(match[1])) not in ("siteOwner", "siteFullUser"):
        return google_error(
            403, f"User does not have sufficient permission for site '{unquote(match[1])}'.", "forbidden"
        )
    if asked.method == "PUT" and match[2]:
        engines.hold(asked.body == b"", "Search Console: submit has a body")
        engines.submitted.setdefault(unquote(match[2]), {"path": unquote(match[2]), "isPending": True})
        return Reply(204)
    engines.hold(asked.method == "GET" and not match[2], f"Search Console: {asked.method} {asked.path}")
    return Reply(json={"sitemap": list(engines.submitted.values())})


def google_error(status: int, message: str, reason: str, headers: Mapping[str, str] | None = None) -> Reply:
    detail = {"message": message, "domain": "global", "reason": reason}
    return Reply(status, {"error": {"code": status, "message": message, "errors": [detail]}}, headers or {})


def _bing(engines: Engines, asked: Asked) -> Reply:
    """learn.microsoft.com, IWebmasterApi.SubmitFeed: the JSON request sample and ApiErrorCode."""
    engines.hold((asked.method, asked.path) == ("POST", "/webmaster/api.svc/json/SubmitFeed"), f"Bing: {asked.path}")
    engines.hold(asked.headers.get("content-type") == "application/json; charset=utf-8", "Bing: Content-Type")
    engines.hold(set(asked.query) == {"apikey"}, f"Bing: query {sorted(asked.query)}")
    engines.hold(set(asked.json()) == {"siteUrl", "feedUrl"}, f"Bing: body {sorted(asked.json())}")
    return Reply(json={"d": None}) if asked.query.get("apikey") == [BING_KEY] else bing_error(3, "InvalidApiKey")


def bing_error(code: int, name: str, status: int = 400) -> Reply:
    return Reply(status, {"ErrorCode": code, "Message": f"ERROR!!! {name}"})


@cache
def _key_pair() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def service_account(engines: Engines) -> dict[str, str]:
    """The JSON that Google Cloud gives for a service account's key."""
    return {
        "type": "service_account", "project_id": "project", "private_key_id": "key-1", "private_key": _key_pair()[0],
        "client_email": ACCOUNT, "client_id": "1", "token_uri": f"{engines.url}/token",
    }  # fmt: skip


@contextmanager
def engines_service() -> Iterator[Engines]:
    """All the APIs on one free port of loopback, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = engines.answer(Asked(self.command, parts.path, parse_qs(parts.query), headers, body))
            if reply.cut:
                self.close_connection = True
                return
            content = reply.content()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self._headers_buffer.append(b"\r\n" + content)  # in one packet, or Nagle's algorithm waits 40 ms
            self.flush_headers()

        do_GET = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that go are no fault
    engines = Engines(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield engines
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
