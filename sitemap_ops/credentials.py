"""What a connection to a search engine's API holds: a token or key, and perhaps another address of the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sitemap_ops.errors import UsageError

PUBLIC = frozenset({
    "auth_provider_x509_cert_url", "auth_uri", "client_email", "client_id", "client_x509_cert_url", "key_location",
    "key_path", "num_retries", "project", "project_id", "scope", "site_url", "token_uri", "type", "universe_domain",
})  # fmt: skip
"""Names in a connection's extra, and in a Google key file, whose values may be shown."""

SHORTEST_SECRET = 8


@dataclass(frozen=True)
class Credentials:
    """base_url: of the API, in place of its own, without a slash at the end. token: password, API key or OAuth token.

    extra: what else the connection holds, such as a Google service account's key. The repr holds neither.
    """

    conn_id: str
    base_url: str | None = None
    token: str | None = field(default=None, repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def secrets(self) -> list[str]:
        """Every text that must not be shown: whatever is not known to be public, and long enough to be a secret."""
        return [text for text in [self.token or "", *_texts(self.extra)] if len(text) >= SHORTEST_SECRET]


def _texts(value: Any, name: str = "") -> list[str]:
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in _texts(inner, str(key))]
    if not isinstance(value, str) or name.removeprefix("extra__google_cloud_platform__") in PUBLIC:
        return []
    try:
        inner = json.loads(value)
    except ValueError:
        inner = None
    return [value, *(_texts(inner) if isinstance(inner, dict) else [])]


def base_url_of(host: str | None, port: int | None = None, scheme: str | None = None) -> str | None:
    """An API's address from the fields of an Airflow connection; the host may hold a scheme and a path.

    Raises ValueError for what is no address of a web server.
    """
    if not host:
        return None
    url = host if "://" in host else f"{scheme or 'https'}://{host}"
    parts = urlsplit(url)
    named_port = parts.port  # raises ValueError for what is none
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in url or parts.query or parts.fragment:
        raise ValueError("no address of a web server")
    netloc = parts.netloc if port is None or named_port else f"{parts.netloc}:{port}"
    return f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}"


def parse_credentials(conn_id: str, text: str, where: str) -> Credentials:
    """Credentials outside Airflow: the token alone, a connection in Airflow's JSON form, or a Google key file's JSON.

    where: the variable's name, for messages; its value is in none of them. Raises UsageError.
    """
    if not text.lstrip().startswith("{"):
        if "://" in text:
            raise UsageError(
                f'{where} is an address, not a key (its value is not shown): write the key, or {{"host": "https://…",'
                ' "password": "the key"}.'
            )
        return Credentials(conn_id, token=text.strip())
    try:
        fields = json.loads(text)
        if "private_key" in fields:
            return Credentials(conn_id, extra={"keyfile_dict": fields})
        extra = fields.get("extra") or {}
        extra = json.loads(extra) if isinstance(extra, str) else extra
        port = fields.get("port")
        base_url = base_url_of(fields.get("host"), None if port is None else int(port), fields.get("schema"))
        if not isinstance(extra, dict):
            raise ValueError("extra is no object")
        return Credentials(conn_id, base_url, fields.get("password"), extra)
    except (ValueError, TypeError, AttributeError):
        raise UsageError(
            f"{where} starts like JSON and is none that this can read (its value is not shown): write"
            ' {"password": "the key"}, with "host" and "extra" where they are needed.'
        ) from None
