"""The one table of headers (DESIGN 7), and the check that an object's bytes are what its headers say.

| key        | Content-Type                   | bytes                    |
|------------|--------------------------------|--------------------------|
| `.xml.gz`  | application/gzip               | one gzip layer, then XML |
| `.txt.gz`  | application/gzip               | one gzip layer           |
| `.xml`     | application/xml; charset=utf-8 | XML                      |
| `.txt`     | text/plain; charset=utf-8      | no gzip                  |
| `.json`    | application/json               | no gzip                  |

Never a Content-Encoding: a `.gz` file is handed on as it is, and a reader unpacks it once (C-4, S3-04, S3-06). Caches
may keep an object for a year when its name holds its content's digest, otherwise for five minutes (C-21, S3-09).
"""

from __future__ import annotations

import hashlib

from sitemap_ops.errors import OutputError
from sitemap_ops.storage import Headers
from sitemap_ops.storage.content import GZIP_MAGIC, DamagedContent, gunzip_blocks

GZIP = "application/gzip"
CONTENT_TYPES = {
    ".xml.gz": GZIP,
    ".txt.gz": GZIP,
    ".xml": "application/xml; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
}
SHORT = "public, max-age=300"
LONG = "public, max-age=31536000, immutable"
PRIVATE = Headers("application/json", "no-store")
"""For this program's own records in `state`."""

_XML_START = b"<?xml"


def headers_for(key: str, *, immutable: bool = False) -> Headers:
    """A fresh Headers for a public object; `immutable` says that its name changes whenever its content does.

    Raises OutputError for a kind of file that the table does not have: nothing is left to a guess (C-1, S3-01).
    """
    return Headers(CONTENT_TYPES[_suffix(key)], LONG if immutable else SHORT)


def headers_of(key: str, sha256: str) -> Headers:
    """The headers of a file whose content has this digest: immutable where its name holds the digest's start (C-21)."""
    return headers_for(key, immutable=f"-{sha256[:16]}." in key)


def check_body(key: str, body: bytes, headers: Headers) -> str:
    """The hex SHA-256 of the content, after gunzip, of an object whose key, headers and bytes agree.

    Raises OutputError where they do not: C-2, C-3, C-4, C-6, C-7, S3-06, S3-07.
    """
    suffix = _suffix(key)
    if normal_type(headers.content_type) != normal_type(CONTENT_TYPES[suffix]) or encoding_of(headers):
        raise _wrong(key, f"its headers say {_told(headers)}, but {suffix} files are {CONTENT_TYPES[suffix]} alone")
    zipped = body.startswith(GZIP_MAGIC)
    if zipped != suffix.endswith(".gz"):
        raise _wrong(key, f"its name says {suffix} but its bytes are {'' if zipped else 'not '}gzip")
    digest = hashlib.sha256()
    start = b""
    try:
        for block in gunzip_blocks([body]) if zipped else [body]:
            start = start or block[: len(_XML_START)]
            digest.update(block)
    except DamagedContent as error:
        raise _wrong(key, str(error)) from None
    if start.startswith(GZIP_MAGIC):
        raise _wrong(key, "it was compressed twice")
    if ".xml" in suffix and start != _XML_START:
        raise _wrong(key, f"its content starts with {start!r} instead of {_XML_START.decode()!r}")
    return digest.hexdigest()


def same_headers(stored: Headers | None, wanted: Headers) -> bool:
    """Whether an object's headers are the wanted ones; a store that has none (None) can't have wrong ones."""
    if stored is None:
        return True
    return (normal_type(stored.content_type), encoding_of(stored), _normal(stored.cache_control)) == (
        normal_type(wanted.content_type),
        encoding_of(wanted),
        _normal(wanted.cache_control),
    )


def normal_type(content_type: str) -> str:
    return _normal(content_type)


def encoding_of(headers: Headers) -> str:
    """Content-Encoding without `aws-chunked`, which some stores keep from the upload and don't serve."""
    codings = _normal(headers.content_encoding).split(",")
    return ",".join(coding for coding in codings if coding not in ("", "aws-chunked"))


def _normal(value: str | None) -> str:
    return "".join((value or "").split()).lower()


def _suffix(key: str) -> str:
    found = next((suffix for suffix in CONTENT_TYPES if key.endswith(suffix)), None)
    if found is None:
        raise _wrong(key, f"files of its kind are not published, only {', '.join(CONTENT_TYPES)}")
    return found


def _told(headers: Headers) -> str:
    return headers.content_type + (f" with Content-Encoding {headers.content_encoding}" if encoding_of(headers) else "")


def _wrong(key: str, reason: str) -> OutputError:
    return OutputError(f"{key} can't be published: {reason}; this is a fault of the program or of its work folder.")
