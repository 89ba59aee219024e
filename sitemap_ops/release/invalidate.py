"""Make a CloudFront distribution forget its copies of the files that a publish changed (C-21, S3-25).

It comes after a good publish and can't fail it: without it, readers see old files until their Cache-Control runs out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from sitemap_ops.connections import Connections
from sitemap_ops.errors import SitemapOpsError
from sitemap_ops.storage.s3_errors import code_of

if TYPE_CHECKING:
    from botocore.client import BaseClient

MAX_PATHS = 3_000
"""Paths that one distribution takes at a time, in one request or in several (CloudFront's InvalidationLimits)."""

WAITS = (20, 40, 60)
"""Seconds before each further try to get paths in where so many are being worked on."""


def invalidate(
    connections: Connections,
    conn_id: str | None,
    distribution: str,
    urls: Sequence[str],
    release: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, str] | None:
    """Ask for it; gives a finding where that failed, for whatever reason.

    urls: as crawlers fetch them, of files that were overwritten or removed; a new file has no old copy. release: makes
    the requests of a re-run the same, which CloudFront answers without doing, or charging for, anything twice.
    """
    paths = list(dict.fromkeys(urlsplit(url).path for url in urls))
    if not paths:
        return None
    done = 0
    try:
        client = connections.cloudfront(conn_id)
        for batch in _batches(paths):
            _request(client, distribution, batch, release, sleep)
            done += len(batch)
    except ClientError as error:
        return _finding(distribution, len(paths) - done, _told(error))
    except (BotoCoreError, SitemapOpsError) as error:
        return _finding(distribution, len(paths) - done, f"{type(error).__name__}: check the connection")
    return None


def _request(
    client: BaseClient, distribution: str, paths: Sequence[str], release: str, sleep: Callable[[float], None]
) -> None:
    digest = hashlib.sha256("\n".join(paths).encode()).hexdigest()
    request: dict[str, Any] = {
        "DistributionId": distribution,
        "InvalidationBatch": {
            "Paths": {"Quantity": len(paths), "Items": list(paths)},
            "CallerReference": f"sitemap-ops {release} {digest[:32]}",
        },
    }
    for wait in (*WAITS, None):
        try:
            client.create_invalidation(**request)  # type: ignore[attr-defined]
            return
        except ClientError as error:
            if code_of(error) != "TooManyInvalidationsInProgress" or wait is None:
                raise
            sleep(wait)


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(paths)
    while batch := list(islice(rest, MAX_PATHS)):
        yield batch


def _told(error: ClientError) -> str:
    reasons = {
        "AccessDenied": "AccessDenied: the connection's policy has to allow cloudfront:CreateInvalidation",
        "NoSuchDistribution": "NoSuchDistribution: correct `cloudfront` in the site file",
        "TooManyInvalidationsInProgress": "TooManyInvalidationsInProgress: more changes than CloudFront takes at once",
    }
    return reasons.get(code_of(error), f"{code_of(error)}: look at the distribution and the connection")


def _finding(distribution: str, left: int, reason: str) -> dict[str, str]:
    files = "1 changed file" if left == 1 else f"{left:,} changed files"
    return {
        "rule": "S3-25",
        "code": "cloudfront-not-invalidated",
        "level": "warning",
        "place": distribution,
        "advice": f"CloudFront may serve old copies of {files} until their Cache-Control runs out ({reason}).",
    }
