"""docs/s3.md: its policy is enough, and no action of it is too much. moto evaluates policies as IAM does."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.release.headers import CONTENT_TYPES, LONG, SHORT
from sitemap_ops.storage import Headers
from sitemap_ops.storage.probe import check_stores
from sitemap_ops.storage.s3 import S3Store
from sitemap_ops.storage.s3_client import client_config
from tests.services.s3 import ACCESS_KEY, REGION, SECRET_KEY, S3Service, moto
from tests.services.shared import ROOT

pytestmark = pytest.mark.integration

PAGE = (ROOT / "docs/s3.md").read_text(encoding="utf-8")
POLICY: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
TEXT = Headers("text/plain; charset=utf-8")
BUCKETS = ("shop-sitemaps", "shop-private")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Service]:
    """A moto of its own, whose policies are enforced by `enforce`."""
    with moto(tmp_path_factory.mktemp("guarded")) as service:
        for bucket in (*BUCKETS, "others"):
            service.create_bucket(bucket)
        yield service


def enforce(service: S3Service, on: bool) -> None:
    body = b"0" if on else b"inf"
    with urllib.request.urlopen(
        urllib.request.Request(f"{service.endpoint_url}/moto-api/reset-auth", body, {"Content-Type": "text/plain"})
    ):
        pass


def client_with(service: S3Service, policy: dict[str, Any]) -> Any:
    """An S3 client of a new user who may do what the policy says, and nothing else."""
    enforce(service, False)
    iam = boto3.client(
        "iam",
        endpoint_url=service.endpoint_url,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
    )
    name = f"user-{len(iam.list_users()['Users'])}"
    iam.create_user(UserName=name)
    # moto judges DeleteObjects by the bucket, where IAM judges it by each object.
    buckets = [f"arn:aws:s3:::{bucket}" for bucket in BUCKETS]
    statements = [{**each, "Resource": [*each["Resource"], *buckets]} for each in policy["Statement"]]
    document = json.dumps({**policy, "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="s3", PolicyDocument=document)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    enforce(service, True)
    return boto3.client(
        "s3",
        endpoint_url=service.endpoint_url,
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        region_name=REGION,
        config=client_config(service.endpoint_url),
    )


def everything(client: Any, folder: Path) -> None:
    """All that the program does at a store."""
    target, state = S3Store(client, BUCKETS[0], "maps"), S3Store(client, BUCKETS[1], "sitemap-ops")
    check_stores(target, state)
    for store in (target, state):
        first = store.put("k", b"1", TEXT, if_none_match=True)
        store.put("k", b"2", TEXT, if_match=first.etag)
        with suppress(ConflictError):
            store.put("k", b"3", TEXT, if_match=first.etag)
        assert store.head("k")
        assert store.get("k")
        assert store.head("none") is store.get("none") is None
        assert [each.key for each in store.list("k")] == ["k"]
        (folder / "large").write_bytes(bytes(20 << 20))
        store.upload(folder / "large", "large", TEXT)
        store.download("large", folder / "copy")
        upload = client.create_multipart_upload(Bucket=store.uri.split("/")[2], Key=f"{store.uri.split('/')[3]}/x")
        assert upload["UploadId"]
        assert store.sweep(timedelta(seconds=-60)) == 1
        store.delete(["k", "large", "stores.json", "none"])
        assert list(store.list()) == []


def test_the_policy_is_enough(guarded: S3Service, tmp_path: Path) -> None:
    everything(client_with(guarded, POLICY), tmp_path)


@pytest.mark.parametrize("action", [action for statement in POLICY["Statement"] for action in statement["Action"]])
def test_every_action_is_needed(guarded: S3Service, tmp_path: Path, action: str) -> None:
    """Least privilege; and who forgets one is told in a sentence."""
    statements = [{**each, "Action": [a for a in each["Action"] if a != action]} for each in POLICY["Statement"]]
    client = client_with(guarded, {**POLICY, "Statement": statements})
    try:
        with pytest.raises(TargetError, match=r"403|could not be deleted .*\(AccessDenied\)") as caught:
            everything(client, tmp_path)
        assert action in str(caught.value)
    finally:
        enforce(guarded, False)
        for bucket in BUCKETS:
            left = guarded.store(bucket)
            left.delete([each.key for each in left.list()])
            left.sweep(timedelta(seconds=-60))


def test_the_policy_allows_nothing_elsewhere(guarded: S3Service) -> None:
    store = S3Store(client_with(guarded, POLICY), "others")
    for call in (lambda: store.put("k", b"x", TEXT), lambda: store.get("k"), lambda: list(store.list())):
        with pytest.raises(TargetError, match="403"):
            call()


def test_the_page_has_the_headers() -> None:
    """The table of docs/s3.md is the table of the code."""
    for suffix, content_type in CONTENT_TYPES.items():
        if suffix != ".json":
            (row,) = re.findall(rf"^\| .*`{re.escape(suffix)}`.* \|.*$", PAGE, re.MULTILINE)[:1]
            assert f"`{content_type}`" in row
            assert f"`{SHORT}`" in row
    assert f"`{LONG}`" in PAGE


def test_the_page_has_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable of the client is on the page, with the default that it has."""
    from sitemap_ops.storage import s3_client

    told = dict(re.findall(r"^\| `(SITEMAP_OPS_S3_\w+)` \| (\d+) \|", PAGE, re.MULTILINE))
    asked: dict[str, str] = {}
    real = s3_client._number
    monkeypatch.setattr(
        s3_client, "_number", lambda name, default: asked.update({name: str(default)}) or real(name, default)
    )
    client_config(None)
    assert told == asked
