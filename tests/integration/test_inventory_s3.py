"""CSV and Parquet sources on a real S3 API: streamed, and never short without an error."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.config import Config

from sitemap_ops.errors import SourceError
from sitemap_ops.inventory import Chunk, read
from sitemap_ops.site import CsvSource, ParquetSource
from tests.services.faults import Fault, FaultProxy, faulty
from tests.services.s3 import S3Service

pytestmark = pytest.mark.integration

ROWS = 100_000
CSV = b"loc,note\n" + b"".join(b"/p/%d,%d\n" % (n, n * n) for n in range(ROWS))


@dataclass
class Place:
    """A bucket, and the client that a run would have."""

    client: Any
    bucket: str

    def s3(self, conn_id: str | None) -> Any:
        assert conn_id == "aws_shop"
        return self.client

    def database(self, conn_id: str) -> Any:
        raise AssertionError

    def put(self, key: str, body: bytes) -> None:
        self.client.put_object(Bucket=self.bucket, Key=key, Body=body)

    def csv(self, key: str, **settings: Any) -> Iterator[Chunk]:
        return self._read(CsvSource(type="csv", path=f"s3://{self.bucket}/{key}", aws_conn_id="aws_shop", **settings))

    def parquet(self, key: str) -> Iterator[Chunk]:
        return self._read(ParquetSource(type="parquet", path=f"s3://{self.bucket}/{key}", aws_conn_id="aws_shop"))

    def _read(self, source: CsvSource | ParquetSource) -> Iterator[Chunk]:
        return read(source, ("loc",), self, chunk_rows=30_000)


def locs(chunks: Iterator[Chunk]) -> list[str]:
    return [value for chunk in chunks for value in chunk.rows["loc"].tolist()]


@pytest.fixture
def place(s3_service: S3Service, bucket: str) -> Place:
    return Place(s3_service.client(), bucket)


@pytest.fixture
def proxy(s3_service: S3Service) -> Iterator[FaultProxy]:
    with faulty(s3_service) as proxy:
        yield proxy


@pytest.fixture
def faulty_place(s3_service: S3Service, bucket: str, proxy: FaultProxy) -> Place:
    quick = Config(retries={"mode": "standard", "total_max_attempts": 2})
    return Place(s3_service.client(endpoint_url=proxy.endpoint_url, config=quick), bucket)


@pytest.mark.parametrize("key", ["exports/pages.csv", "exports/50% of #1? +ü.csv"])
def test_csv_is_streamed(key: str, place: Place) -> None:
    """The whole object, whatever its key; plain or gzip is told by its content."""
    for body in (CSV, gzip.compress(CSV, 1)):
        place.put(key, body)
        assert locs(place.csv(key)) == [f"/p/{n}" for n in range(ROWS)]


def test_a_bad_byte_is_located_in_an_object(place: Place) -> None:
    """C-93: the error names the object, line and byte offset."""
    place.put("pages.csv", b"loc\n/a\n/caf\xe9\n")
    with pytest.raises(SourceError, match=rf"s3://{place.bucket}/pages\.csv .* 0xe9 on line 3, at byte offset 11 "):
        list(place.csv("pages.csv"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_download_cut_short_is_an_error(packed: bool, place: Place, faulty_place: Place, proxy: FaultProxy) -> None:
    """An answer that ends before its length never gives fewer rows in silence, not even at the end of a line."""
    body = gzip.compress(CSV, 1) if packed else CSV
    place.put("pages.csv", body)
    proxy.faults.append(Fault("truncate", "GET", "pages.csv"))
    with pytest.raises(SourceError, match=rf"s3://{place.bucket}/pages\.csv can't be read whole"):
        list(faulty_place.csv("pages.csv"))
    halves = b"loc\n" + b"/a\n" * 1000
    place.put("lines.csv", halves + halves[4:] + b"/xx\n")
    proxy.faults.append(Fault("truncate", "GET", "lines.csv"))
    with pytest.raises(SourceError, match=r"lines\.csv can't be read whole"):
        list(faulty_place.csv("lines.csv"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_not_there(kind: str, place: Place, s3_service: S3Service) -> None:
    """No object, no bucket, no permission: one sentence that says where, without the key's secret."""
    wrong = Place(s3_service.client(secret_key="wrong"), place.bucket)
    nowhere = Place(place.client, "no-such-bucket")
    place.put("there.csv", CSV)
    for at, key in ((place, "none.csv"), (nowhere, "none.csv"), (wrong, "there.csv")):
        with pytest.raises(SourceError, match=rf"s3://{at.bucket}/{key}") as raised:
            list(getattr(at, kind)(key))
        assert s3_service.secret_key not in str(raised.value)


