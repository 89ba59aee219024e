"""The addresses a site file names, made absolute and canonical: web addresses, places to store in, files to read.

Nothing is looked up: no network, no file system but the user's home for `~`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import SplitResult, quote, unquote, urlsplit

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

from sitemap_ops.site.faults import nearest, not_a, wrong

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_HOST = re.compile(r"(?!.*\.\.)[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?")
_URL_PATH = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_PATH_SAFE = "/!$&'()*+,;=:@"
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def web_folder(text: str) -> str:
    """An absolute http(s) address that ends in "/": scheme and host lower-case, host as its A-label, no default port.

    Raises PydanticCustomError where it has user name, query or fragment, or its last segment is no folder.
    """
    origin, path = _split_web(text)
    if not path.endswith("/"):
        raise not_a(f"an address that ends in '/', so that it is clear what it covers: write '{origin}{path}/'.")
    return origin + path


def files_folder(text: str) -> str:
    """Like `web_folder`, but the last "/" may be left out: file names are appended to it."""
    origin, path = _split_web(text)
    if path.lower().endswith((".xml", ".gz", ".txt")):
        raise not_a(f"a folder's address: leave the file's name out and write '{origin}{path.rpartition('/')[0]}/'.")
    return origin + path.rstrip("/") + "/"


def web_origin(text: str) -> str:
    """`scheme://host[:port]`, canonical as in `web_folder`. Raises PydanticCustomError where there is a path."""
    origin, path = _split_web(text)
    if path != "/":
        raise not_a(f"scheme://host[:port] alone: write '{origin}'.")
    return origin


def origin_of(address: str) -> str:
    """The part of a canonical web address before its path."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _split_web(text: str) -> tuple[str, str]:
    """Origin and path of an absolute http(s) address; an empty path is "/"."""
    parts, port = _urlsplit(text)
    if "@" in parts.netloc:
        raise wrong("holds a user name or password: leave it out, the site file holds no secrets.")
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise _not_web(text)
    if "?" in text or "#" in text:
        raise not_a("an address without query and fragment: leave out what follows '?' or '#'.")
    host = _host(parts.hostname)
    if not _URL_PATH.fullmatch(parts.path):
        raise not_a(f"percent-encoded: write its path as '{quote(unquote(parts.path), safe=_PATH_SAFE)}'.")
    suffix = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{suffix}", parts.path or "/"


def _urlsplit(text: str) -> tuple[SplitResult, int | None]:
    if re.search(r"[\s\x00-\x1f\x7f\\]", text):
        raise not_a("an address: remove spaces, control characters and backslashes.")
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError:
        raise not_a("an address: check its host and port, as in https://www.example.com:8443/.") from None


def _not_web(text: str) -> PydanticCustomError:
    problem = "an absolute http or https address"
    scheme, colon, rest = text.partition("://")
    guess = nearest(scheme, _DEFAULT_PORTS) if colon else "https"
    host = rest if colon else text.lstrip("/")
    if guess and re.match(r"[\w-]+(\.[\w-]+)+([:/]|$)", host):
        return not_a(f"{problem}: did you mean '{guess}://{host.rstrip('/')}/'?")
    return not_a(f"{problem}: write it as https://www.example.com/.")


def _host(host: str) -> str:
    if ":" in host:
        from ipaddress import IPv6Address

        try:
            return f"[{IPv6Address(host)}]"
        except ValueError:
            raise not_a("an address with a valid IPv6 host: check what is between the brackets.") from None
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True, std3_rules=False, transitional=False).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise not_a("an address whose host is a valid internationalised name: check its letters.") from None
    if not _HOST.fullmatch(host):
        raise not_a("an address with a valid host: write it as https://www.example.com/.")
    return host


def storage_folder(text: str, folder: Path) -> str:
    """A place to store in, as `s3://bucket/prefix/` or `file:///folder/`; a plain path resolves against `folder`.

    Raises PydanticCustomError for any other scheme, and for addresses that hold credentials, queries or odd segments.
    """
    scheme = _scheme(text)
    if scheme == "s3":
        bucket, prefix = _split_s3(text)
        if {".", ".."} & set(prefix.split("/")) or "//" in prefix or "?" in prefix or "#" in prefix:
            raise not_a("a usable prefix: leave out '?', '#', '//' and segments of dots.")
        return f"s3://{bucket}/{prefix.strip('/')}/" if prefix.strip("/") else f"s3://{bucket}/"
    if scheme not in (None, "file"):
        other = " (s3a:// and s3n:// are written s3:// here)" if scheme in ("s3a", "s3n") else ""
        raise not_a(f"a place this can write to: use s3://bucket/prefix/ or a folder's path{other}.")
    return folder_uri(local_path(text, folder))


def folder_uri(path: Path) -> str:
    return path.as_uri().rstrip("/") + "/"


def readable(text: str, folder: Path) -> str:
    """A file, folder or glob to read, as an absolute local path or `s3://bucket/key`."""
    scheme = _scheme(text)
    if scheme == "s3":
        bucket, key = _split_s3(text)
        return f"s3://{bucket}/{key}"
    if scheme not in (None, "file"):
        raise not_a("a path this can read: use a local path or s3://bucket/key.")
    return str(local_path(text, folder))


def base_folder(info: ValidationInfo) -> Path:
    """What relative paths resolve against: the site file's folder, or the current one where a model is made in code."""
    return info.context["folder"] if info.context else Path.cwd()


def local_path(text: str, folder: Path) -> Path:
    """An absolute path from a plain one, `~/...` or `file:///...`; symbolic links are kept as they are."""
    if not text.strip() or _UNPRINTABLE.search(text):
        raise not_a("a path: it is empty or holds control characters.")
    if _scheme(text) == "file":
        parts = urlsplit(text)
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise not_a("a file address with an absolute path: write file:///folder/ with three slashes.")
        text = unquote(parts.path)
    try:
        return Path("/" + os.path.normpath(folder / Path(text).expanduser()).lstrip("/"))
    except RuntimeError:
        raise not_a("a path with a known home folder: write the path out instead of '~'.") from None


def lies_in(inner: str, outer: str) -> bool:
    """Whether one canonical storage folder is the other or is below it, with symbolic links resolved."""
    return _real(inner).startswith(_real(outer))


def _real(uri: str) -> str:
    if uri.startswith("file:"):
        return folder_uri(Path(os.path.realpath(unquote(urlsplit(uri).path))))
    return uri


def _scheme(text: str) -> str | None:
    match = _SCHEME.match(text)
    return match[1].lower() if match else None


def _split_s3(text: str) -> tuple[str, str]:
    rest = text.partition(":")[2]
    if _UNPRINTABLE.search(rest):
        raise not_a("an S3 address: it holds control characters, maybe a line's end.")
    if not rest.startswith("//"):
        raise not_a("an S3 address: write it as s3://bucket/prefix/ with two slashes.")
    bucket, _, key = rest[2:].partition("/")
    if "@" in bucket:
        raise wrong("holds credentials: leave them out and name the Airflow connection that holds them in aws_conn_id.")
    if not _BUCKET.fullmatch(bucket):
        raise not_a("an S3 address with a valid bucket name: write it as s3://bucket/prefix/.")
    return bucket, key
