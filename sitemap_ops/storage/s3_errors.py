"""What an S3 request's failure means to the person who runs the site: one sentence, what to do, no secret.

Server messages and exceptions' own texts are not passed on: they can hold signatures, keys, and URLs with user info.
"""

from __future__ import annotations

import re

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    TokenRetrievalError,
)

from sitemap_ops.errors import TargetError

_WRONG_KEY = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "TokenRefreshRequired"}
_WRONG_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
_NO_CREDENTIALS = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, TokenRetrievalError)
_CREDENTIALS_HINT = "check the connection's access key, secret and session token"


def explain(error: Exception, *, action: str, uri: str, bucket: str, endpoint: str) -> TargetError:
    """The TargetError for a botocore or s3transfer exception; `action` reads like "write", `uri` names the object."""
    if isinstance(error, ClientError):
        return _answered(error, action, uri, bucket, address(endpoint))
    if isinstance(error, _NO_CREDENTIALS):
        return TargetError(
            f"There are no usable credentials to {action} {uri}: set the connection's access key and secret,"
            " or give boto3 its own (environment, profile, instance role)."
        )
    if isinstance(error, ParamValidationError):
        return TargetError(f"S3 can't take a request to {action} {uri}: check that {bucket!r} is a bucket's name.")
    if isinstance(error, ConnectionError | HTTPClientError):
        return TargetError(
            f"The S3 endpoint {address(endpoint)} can't be reached to {action} {uri} ({type(error).__name__}):"
            " check the endpoint URL of the connection and the network."
        )
    return TargetError(f"It was not possible to {action} {uri} ({type(error).__name__}): run again later.")


def _answered(error: ClientError, action: str, uri: str, bucket: str, endpoint: str) -> TargetError:
    code, status = code_of(error), status_of(error)
    told = f"({status} {code})" if code != str(status) else f"({status})"
    if code in ("NoSuchBucket", "InvalidBucketName"):
        text = f"There is no bucket {bucket!r} at {endpoint}: create it, or correct its name in the site file."
    elif code == "AccessControlListNotSupported":
        text = (
            f"The bucket {bucket!r} takes no ACLs {told}: remove `acl` from the site file, and grant reads by policy."
        )
    elif code in _WRONG_KEY:
        text = f"{endpoint} refused the credentials to {action} {uri} {told}: {_CREDENTIALS_HINT}."
    elif code == "RequestTimeTooSkewed":
        text = (
            f"{endpoint} refused to {action} {uri} {told}: this machine's clock is off by more than 15 minutes, set it."
        )
    elif code in _WRONG_REGION or status in (301, 307):
        text = f"The bucket {bucket!r} is in another region {told}: set the region of the connection."
    elif status == 403:
        text = (
            f"{endpoint} refused to {action} {uri} {told}: {_CREDENTIALS_HINT}, and that its policy allows"
            f" s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket on {bucket!r}."
        )
    elif status == 404:
        text = f"There is nothing at {uri} to {action}: it was never written, or was removed by something else."
    elif code == "BadDigest":
        text = (
            f"{endpoint} got other bytes of {uri} than were sent, again and again {told}: check the network and proxy."
        )
    elif status >= 500 or status == 429:
        text = (
            f"{endpoint} could not {action} {uri} in several tries {told}: it is overloaded or broken, run again later."
        )
    else:
        text = f"{endpoint} refused to {action} {uri} {told}: check the connection and the bucket's settings."
    return TargetError(text)


def code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def status_of(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def address(endpoint: str) -> str:
    """Scheme, host and port of an endpoint: no user info, which can be a password with any letters in it."""
    return re.sub(r"^(\w+://)(?:.*@)?([^/?#]*).*$", r"\1\2", endpoint)
