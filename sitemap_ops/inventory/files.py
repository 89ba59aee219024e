"""A file or an S3 object as one stream of bytes: unpacked where it is gzip, and never short without an error."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
from isal import igzip
from isal.isal_zlib import IsalError

from sitemap_ops.errors import SourceError

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

    from sitemap_ops.connections import Connections

S3_SCHEME = "s3://"
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


@contextmanager
def open_seekable(path: str, connections: Connections, aws_conn_id: str | None) -> Iterator[pa.NativeFile]:
    """The bytes at a local path or `s3://bucket/key`, to be read from any place; wrap what reads them in `reading`."""
    with reading(path):
        is_s3 = path.startswith(S3_SCHEME)
        file = pa.PythonFile(_S3Object(path, connections.s3(aws_conn_id)), "r") if is_s3 else pa.OSFile(path, "rb")
    with file:
        yield file


def s3_place(uri: str) -> tuple[str, str]:
    """Bucket and key of `s3://bucket/key`; a key is taken as it stands, with every `?`, `#` and `%` in it."""
    bucket, _, key = uri.removeprefix(S3_SCHEME).partition("/")
    return bucket, key


def _open(path: str, connections: Connections, aws_conn_id: str | None) -> io.RawIOBase:
    if not path.startswith(S3_SCHEME):
        return Path(path).open("rb", buffering=0)
    bucket, key = s3_place(path)
    return _Download(connections.s3(aws_conn_id).get_object(Bucket=bucket, Key=key)["Body"])


class _Download(io.RawIOBase):
    """The body of an answer, by its `read`, which checks the announced length; its `readinto` fails at the end."""

    def __init__(self, body: StreamingBody) -> None:
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        part = self._body.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._body.close()
        super().close()


class _S3Object(io.RawIOBase):
    """An object read by ranges, all of the version that was there first: a change in between is an error."""

    def __init__(self, uri: str, client: S3Client) -> None:
        self._client = client
        self._bucket, self._key = s3_place(uri)
        head = client.head_object(Bucket=self._bucket, Key=self._key)
        self._size, self._etag = head["ContentLength"], head["ETag"]
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        count = min(len(buffer), self._size - self._position)
        if count <= 0:
            return 0
        part = f"bytes={self._position}-{self._position + count - 1}"
        answer = self._client.get_object(Bucket=self._bucket, Key=self._key, Range=part, IfMatch=self._etag)
        with closing(answer["Body"]) as body:
            buffer[:count] = body.read()
        self._position += count
        return count


@contextmanager
def reading(where: str) -> Iterator[None]:
    """What a disk, a network or a gzip can do to a read, as one SourceError that says where."""
    try:
        yield
    except FileNotFoundError:
        raise SourceError(f"There is no file {where}: put it there, or correct the path.") from None
    except IsADirectoryError:
        raise SourceError(f"{where} is a folder, where a file is needed.") from None
    except EOFError:
        raise SourceError(f"{where} is no whole gzip file: it was cut off, or something follows it.") from None
    except (OSError, IsalError) as error:  # type: ignore[misc]  # isal declares its error as a variable
        raise SourceError(f"{where} can't be read whole: {error}") from error
    except Exception as error:
        from botocore.exceptions import BotoCoreError, ClientError

        if not isinstance(error, BotoCoreError | ClientError):
            raise
        raise SourceError(f"{where} can't be read whole: {error}") from error