def parquet(names: list[str], **options: Any) -> bytes:
    file = BytesIO()
    notes = [random.Random(name).randbytes(200).hex() for name in names]
    pq.write_table(pa.table({"loc": names, "note": notes}), file, compression="none", **options)
    return file.getvalue()


def test_parquet_files_below_a_prefix(place: Place) -> None:
    """A key, a prefix with or without its slash, and a glob; in the order of the keys, without what writers leave."""
    for key in ("out/part-2", "out/part-10", "out/sub/part-0", "out/_temporary/part-9", "outer/part-1"):
        place.put(f"{key}.parquet", parquet([f"/{key}"]))
    for key in ("out/_SUCCESS", "out/.part-2.parquet.crc", "out/"):
        place.put(key, b"")
    everything = ["/out/part-10", "/out/part-2", "/out/sub/part-0"]
    assert locs(place.parquet("out/part-2.parquet")) == ["/out/part-2"]
    assert locs(place.parquet("out/")) == everything
    assert locs(place.parquet("out")) == everything
    assert locs(place.parquet("out/*.parquet")) == everything[:2]
    assert locs(place.parquet("out*/part-?.parquet")) == ["/out/part-2", "/outer/part-1"]
    with pytest.raises(SourceError, match=r"There is no Parquet file at s3://.*/nothing/"):
        list(place.parquet("nothing/"))


def test_only_what_is_wanted_of_a_parquet_file_is_fetched(faulty_place: Place, place: Place, proxy: FaultProxy) -> None:
    """Ranges are read, not the object: the column that nobody asked for stays where it is."""
    body = parquet([f"/p/{n}" for n in range(20_000)], row_group_size=5_000)
    place.put("pages.parquet", body)
    ranges: list[int] = []
    faulty_place.client.meta.events.register(
        "before-send.s3.GetObject", lambda request, **_: ranges.append(_length(request.headers["Range"].decode()))
    )
    assert locs(faulty_place.parquet("pages.parquet")) == [f"/p/{n}" for n in range(20_000)]
    assert sum(ranges) < len(body) / 5


def _length(header: str) -> int:
    first, last = header.removeprefix("bytes=").split("-")
    return int(last) - int(first) + 1


def test_a_parquet_object_that_changes_while_it_is_read_is_an_error(place: Place) -> None:
    """Two versions are never mixed."""
    place.put("pages.parquet", parquet([f"/p/{n}" for n in range(60_000)], row_group_size=1_000))
    chunks = place.parquet("pages.parquet")
    next(chunks)
    place.put("pages.parquet", parquet([f"/q/{n}" for n in range(60_000)], row_group_size=1_000))
    with pytest.raises(SourceError, match=r"pages\.parquet can't be read whole: .*PreconditionFailed"):
        list(chunks)


def test_a_range_cut_short_is_an_error(place: Place, faulty_place: Place, proxy: FaultProxy) -> None:
    """A part of a Parquet file that comes short is never taken for whole."""
    place.put("pages.parquet", parquet([f"/p/{n}" for n in range(5_000)]))
    proxy.faults.append(Fault("truncate", "GET", "pages.parquet", times=99))
    with pytest.raises(SourceError, match=r"pages\.parquet can't be read"):
        list(faulty_place.parquet("pages.parquet"))
