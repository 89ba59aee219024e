"""How S3 clients are set up, and what S3's failures are told as."""

from __future__ import annotations

import base64
from urllib.parse import quote

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ProxyConnectionError, SSLError
from botocore.parsers import ResponseParserError

from sitemap_ops.errors import UsageError
from sitemap_ops.storage.s3 import S3Store
from sitemap_ops.storage.s3_client import MAX_CONNECTIONS, client_config
from sitemap_ops.storage.s3_errors import explain

SECRET = "S3cr3t/p@ss w0rd"
HEX64 = "0" * 64


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:8333", "https://minio.example.com", "https://amazonaws.com.evil.example"]
)
def test_other_endpoints_get_what_they_know(endpoint: str) -> None:
    """S3-14: no checksum by default that a store may not know, and addresses that need no DNS name for each bucket."""
    config = client_config(endpoint)
    assert config.request_checksum_calculation == config.response_checksum_validation == "when_required"
    assert config.s3 == {"addressing_style": "path"}


@pytest.mark.parametrize(
    "endpoint", [None, "https://s3.eu-west-1.amazonaws.com", "https://s3.cn-north-1.amazonaws.com.cn"]
)
def test_aws_keeps_its_own_defaults(endpoint: str | None) -> None:
    config = client_config(endpoint)
    assert config.request_checksum_calculation is None
    assert not config.s3


@pytest.mark.parametrize("endpoint", [None, "http://127.0.0.1:8333"])
def test_retries_and_timeouts_are_set_on_purpose(endpoint: str | None) -> None:
    """infra.md section 5: the default gives up after 3 attempts, and waits 60 s for a stalled connection."""
    config = client_config(endpoint)
    assert config.retries == {"mode": "standard", "total_max_attempts": 8}
    assert (config.connect_timeout, config.read_timeout, config.max_pool_connections) == (5, 30, MAX_CONNECTIONS)


def test_tries_and_timeouts_can_be_set_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEMAP_OPS_S3_ATTEMPTS", "3")
    monkeypatch.setenv("SITEMAP_OPS_S3_CONNECT_TIMEOUT", "0.5")
    monkeypatch.setenv("SITEMAP_OPS_S3_READ_TIMEOUT", "1.5")
    config = client_config(None)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}
    assert (config.connect_timeout, config.read_timeout) == (0.5, 1.5)


@pytest.mark.parametrize("value", ["0", "-1", "soon", "inf", "nan"])
def test_a_timeout_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Waiting for ever is what the setting is there to prevent."""
    monkeypatch.setenv("SITEMAP_OPS_S3_READ_TIMEOUT", value)
    with pytest.raises(
        UsageError, match=r"SITEMAP_OPS_S3_READ_TIMEOUT is .*, not a number above 0: write one such as 30"
    ):
        client_config(None)


def _region(name: str) -> dict[str, object]:
    return {"HTTPHeaders": {"x-amz-bucket-region": name}}


def _client_error(status: int, code: str, *, region: str = "eu-central-1") -> ClientError:
    """As the server sends it, with what must not be passed on."""
    message = f"The signature of {SECRET} does not match; StringToSign AWS4-HMAC-SHA256 {HEX64}"
    return ClientError(
        {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": status, **_region(region)},
        },  # type: ignore[typeddict-item]
        "PutObject",
    )


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (_client_error(404, "NoSuchBucket"), "There is no bucket 'shop' at http://s3.example:9000: create it"),
        (
            _client_error(400, "AccessControlListNotSupported"),
            "takes no ACLs (400 AccessControlListNotSupported): remove `acl`",
        ),
        (_client_error(403, "SignatureDoesNotMatch"), "refused the credentials"),
        (_client_error(403, "InvalidAccessKeyId"), "refused the credentials"),
        (_client_error(400, "ExpiredToken"), "(400 ExpiredToken): the session token has run out or is wrong"),
        (_client_error(400, "InvalidToken"), "get a new one"),
        (_client_error(403, "AccessDenied"), "s3:PutObject"),
        (_client_error(403, "403"), "refused to write s3://shop/k (403): check"),
        (_client_error(403, "RequestTimeTooSkewed"), "clock"),
        (
            _client_error(301, "PermanentRedirect"),
            "another region (301 PermanentRedirect): set the region of the connection",
        ),
        (_client_error(301, "301", region="eu-west-1"), "set the region of the connection to eu-west-1."),
        (_client_error(301, "301", region=f"x\n{SECRET}"), "set the region of the connection."),
        (_client_error(400, "KMS.DisabledException"), "key that encrypts the bucket 'shop'"),
        (_client_error(400, "AuthorizationHeaderMalformed"), "another region"),
        (_client_error(404, "NoSuchKey"), "There is nothing at s3://shop/k"),
        (_client_error(503, "SlowDown"), "run again later"),
        (_client_error(500, "InternalError"), "run again later"),
        (_client_error(400, "BadDigest"), "other bytes"),
        (_client_error(400, "Whatever"), "(400 Whatever)"),
        (NoCredentialsError(), "no usable credentials to write s3://shop/k: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and"),
        (EndpointConnectionError(endpoint_url=f"http://u:{SECRET}@s3.example:9000/shop/k"), "can't be reached"),
        (SSLError(endpoint_url=f"https://u:{SECRET}@s3.example", error="self-signed"), "set AWS_CA_BUNDLE"),
        (ProxyConnectionError(proxy_url=f"http://u:{SECRET}@proxy"), "can't be reached"),
        (ResponseParserError(SECRET), "gave an answer that can't be read when asked to write s3://shop/k"),
        (ValueError(SECRET), "check that it is an S3 endpoint"),
        (KeyError(SECRET), "check that it is an S3 endpoint"),
        (RuntimeError(SECRET), "run again later"),
    ],
    ids=lambda value: (
        getattr(value, "response", {}).get("Error", {}).get("Code") if isinstance(value, Exception) else ""
    ),
)
def test_each_failure_is_one_sentence_that_says_what_to_do(error: Exception, says: str) -> None:
    """C-8 for the ACL; no message repeats what the server or botocore said, which can hold secrets."""
    told = str(
        explain(error, action="write", uri="s3://shop/k", bucket="shop", endpoint=f"http://u:{SECRET}@s3.example:9000")
    )
    assert says in told, told
    assert told.endswith(".")
    assert "\n" not in told
    for leaked in (SECRET, quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode(), HEX64):
        assert leaked not in told


def test_no_secret_in_a_repr() -> None:
    client = boto3.client("s3", aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key=SECRET, region_name="us-east-1")
    store = S3Store(client, "shop", "prefix/")
    assert repr(store) == "S3Store('s3://shop/prefix/')"
    assert SECRET not in repr(vars(store))
