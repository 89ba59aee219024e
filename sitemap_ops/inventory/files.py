"""A file or an S3 object as one stream of bytes: unpacked where it is gzip, and never short without an error."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from isal import igzip
from isal.isal_zlib import IsalError

from sitemap_ops.errors import SourceError

if TYPE_CHECKING:
    from sitemap_ops.connections import Connections

GZIP_MAGIC = b"\x1f\x8b"
BUFFER = 1 << 20


@contextmanager
def open_bytes(path: str, connections: Connections, aws_conn_id: str | None) -> Iterator[IO[bytes]]:
    """The bytes at a local path or `s3://bucket/key`.

    gzip is told by its first two bytes, which no text starts with, whatever the name says. A truncated gzip or a
    download cut short raises in `read`; wrap those calls in `reading`.
    """
    with ExitStack() as stack:
        with reading(path):
            raw = stack.enter_context(_open(path, connections, aws_conn_id))
            plain = stack.enter_context(io.BufferedReader(raw, BUFFER))
            packed = plain.peek(2)[:2] == GZIP_MAGIC
        yield stack.enter_context(igzip.open(plain, "rb")) if packed else plain  # type: ignore[no-untyped-call]


def _open(path: str, connections: Connections, aws_conn_id: str | None) -> io.RawIOBase:
    if not path.startswith("s3://"):
        return Path(path).open("rb", buffering=0)
    bucket, _, key = path.removeprefix("s3://").partition("/")
    body: Any = connections.s3(aws_conn_id).get_object(Bucket=bucket, Key=key)["Body"]
    return body  # type: ignore[no-any-return]  # an io.IOBase with readinto, which checks the content's length


@contextmanager
def reading(where: str) -> Iterator[None]:
    """What a disk, a network or a gzip can do to a read, as one SourceError that says where."""
    try:
        yield
    except FileNotFoundError:
        raise SourceError(f"There is no file {where}.") from None
    except IsADirectoryError:
        raise SourceError(f"{where} is a folder, where a file is needed.") from None
    except EOFError:
        raise SourceError(f"{where} is no whole gzip file: it was cut off, or something follows it.") from None
    except (OSError, IsalError) as error:  # type: ignore[misc]  # isal declares its error as a variable
        raise SourceError(f"{where} can't be read to its end: {error}") from error
    except Exception as error:
        from botocore.exceptions import BotoCoreError, ClientError

        if not isinstance(error, BotoCoreError | ClientError):
            raise
        raise SourceError(f"{where} can't be read to its end: {error}") from error
