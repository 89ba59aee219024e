"""Whether a store keeps the promises that publishing stands on, found out by asking it (DESIGN 7).

A store that ignores `If-None-Match` and `If-Match` answers 200 to every writer: two runs at once would overwrite each
other and both report success. One that ignores checksums stores what a faulty line made of a file.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from sitemap_ops.errors import TargetError
from sitemap_ops.storage import OWN_PREFIX, Headers, Store, Traits

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PROBE_PREFIX = f"{OWN_PREFIX}probe-"
"""What a probe's key starts with: it lives for a second, and `Store.sweep` removes what a killed run left."""

REMEMBERED = "stores.json"
"""The key in `state` of what earlier probes found of good stores, by each one's `place`."""

_ASKS = 3

_HEADERS = Headers("application/json", "no-store")
_KNOWN = TypeAdapter(dict[str, Traits])


def check_stores(target: Store, state: Store, *, allow_unsafe: bool = False) -> list[dict[str, str]]:
    """The findings about a site's stores. A good store is asked once: `state` remembers it.

    Writes to both stores, so it is nothing for a plan. Raises TargetError for one that ignores conditional writes,
    unless `allow_unsafe`: then that is a finding; and where a store can't be reached or refuses the probe.
    """
    known = _remembered(state)
    found = {store.place: known.get(store.place) or store.probe() for store in (state, target)}
    good = {place: traits for place, traits in found.items() if traits.conditions}
    if good.items() - known.items():
        body = json.dumps({place: asdict(traits) for place, traits in sorted({**known, **good}.items())}, indent=1)
        state.put(REMEMBERED, body.encode(), _HEADERS)
    return [finding for place, traits in found.items() for finding in judge(place, traits, allow_unsafe=allow_unsafe)]


def judge(place: str, traits: Traits, *, allow_unsafe: bool = False) -> list[dict[str, str]]:
    """What is to be said of a store with these traits. Raises TargetError as `check_stores` does."""
    findings = []
    if not traits.conditions:
        told = f"{place} does not honour conditional writes ({traits.ignored}), so two runs at once could overwrite"
        if not allow_unsafe:
            raise TargetError(
                f"{told} each other unnoticed: use a store that does, or set allow_unsafe_store in the site file if"
                " no two runs can ever meet."
            )
        findings.append(_finding("S3-18", "store-ignores-conditions", place, f"{told} each other: see that none meet."))
    if not traits.checksums:
        advice = f"{place} does not compare a body with its checksum: what arrives damaged shows only when read back."
        findings.append(_finding("S3-14", "store-ignores-checksums", place, advice))
    return findings


def probe_s3(client: S3Client, bucket: str, key: str) -> Traits:
    """What an S3 store does with conditions and checksums, by a few small writes at a key that is removed again.

    A store that seems bad is asked again: where an answer got lost, a condition that held looks like one that did not.
    Raises ClientError or BotoCoreError where the store can't be asked.
    """
    try:
        for _ in range(_ASKS):
            traits = _asked(client, bucket, key)
            if traits.conditions:
                break
    finally:
        client.delete_object(Bucket=bucket, Key=key)
    return traits


def _asked(client: S3Client, bucket: str, key: str) -> Traits:
    from botocore.exceptions import ClientError  # here, as folders are asked too, which need no boto3

    from sitemap_ops.storage.s3_errors import status_of

    def put(body: bytes, **options: Any) -> tuple[int, str]:
        """Status and ETag of the answer; a refusal is an answer."""
        try:
            answer = client.put_object(Bucket=bucket, Key=key, Body=body, ContentType="text/plain", **options)
            return 200, answer["ETag"]
        except ClientError as error:
            if status_of(error) not in (400, 404, 409, 412, 501):
                raise
            return status_of(error), ""

    etag = client.put_object(Bucket=bucket, Key=key, Body=b"1", ContentType="text/plain")["ETag"]
    create_only, overwritten = put(b"2", IfNoneMatch="*")
    etag = overwritten or etag
    swapped = put(b"3", IfMatch=etag)[0] == 200 or put(b"3", IfMatch=etag.strip('"'))[0] == 200
    stale, _ = put(b"4", IfMatch=etag)
    sha256 = base64.b64encode(hashlib.sha256(b"not 5").digest()).decode()
    md5 = base64.b64encode(hashlib.md5(b"not 5", usedforsecurity=False).digest()).decode()
    checked = any(put(b"5", **wrong)[0] == 400 for wrong in ({"ChecksumSHA256": sha256}, {"ContentMD5": md5}))
    return Traits(create_only=create_only == 412, swap=swapped and stale == 412, checksums=checked)


def _remembered(state: Store) -> Mapping[str, Traits]:
    """What earlier probes found; a record that can't be read is no reason to stop, the stores can be asked again."""
    found = state.get(REMEMBERED)
    try:
        return _KNOWN.validate_json(found[0]) if found else {}
    except ValidationError:
        return {}


def _finding(rule: str, code: str, place: str, advice: str) -> dict[str, str]:
    return {"rule": rule, "code": code, "level": "warning", "place": place, "advice": advice}
