"""The S3 store against three real, unlike S3 APIs; faults and refusals against the strictest one."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.storage import Headers, Store
from sitemap_ops.storage.s3 import S3Store
from tests.services.faults import Fault, FaultProxy, faulty
from tests.services.s3 import S3Service

pytestmark = pytest.mark.integration

TEXT = Headers("text/plain; charset=utf-8", "public, max-age=300")
GZIP = Headers("application/gzip", "public, max-age=31536000, immutable")
XML = b"<?xml version='1.0'?><urlset/>"


@pytest.fixture(params=["s3_service", "ministack_service", "moto_service"])
def service(request: pytest.FixtureRequest) -> S3Service:
    found: S3Service = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def store(service: S3Service) -> S3Store:
    return service.store(service.create_bucket(), "site/public")


@pytest.fixture
def proxy(s3_service: S3Service) -> Iterator[FaultProxy]:
    with faulty(s3_service) as proxy:
        yield proxy


@pytest.fixture
def faulty_store(s3_service: S3Service, bucket: str, proxy: FaultProxy) -> S3Store:
    """A store of SeaweedFS behind the proxy; its client tries 3 times, to be quick."""
    quick = Config(retries={"mode": "standard", "total_max_attempts": 3})
    return S3Store(s3_service.client(endpoint_url=proxy.endpoint_url, config=quick), bucket, "p")


def _puts(proxy: FaultProxy) -> list[str | None]:
    return [fault for method, _, fault in proxy.log if method == "PUT"]


def test_what_is_put_is_there_described(store: S3Store) -> None:
    body = gzip.compress(XML)
    put = store.put("a/b.xml.gz", body, GZIP)
    assert put == store.head("a/b.xml.gz") == store.get("a/b.xml.gz")[1]  # type: ignore[index]
    assert store.get("a/b.xml.gz")[0] == body  # type: ignore[index]
    assert put.headers == GZIP
    assert put.sha256 == hashlib.sha256(XML).hexdigest() == put.metadata["sha256"]


def test_nothing_there(store: S3Store) -> None:
    assert store.head("none") is store.get("none") is None
    assert list(store.list()) == []
    store.delete(["none"])


def test_each_object_has_its_own_headers(store: S3Store, tmp_path: Path) -> None:
    """C-10, C-11: headers go with each object, by one client; nothing of one reaches the next, in whatever order."""
    encoded = Headers("application/xml", None, "gzip")
    store.put("1", b"1", TEXT)
    store.put("2", gzip.compress(b"2"), encoded)
    store.put("3", b"3", Headers("text/html"))
    (tmp_path / "4").write_bytes(b"4")
    store.upload(tmp_path / "4", "4", GZIP)
    store.put("5", b"5", Headers("text/html"))
    found = [store.head(key) for key in "12345"]
    html = Headers("text/html")
    assert [each.headers for each in found if each] == [TEXT, encoded, html, GZIP, html]


def test_no_object_is_left_to_a_guess(store: S3Store, service: S3Service) -> None:
    """C-1, C-8: every write names its Content-Type, and none an ACL unless it was asked for."""
    sent: list[Any] = []
    bucket = store.uri.split("/")[2]
    for acl in (None, "public-read"):
        client = service.client()
        client.meta.events.register("before-send.s3", lambda request, **_: sent.append(request))
        S3Store(client, bucket, acl=acl).put("k.txt", b"x", TEXT)
    plain, with_acl = sent
    assert plain.headers["Content-Type"] == with_acl.headers["Content-Type"] == TEXT.content_type.encode()
    assert "x-amz-acl" not in plain.headers
    assert with_acl.headers["x-amz-acl"] == b"public-read"


def test_a_shorter_object_keeps_no_tail_of_the_longer_one(store: S3Store) -> None:
    """C-13: whole-object PUT only."""
    store.put("sitemap.xml", XML * 1000, TEXT)
    store.put("sitemap.xml", XML, TEXT)
    assert store.get("sitemap.xml")[0] == XML  # type: ignore[index]


def test_conditions(store: S3Store) -> None:
    first = store.put("k", b"1", TEXT, if_none_match=True)
    with pytest.raises(ConflictError, match="changed by another run"):
        store.put("k", b"2", TEXT, if_none_match=True)
    second = store.put("k", b"2", TEXT, if_match=first.etag)
    with pytest.raises(ConflictError):
        store.put("k", b"3", TEXT, if_match=first.etag)
    with pytest.raises(ConflictError):
        store.put("gone", b"3", TEXT, if_match=first.etag)
    assert store.head("k") == second
    assert store.head("gone") is None


def test_create_over_the_same_content_is_no_conflict(store: S3Store) -> None:
    """S3-17: 412 on a create-only put means that it is there; with the same digest that is success."""
    first = store.put("k.gz", gzip.compress(XML, 1), GZIP, if_none_match=True)
    assert store.put("k.gz", gzip.compress(XML, 9), GZIP, if_none_match=True).etag == first.etag


def test_list_and_delete_go_beyond_one_page(s3_service: S3Service, bucket: str) -> None:
    """S3-21: 1,000 keys a page and a batch; all come, in order, and all go."""
    store = s3_service.store(bucket, "p")
    keys = [f"many/{number:05}" for number in range(1_003)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: store.put(key, b"x", TEXT), keys))
    store.put("other", b"x", TEXT)
    assert [each.key for each in store.list("many/")] == keys
    store.delete(keys)
    assert [each.key for each in store.list()] == ["other"]


def test_large_files_go_in_parts_and_come_back(store: S3Store, tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(os.urandom(20_000_000))
    store.upload(source, "k.parquet", Headers("application/octet-stream"))
    store.download("k.parquet", copy)
    assert copy.read_bytes() == source.read_bytes()
    with pytest.raises(TargetError, match=r"nothing at s3://.*/none to read"):
        store.download("none", tmp_path / "none")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "source"]


def test_a_download_that_fails_leaves_the_old_file(store: S3Store, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(b"old")
    with pytest.raises(TargetError):
        store.download("none", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"old"


ODD_KEYS = [
    "ü/ß-漢字-😀.xml",
    "cafe\u0301.xml",
    "space and+plus.xml",
    "q?x=1&y=2#f.xml",
    "per%25cent%2F.xml",
    "quotes'\"<>`.xml",
    "a:b@c,d;e=f$g!h*i(j)[k]{l}|m^n~o.xml",
    " lead and trail .xml ",
    "..a/...b/c..",
    "k" * 200 + ".xml",
]


def test_odd_keys_are_kept_letter_by_letter(store: S3Store) -> None:
    """infra.md section 1: of 12 servers 6 lose some of them; and a client that encodes twice loses them all."""
    for key in ODD_KEYS:
        put = store.put(key, key.encode(), TEXT, if_none_match=True)
        assert store.get(key) == (key.encode(), put)
        assert store.head(key) == put
    assert {each.key for each in store.list()} == set(ODD_KEYS)
    store.delete(ODD_KEYS)
    assert list(store.list()) == []


def test_keys_of_other_programs_are_not_listed(service: S3Service) -> None:
    """What no key of ours can be is nobody's to read or delete here; nor what only begins like the prefix."""
    bucket = service.create_bucket()
    client = service.client()
    for key in ("site/public/", "site/public/folder/", "site/publicity", "site/public"):
        client.put_object(Bucket=bucket, Key=key, Body=b"")
    if service.name == "moto":  # the others store them otherwise, or refuse
        for key in ("site/public//a", "site/public/../b", "site/public/a\\b"):
            client.put_object(Bucket=bucket, Key=key, Body=b"")
    store = service.store(bucket, "site/public")
    store.put("ours", b"x", TEXT)
    assert [each.key for each in store.list()] == ["ours"]


