"""What stores honour, found out on real ones; and what killed runs leave, swept away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.storage import Headers, Traits
from sitemap_ops.storage.folder import FolderStore
from sitemap_ops.storage.probe import PROBE_PREFIX, REMEMBERED, check_stores
from sitemap_ops.storage.s3 import S3Store
from tests.services.faults import Fault, FaultProxy, faulty
from tests.services.s3 import S3Service

pytestmark = pytest.mark.integration

TEXT = Headers("text/plain; charset=utf-8")
AT_ONCE = timedelta(seconds=-60)
"""Older than a minute from now: everything."""


def _store(service: S3Service, prefix: str = "public") -> S3Store:
    return service.store(service.create_bucket(), prefix)


@pytest.fixture
def proxy(request: pytest.FixtureRequest) -> Iterator[FaultProxy]:
    """In front of ministack, which asks for no signature: a request's conditions can get lost on the way."""
    with faulty(request.getfixturevalue("ministack_service")) as proxy:
        yield proxy


@pytest.fixture
def behind(ministack_service: S3Service, proxy: FaultProxy) -> S3Store:
    once = Config(retries={"mode": "standard", "total_max_attempts": 1})
    client = ministack_service.client(endpoint_url=proxy.endpoint_url, config=once)
    return S3Store(client, ministack_service.create_bucket(), "public")


@pytest.mark.parametrize(
    ("name", "traits"),
    [
        ("s3_service", Traits(create_only=True, swap=True, checksums=True)),
        ("ministack_service", Traits(create_only=True, swap=True, checksums=True)),
        ("moto_service", Traits(create_only=True, swap=True, checksums=False)),
        ("nanio_service", Traits(create_only=False, swap=False, checksums=True)),
    ],
)
def test_a_store_is_known_by_what_it_does(request: pytest.FixtureRequest, name: str, traits: Traits) -> None:
    """S3-14, S3-17, S3-18: four real servers, each honouring something else; and nothing is left of the question."""
    store = _store(request.getfixturevalue(name))
    assert store.probe() == traits
    assert list(store.list()) == []


def test_a_folder_needs_no_question(tmp_path: Path) -> None:
    assert FolderStore(tmp_path / "public").probe() == Traits(create_only=True, swap=True, checksums=True)
    assert not (tmp_path / "public").exists()


def test_a_store_that_ignores_conditions_is_refused(nanio_service: S3Service, tmp_path: Path) -> None:
    """DESIGN 7: in one sentence that names the way out; as target and as state alike."""
    folder, unsafe = FolderStore(tmp_path), _store(nanio_service)
    says = (
        r"^s3://.*/public/ at http://127\.0\.0\.1:\d+ does not honour conditional writes \(If-None-Match and If-Match\)"
        r".* set allow_unsafe_store in the site file .*\.$"
    )
    for target, state in ((unsafe, folder), (folder, unsafe)):
        with pytest.raises(TargetError, match=says):
            check_stores(target, state)


def test_the_site_file_can_accept_it(nanio_service: S3Service, tmp_path: Path) -> None:
    """Then it is a warning, on every run; a bad store is asked each time, it may have become a good one."""
    target, state = _store(nanio_service), FolderStore(tmp_path)
    for _ in range(2):
        assert target.uri not in str(state.get(REMEMBERED))
        (finding,) = check_stores(target, state, allow_unsafe=True)
        assert (finding["code"], finding["level"]) == ("store-ignores-conditions", "warning")
        assert target.uri in finding["place"]
    with pytest.raises(TargetError, match="allow_unsafe_store"):
        check_stores(target, state)


def test_a_store_that_ignores_checksums_is_a_warning(moto_service: S3Service, tmp_path: Path) -> None:
    (finding,) = check_stores(_store(moto_service), FolderStore(tmp_path))
    assert (finding["rule"], finding["code"], finding["level"]) == ("S3-14", "store-ignores-checksums", "warning")


def test_a_good_store_has_no_finding(s3_service: S3Service) -> None:
    assert check_stores(_store(s3_service), _store(s3_service, "private")) == []


@pytest.mark.parametrize(("lost", "ignored"), [(1, "If-None-Match"), (3, "If-Match")])
def test_one_condition_alone_is_not_enough(behind: S3Store, proxy: FaultProxy, lost: int, ignored: str) -> None:
    """S3-17, S3-18: a proxy in the way that loses a condition makes a good store a bad one."""
    take, writes = proxy.take, iter(range(99))

    def losing(method: str, path: str) -> Any:
        strip = method == "PUT" and next(writes) % 6 == lost
        return Fault("strip", method) if strip else take(method, path)

    proxy.take = losing  # type: ignore[method-assign]
    assert behind.probe().ignored == ignored


def test_a_store_that_has_no_conditions_is_one_that_ignores_them(behind: S3Store, proxy: FaultProxy) -> None:
    """501 to the header is as good as none."""
    take = proxy.take

    def unsupported(method: str, path: str) -> Any:
        writes = sum(m == "PUT" for m, _, _ in proxy.log)
        if method == "PUT" and 1 <= writes % 7 <= 4:
            proxy.faults.append(Fault("answer", "PUT", status=501, code="NotImplemented"))
        return take(method, path)

    proxy.take = unsupported  # type: ignore[method-assign]
    assert behind.probe().ignored == "If-None-Match and If-Match"


