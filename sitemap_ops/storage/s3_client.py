"""How an S3 client of this project behaves: tries, time-outs, addresses, checksums.

Three settings come from the environment, for slow lines and for tests that can't wait:

| variable                         | default | what it is                                                          |
|----------------------------------|---------|---------------------------------------------------------------------|
| `SITEMAP_OPS_S3_ATTEMPTS`        | 8       | how often one request is sent before it counts as failed            |
| `SITEMAP_OPS_S3_CONNECT_TIMEOUT` | 5       | seconds to reach the endpoint                                       |
| `SITEMAP_OPS_S3_READ_TIMEOUT`    | 30      | seconds without a byte from it, after which the request is sent anew |
"""

from __future__ import annotations

import math
import os
import re
from typing import Any
from urllib.parse import urlsplit

from botocore.config import Config

from sitemap_ops.errors import UsageError

MAX_CONNECTIONS = 16

_AWS_HOST = re.compile(r"(^|\.)amazonaws\.com(\.cn)?$")


def client_config(endpoint_url: str | None) -> Config:
    """The settings for a client of this endpoint; None is AWS. Raises UsageError for a variable that is no number.

    The SDK's default of three attempts gives up on a few seconds of 503 SlowDown; eight wait for half a minute on
    average. Its 60 s of waiting hide a stalled connection. Endpoints that are not AWS get path-style addresses, and no
    checksum they may not know (S3-14).
    """
    options: dict[str, Any] = {
        "retries": {"mode": "standard", "total_max_attempts": math.ceil(_number("SITEMAP_OPS_S3_ATTEMPTS", 8))},
        "connect_timeout": _number("SITEMAP_OPS_S3_CONNECT_TIMEOUT", 5),
        "read_timeout": _number("SITEMAP_OPS_S3_READ_TIMEOUT", 30),
        "max_pool_connections": MAX_CONNECTIONS,
        "tcp_keepalive": True,
    }
    if endpoint_url and not is_aws(endpoint_url):
        options |= {
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
            "s3": {"addressing_style": "path"},
        }
    return Config(**options)


def is_aws(endpoint_url: str) -> bool:
    return bool(_AWS_HOST.search(urlsplit(endpoint_url).hostname or ""))


def _number(variable: str, default: float) -> float:
    text = os.environ.get(variable) or default
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise UsageError(f"{variable} is {text!r}, not a number above 0: write one such as {default}, or unset it.")
    return value
