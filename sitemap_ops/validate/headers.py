"""What is said about the headers a file is served with (S3-01 to S3-09, Y-15, B-05)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from sitemap_ops.validate.document import Judged

XML_TYPES = {"application/xml", "text/xml"}
FEED_TYPES = XML_TYPES | {"application/rss+xml", "application/atom+xml", "application/rdf+xml"}
GZIP_TYPES = {"application/gzip", "application/x-gzip", "application/gzip-compressed"}
YEAR = 31_536_000
_HASHED = re.compile(r"(?i)(?:^|[-_.])[0-9a-f]{8,}(?=[-_.])")


def judge_headers(headers: Mapping[str, str], name: str, judged: Judged, now: datetime) -> None:
    """headers: lower-case names. name: key or URL path. judged: tells what the bytes were, and takes the findings."""
    encodings = [part.strip().lower() for part in headers.get("content-encoding", "").split(",") if part.strip()]
    _encoding(encodings, name, headers, judged)
    _type(headers.get("content-type", ""), encodings, name, judged)
    _cache(headers.get("cache-control"), name, judged)
    if "noindex" in headers.get("x-robots-tag", "").lower():
        judged.record.add("noindex-header", value=headers["x-robots-tag"])
    _age(headers.get("last-modified"), judged, now)


def _encoding(encodings: list[str], name: str, headers: Mapping[str, str], judged: Judged) -> None:
    record = judged.record
    shown = headers.get("content-encoding")
    if encodings and encodings not in (["gzip"], ["identity"]):
        record.add("s3-content-encoding", value=shown, message="The Content-Encoding is not gzip.")
        return
    encoded = encodings == ["gzip"]
    named_gz = name.lower().endswith(".gz")
    if encoded and not judged.gzipped:
        record.add("s3-content-encoding", value=shown, message="Content-Encoding says gzip, but the bytes are plain.")
    elif encoded and named_gz:
        record.add("s3-gz-encoding", value=shown)
    elif judged.gzipped and not encoded and (not named_gz or _media(headers.get("content-type", "")) in XML_TYPES):
        record.add("s3-gzip-without-encoding", value=headers.get("content-type"))


def _type(content_type: str, encodings: list[str], name: str, judged: Judged) -> None:
    record, media = judged.record, _media(content_type)
    if media == "binary/octet-stream":
        record.add("s3-content-type-default", value=content_type)
        return
    if judged.gzipped and ("gzip" not in encodings or name.lower().endswith(".gz")):
        good = media in GZIP_TYPES or media in XML_TYPES | {"text/plain"}  # these two are the encoding's fault
    elif judged.kind == "text":
        good = media == "text/plain" and "utf-8" in content_type.lower()
    elif judged.kind == "feed":
        good = media in FEED_TYPES
    else:
        good = media == "application/xml" or (media == "text/xml" and "utf-8" in content_type.lower())
    if not good:
        record.add("s3-content-type", value=content_type or "none")


def _media(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _cache(value: str | None, name: str, judged: Judged) -> None:
    record = judged.record
    if value is None:
        record.add("s3-cache-control", message="Cache-Control is missing.")
        return
    age = re.search(r"max-age\s*=\s*(\d+)", value.lower())
    lasting = "immutable" in value.lower() or (age is not None and int(age[1]) >= YEAR)
    if lasting and not _HASHED.search(name.rpartition("/")[2]):
        record.add(
            "s3-cache-control", value=value, message="Cache-Control lets a file with a fixed name be kept for good."
        )


def _age(value: str | None, judged: Judged, now: datetime) -> None:
    if value is None:
        return
    try:
        written = parsedate_to_datetime(value)
    except ValueError:
        return
    if written.tzinfo is None:
        return
    judged.modified = written
    if now - written > timedelta(hours=24):
        judged.record.add("stale-build", value=value)