def test_a_large_body_goes_in_one_piece(s3_service: S3Service, bucket: str) -> None:
    """The largest shard there can be: 50 MiB that don't compress."""
    store = s3_service.store(bucket)
    body = os.urandom(50 << 20)
    put = store.put("k", body, TEXT, if_none_match=True)
    assert put.size == len(body)
    assert store.get("k") == (body, put)


def test_an_etag_is_compared_as_ceph_does_it(ministack_service: S3Service) -> None:
    """infra.md section 1: Ceph 16 answers 412 to a quoted ETag; a stale one is stale all the same."""
    with faulty(ministack_service) as proxy:
        bucket = ministack_service.create_bucket()
        store = S3Store(ministack_service.client(endpoint_url=proxy.endpoint_url), bucket)
        proxy.faults.append(Fault("unquote", "PUT", times=99))
        assert store.probe().conditions
        first = store.put("k", b"1", TEXT, if_none_match=True)
        second = store.put("k", b"2", TEXT, if_match=first.etag)
        with pytest.raises(ConflictError):
            store.put("k", b"3", TEXT, if_match=first.etag)
        with pytest.raises(ConflictError):
            store.put("gone", b"3", TEXT, if_match=first.etag)
        assert store.get("k") == (b"2", second)


CALLS: dict[str, Callable[[Store, Path], object]] = {
    "head": lambda store, file: store.head("k"),
    "get": lambda store, file: store.get("k"),
    "put": lambda store, file: store.put("k", b"x", TEXT),
    "conditional put": lambda store, file: store.put("k", b"x", TEXT, if_none_match=True),
    "list": lambda store, file: list(store.list()),
    "delete": lambda store, file: store.delete(["k"]),
    "upload": lambda store, file: store.upload(file, "k", TEXT),
    "download": lambda store, file: store.download("k", file.with_name("copy")),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    return path


@pytest.mark.parametrize("call", CALLS)
def test_a_missing_bucket_is_named(service: S3Service, call: str, file: Path) -> None:
    """Also by HEAD, whose 404 does not say whether the key or the bucket is missing."""
    with pytest.raises(TargetError, match=r"There is no bucket 'no-such-bucket' at http://127\.0\.0\.1:\d+: create it"):
        CALLS[call](service.store("no-such-bucket"), file)


@pytest.mark.parametrize("call", CALLS)
def test_wrong_credentials_are_named_but_not_shown(s3_service: S3Service, bucket: str, call: str, file: Path) -> None:
    for wrong in ({"secret_key": "wr0ng/Secret+"}, {"access_key": "AKIANOBODY"}):
        with pytest.raises(TargetError, match="check the connection's access key, secret and session token") as caught:
            CALLS[call](S3Store(s3_service.client(**wrong), bucket), file)
        assert "wr0ng" not in str(caught.value)
        assert s3_service.secret_key not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("call", CALLS)
def test_an_endpoint_out_of_reach_is_named(s3_service: S3Service, bucket: str, call: str, file: Path) -> None:
    once = Config(retries={"mode": "standard", "total_max_attempts": 1})
    client = s3_service.client(endpoint_url="http://user:hidden@127.0.0.1:1", config=once)
    with pytest.raises(TargetError, match=r"endpoint http://127\.0\.0\.1:1 can't be reached") as caught:
        CALLS[call](S3Store(client, bucket), file)
    assert "hidden" not in str(caught.value)


def test_an_acl_that_the_bucket_refuses_names_the_setting(faulty_store: S3Store, proxy: FaultProxy) -> None:
    """C-8: BucketOwnerEnforced, the default of AWS since 2023, refuses every ACL."""
    proxy.faults.append(Fault("answer", "PUT", status=400, code="AccessControlListNotSupported"))
    with pytest.raises(TargetError, match=r"takes no ACLs .* remove `acl` from the site file"):
        faulty_store.put("k", b"x", TEXT)


@pytest.mark.parametrize("condition", ["if_none_match", "if_match"])
def test_a_lost_answer_is_no_lost_write(faulty_store: S3Store, proxy: FaultProxy, condition: str) -> None:
    """DESIGN 7: the first try was stored and its answer lost; the SDK's second gets 412. That is a success."""
    options: dict[str, Any] = {"if_none_match": True}
    if condition == "if_match":
        options = {"if_match": faulty_store.put("k", b"before", TEXT).etag}
    proxy.log.clear()
    proxy.faults.append(Fault("lose", "PUT"))
    put = faulty_store.put("k", b"ours", TEXT, **options)
    assert _puts(proxy) == ["lose", None]
    assert faulty_store.get("k") == (b"ours", put)


def test_a_lost_answer_and_another_writer_is_a_loss(
    faulty_store: S3Store, proxy: FaultProxy, s3_service: S3Service, bucket: str
) -> None:
    """What another run put since then is not taken for ours."""
    other = s3_service.store(bucket, "p")
    first = faulty_store.put("k", b"before", TEXT)
    other.put("k", b"theirs", TEXT)
    with pytest.raises(ConflictError):
        faulty_store.put("k", b"ours", TEXT, if_match=first.etag)
    assert other.get("k")[0] == b"theirs"  # type: ignore[index]


def test_a_conflict_of_two_requests_is_tried_again(faulty_store: S3Store, proxy: FaultProxy) -> None:
    """S3-17: 409 is for us to retry; the SDK does not."""
    proxy.faults.append(Fault("answer", "PUT", times=2, status=409, code="ConditionalRequestConflict"))
    faulty_store.put("k", b"x", TEXT, if_none_match=True)
    assert _puts(proxy) == ["answer", "answer", None]


def test_a_body_damaged_on_its_way_is_sent_again(faulty_store: S3Store, proxy: FaultProxy) -> None:
    """The server compares the body with ChecksumSHA256 and refuses it; the SDK does not try again."""
    proxy.faults.append(Fault("flip", "PUT", times=2))
    faulty_store.put("k", b"right", TEXT)
    assert _puts(proxy) == ["flip", "flip", None]
    assert faulty_store.get("k")[0] == b"right"  # type: ignore[index]


def test_a_line_that_always_damages_is_given_up_with_a_sentence(faulty_store: S3Store, proxy: FaultProxy) -> None:
    proxy.faults.append(Fault("flip", "PUT", times=99))
    with pytest.raises(TargetError, match=r"got other bytes of s3://.*/p/k than were sent"):
        faulty_store.put("k", b"right", TEXT)
    assert faulty_store.head("k") is None


def test_a_part_of_an_upload_damaged_on_its_way_is_noticed(
    faulty_store: S3Store, proxy: FaultProxy, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"right")
    proxy.faults.append(Fault("flip", "PUT", times=99))
    with pytest.raises(TargetError):
        faulty_store.upload(tmp_path / "file", "k", TEXT)
    assert faulty_store.head("k") is None


def test_an_answer_cut_short_is_read_again(faulty_store: S3Store, proxy: FaultProxy, tmp_path: Path) -> None:
    body = os.urandom(100_000)
    faulty_store.put("k", body, TEXT)
    proxy.faults.append(Fault("truncate", "GET", times=2))
    assert faulty_store.get("k")[0] == body  # type: ignore[index]
    proxy.faults.append(Fault("truncate", "GET", times=2))
    faulty_store.download("k", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == body


def test_an_overloaded_store_is_waited_for(faulty_store: S3Store, proxy: FaultProxy) -> None:
    proxy.faults.append(Fault("answer", "PUT", times=2, status=503, code="SlowDown"))
    faulty_store.put("k", b"x", TEXT)
    proxy.faults.append(Fault("answer", "PUT", times=99, status=503, code="SlowDown"))
    with pytest.raises(
        TargetError, match=r"in several tries \(503 SlowDown\): it is overloaded or broken, run again later"
    ):
        faulty_store.put("k", b"x", TEXT)


def test_what_could_not_be_deleted_is_told(faulty_store: S3Store, s3_service: S3Service, bucket: str) -> None:
    """S3-21: an answer of 200 can hold errors."""
    client = s3_service.client()
    errors = [{"Key": "p/a", "Code": "AccessDenied"}, {"Key": "p/b", "Code": "NoSuchKey"}]
    client.meta.events.register("after-call.s3.DeleteObjects", lambda parsed, **_: parsed.update(Errors=errors))
    with pytest.raises(TargetError, match=r"1 of 2 objects could not be deleted .* 'p/a' \(AccessDenied\)"):
        S3Store(client, bucket, "p").delete(["a", "b"])
