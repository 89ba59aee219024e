"""What an S3 request's failure means to the person who runs the site: one sentence, what to do, no secret.

Server messages and exceptions' own texts are not passed on: they can hold signatures, keys, and URLs with user info.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    SSLError,
    TokenRetrievalError,
)
from botocore.parsers import ResponseParserError

from sitemap_ops.errors import TargetError

UNREADABLE = (ResponseParserError, ValueError, KeyError)
"""What botocore, or who reads its answers, raises about an answer that is no S3 answer: a proxy's page, damaged XML."""

_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, TokenRetrievalError)
_WRONG_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
_ACTIONS = {
    "": "s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket",
    "clean up": "s3:ListBucketMultipartUploads, s3:AbortMultipartUpload, s3:DeleteObject and s3:ListBucket",
}
"""What a policy has to allow, by action."""

_ANSWERS: tuple[tuple[Callable[[str, int], bool], str], ...] = (
    (
        lambda code, _: code in ("NoSuchBucket", "InvalidBucketName"),
        "There is no bucket {bucket!r} at {endpoint}: create it, or correct its name in the site file.",
    ),
    (
        lambda code, _: code == "AccessControlListNotSupported",
        "The bucket {bucket!r} takes no ACLs {told}: remove `acl` from the site file, and grant reads by policy.",
    ),
    (
        lambda code, _: code in ("ExpiredToken", "InvalidToken", "TokenRefreshRequired"),
        "{endpoint} refused the credentials to {action} {uri} {told}: the session token has run out or is wrong, so get"
        " a new one, or use credentials that renew themselves (an instance's or a pod's role).",
    ),
    (
        lambda code, _: code in ("InvalidAccessKeyId", "SignatureDoesNotMatch"),
        "{endpoint} refused the credentials to {action} {uri} {told}:"
        " check the connection's access key, secret and session token.",
    ),
    (
        lambda code, _: code == "RequestTimeTooSkewed",
        "{endpoint} refused to {action} {uri} {told}: this machine's clock is off by more than 15 minutes, set it.",
    ),
    (
        lambda code, status: code in _WRONG_REGION or status in (301, 307),
        "The bucket {bucket!r} is in another region {told}: set the region of the connection{region}.",
    ),
    (
        lambda code, _: code.startswith("KMS."),
        "{endpoint} could not use the key that encrypts the bucket {bucket!r} to {action} {uri} {told}: check that it"
        " is enabled and that its policy allows kms:GenerateDataKey and kms:Decrypt.",
    ),
    (
        lambda _, status: status == 403,
        "{endpoint} refused to {action} {uri} {told}: check the connection's access key, secret and session token, and"
        " that its policy allows {actions} on {bucket!r} (docs/s3.md has the whole policy).",
    ),
    (
        lambda _, status: status == 404,
        "There is nothing at {uri} to {action}: it was never written, or was removed by something else.",
    ),
    (
        lambda code, _: code == "BadDigest",
        "{endpoint} got other bytes of {uri} than were sent, again and again {told}: check the network and proxy.",
    ),
    (
        lambda _, status: status >= 500 or status == 429,
        "{endpoint} could not {action} {uri} in several tries {told}: it is overloaded or broken, run again later.",
    ),
    (
        lambda *_: True,
        "{endpoint} refused to {action} {uri} {told}: check the connection and the bucket's settings.",
    ),
)
"""What an answer's code and status mean; the first that fits."""


def explain(error: Exception, *, action: str, uri: str, bucket: str, endpoint: str) -> TargetError:
    """The TargetError for a botocore or s3transfer exception; `action` reads like "write", `uri` names the object."""
    if isinstance(error, ClientError):
        return _answered(error, action, uri, bucket, address(endpoint))
    if isinstance(error, _NO_CREDENTIALS):
        return TargetError(
            f"There are no usable credentials to {action} {uri}: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY, or use an instance's role; in Airflow, the connection's access key and secret do."
        )
    if isinstance(error, ParamValidationError):
        return TargetError(f"S3 can't take a request to {action} {uri}: check that {bucket!r} is a bucket's name.")
    if isinstance(error, SSLError):
        return TargetError(
            f"The S3 endpoint {address(endpoint)} has a certificate that is not trusted here, so it was not asked to"
            f" {action} {uri}: set AWS_CA_BUNDLE, or `verify` in the connection's extra, to its authority's file."
        )
    if isinstance(error, ConnectionError | HTTPClientError):
        return TargetError(
            f"The S3 endpoint {address(endpoint)} can't be reached to {action} {uri} ({type(error).__name__}):"
            " check the endpoint URL of the connection and the network."
        )
    if isinstance(error, UNREADABLE):
        return TargetError(
            f"{address(endpoint)} gave an answer that can't be read when asked to {action} {uri}"
            f" ({type(error).__name__}): check that it is an S3 endpoint, and what lies between; then run again."
        )
    return TargetError(f"It was not possible to {action} {uri} ({type(error).__name__}): run again later.")


def _answered(error: ClientError, action: str, uri: str, bucket: str, endpoint: str) -> TargetError:
    code, status = code_of(error), status_of(error)
    sentence = next(sentence for means, sentence in _ANSWERS if means(code, status))
    values = {
        "action": action,
        "actions": _ACTIONS.get(action, _ACTIONS[""]),
        "bucket": bucket,
        "endpoint": endpoint,
        "region": _region_of(error),
        "told": f"({status} {code})" if code != str(status) else f"({status})",
        "uri": uri,
    }
    return TargetError(sentence.format_map(values))


def _region_of(error: ClientError) -> str:
    """The bucket's region, where the answer tells it."""
    told = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("x-amz-bucket-region", "")
    return f" to {told}" if re.fullmatch(r"[a-z0-9-]{1,40}", told) else ""


def code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def status_of(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def address(endpoint: str) -> str:
    """Scheme, host and port of an endpoint: no user info, which can be a password with any letters in it."""
    return re.sub(r"^(\w+://)(?:.*@)?([^/?#]*).*$", r"\1\2", endpoint)