def test_such_a_store_can_be_used_where_it_is_accepted(behind: S3Store, proxy: FaultProxy) -> None:
    """Then a look before each write is all there is between two runs."""

    def put(**options: Any) -> Any:
        proxy.faults.append(Fault("answer", "PUT", status=501, code="NotImplemented"))
        return behind.put("k", b"x" if "if_none_match" in options else b"y", TEXT, **options)

    first = put(if_none_match=True)
    second = put(if_match=first.etag)
    for options in ({"if_none_match": True}, {"if_match": first.etag}):
        with pytest.raises(ConflictError):
            put(**options)
    assert behind.get("k") == (b"y", second)


def test_a_store_is_asked_once(behind: S3Store, proxy: FaultProxy, tmp_path: Path) -> None:
    """Seven requests once, later none but the look into `state`; another endpoint or bucket is asked anew."""
    state = FolderStore(tmp_path)
    check_stores(behind, state)
    assert [method for method, _, _ in proxy.log] == ["PUT"] * 6 + ["DELETE"]
    check_stores(behind, state)
    assert len(proxy.log) == 7
    state.put(REMEMBERED, b'{"s3://', TEXT)
    check_stores(behind, state)
    assert len(proxy.log) == 14


@pytest.mark.parametrize("write", range(6))
def test_an_answer_that_got_lost_makes_no_store_a_bad_one(
    ministack_service: S3Service, proxy: FaultProxy, tmp_path: Path, write: int
) -> None:
    """The SDK sends the request again, and a condition that held the first time does not hold now."""
    client = ministack_service.client(endpoint_url=proxy.endpoint_url)
    take, writes = proxy.take, iter(range(99))

    def losing(method: str, path: str) -> Any:
        if method == "PUT" and next(writes) == write:
            proxy.faults.append(Fault("lose", "PUT"))
        return take(method, path)

    proxy.take = losing  # type: ignore[method-assign]
    assert check_stores(S3Store(client, ministack_service.create_bucket()), FolderStore(tmp_path)) == []


@pytest.mark.parametrize("write", range(6))
def test_a_probe_that_is_refused_leaves_nothing(behind: S3Store, proxy: FaultProxy, write: int) -> None:
    take, writes = proxy.take, iter(range(99))

    def refusing(method: str, path: str) -> Any:
        if method == "PUT" and next(writes) == write:
            proxy.faults.append(Fault("answer", "PUT", status=403, code="AccessDenied"))
        return take(method, path)

    proxy.take = refusing  # type: ignore[method-assign]
    with pytest.raises(TargetError, match=r"refused to write s3://.* \(403 AccessDenied\)"):
        behind.probe()
    assert list(behind.list()) == []


@pytest.fixture(params=["s3_service", "ministack_service", "moto_service"])
def service(request: pytest.FixtureRequest) -> S3Service:
    found: S3Service = request.getfixturevalue(request.param)
    return found


def _begin(client: Any, bucket: str, key: str) -> str:
    upload: str = client.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    client.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, Body=b"part")
    return upload


def _uploads(client: Any, bucket: str) -> set[str]:
    return {upload["Key"] for upload in client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])}


def test_abandoned_uploads_below_the_prefix_go(service: S3Service) -> None:
    """S3-21's kind of limit: more than one page of them; what lies elsewhere, and every object, stays."""
    bucket, client = service.create_bucket(), service.client()
    client.meta.events.register(
        "before-parameter-build.s3.ListMultipartUploads", lambda params, **_: params.update(MaxUploads=2)
    )
    store = S3Store(client, bucket, "site/public")
    store.put("a", b"object", TEXT)
    for key in ("a", "b", "c", "c", "d/e"):
        _begin(client, bucket, f"site/public/{key}")
    others = {"site/publicity", "site/other/a", "a"}
    for key in others:
        _begin(client, bucket, key)
    if service.name != "moto":  # which says of every upload that it was begun in 2010
        assert store.sweep() == 0, "they are not a day old"
    assert store.sweep(AT_ONCE) == 5
    client = service.client()
    assert _uploads(client, bucket) == others
    assert store.get("a")[0] == b"object"  # type: ignore[index]


def test_old_probes_below_the_prefix_go(service: S3Service) -> None:
    """A run that was killed while it asked the store leaves one object."""
    bucket = service.create_bucket()
    store, other = service.store(bucket, "public"), service.store(bucket, "public2")
    for each in (store, other):
        each.put(f"{PROBE_PREFIX}0123", b"1", TEXT)
    assert store.sweep() == 0
    assert store.sweep(AT_ONCE) == 1
    assert list(store.list()) == []
    assert len(list(other.list())) == 1


@pytest.mark.parametrize("status", [405, 501])
def test_a_store_without_multipart_uploads_has_none_to_sweep(behind: S3Store, proxy: FaultProxy, status: int) -> None:
    proxy.faults.append(Fault("answer", "GET", "uploads", status=status, code="NotImplemented"))
    assert behind.sweep(AT_ONCE) == 0


def test_a_policy_without_the_sweep_names_what_it_lacks(behind: S3Store, proxy: FaultProxy) -> None:
    proxy.faults.append(Fault("answer", "GET", "uploads", status=403, code="AccessDenied"))
    with pytest.raises(TargetError, match=r"refused to clean up s3://.* s3:ListBucketMultipartUploads"):
        behind.sweep()


def test_an_upload_that_another_run_has_swept_is_no_error(behind: S3Store, proxy: FaultProxy) -> None:
    client, bucket = behind._client, behind._bucket
    _begin(client, bucket, "public/a")
    proxy.faults.append(Fault("answer", "DELETE", status=404, code="NoSuchUpload"))
    behind.sweep(AT_ONCE)
