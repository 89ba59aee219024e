"""The S3 store on a bad line to a bad store: what passes is survived, what stays ends in one sentence."""

from __future__ import annotations

import datetime
import gzip
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from botocore.retries.standard import ExponentialBackoff

from sitemap_ops.errors import ConflictError, TargetError
from sitemap_ops.storage import Headers
from sitemap_ops.storage.s3 import S3Store
from tests.services.faults import ANYTHING, Fault, FaultProxy, faulty
from tests.services.s3 import S3Service

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

TEXT = Headers("text/plain; charset=utf-8")
BODY = os.urandom(200_000)
FOR_EVER = 10**9


@dataclass
class Line:
    """A store behind a proxy, and the same store without it."""

    proxy: FaultProxy
    store: S3Store
    straight: S3Store
    file: Path


@pytest.fixture
def line(s3_service: S3Service, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """As many tries as the product makes, but none waits for the next; a stall is noticed after 0.4 s."""
    monkeypatch.setenv("SITEMAP_OPS_S3_READ_TIMEOUT", "0.4")
    with _line(s3_service, bucket, tmp_path, monkeypatch) as line:
        yield line


@pytest.fixture
def hasty_line(s3_service: S3Service, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """Two tries, and a stall is noticed after 0.2 s."""
    monkeypatch.setenv("SITEMAP_OPS_S3_ATTEMPTS", "2")
    monkeypatch.setenv("SITEMAP_OPS_S3_READ_TIMEOUT", "0.2")
    with _line(s3_service, bucket, tmp_path, monkeypatch) as line:
        yield line


@contextmanager
def _line(service: S3Service, bucket: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    straight = service.store(bucket, "p")
    straight.put("there", BODY, TEXT)
    (folder / "file").write_bytes(BODY)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda self, context: 0.0)
    monkeypatch.setattr("sitemap_ops.storage.s3._pause", lambda attempt: None)
    with faulty(service) as proxy:
        store = S3Store(service.client(endpoint_url=proxy.endpoint_url), bucket, "p")
        yield Line(proxy, store, straight, folder / "file")


def _downloaded(line: Line) -> bytes:
    line.store.download("there", line.file.with_name("copy"))
    return line.file.with_name("copy").read_bytes()


def _uploaded(line: Line) -> bytes | None:
    line.store.upload(line.file, "new", TEXT)
    found = line.straight.get("new")
    return found and found[0]


def _put(line: Line, **options: Any) -> bytes | None:
    line.store.put("new", BODY, TEXT, **options)
    found = line.straight.get("new")
    return found and found[0]


def _deleted(line: Line) -> object:
    line.store.delete(["there"])
    return line.straight.head("there")


@dataclass(frozen=True)
class Call:
    """The HTTP method that does the work, what is called, and what it has to give."""

    method: str
    do: Callable[[Line], object]
    gives: object


CALLS = {
    "head": Call("HEAD", lambda line: getattr(line.store.head("there"), "size", None), len(BODY)),
    "get": Call("GET", lambda line: (line.store.get("there") or [None])[0], BODY),
    "download": Call("GET", _downloaded, BODY),
    "list": Call("GET", lambda line: [each.key for each in line.store.list()], ["there"]),
    "put": Call("PUT", _put, BODY),
    "create": Call("PUT", lambda line: _put(line, if_none_match=True), BODY),
    "upload": Call("PUT", _uploaded, BODY),
    "delete": Call("POST", _deleted, None),
}

PASSING = {
    "503": Fault("answer", "", status=503, code="SlowDown", times=5),
    "500": Fault("answer", "", status=500, times=5),
    "reset": Fault("reset", "", times=3),
    "stall": Fault("stall", "", times=1),
    "lost answer": Fault("lose", "", times=2),
    "drip": Fault("drip", "", times=1),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_survived(line: Line, name: str) -> None:
    """infra.md section 5, bar 4: the SDK's default gives up after three tries; here five failures in a row are none."""
    for call, each in CALLS.items():
        line.straight.delete(["new"])
        fault = replace(PASSING[name], method=each.method)
        line.proxy.faults.append(fault)
        assert each.do(line) == each.gives, call
        assert fault.times == 0, call


STAYING = {
    "503": (Fault("answer", "*", status=503, code="SlowDown"), CALLS),
    "403": (Fault("answer", "*", status=403, code="AccessDenied"), CALLS),
    "stall": (Fault("stall", "*"), CALLS),
    "reset": (Fault("reset", "*"), CALLS),
    "lost answer": (Fault("lose", "*"), ["head", "get", "download", "list"]),
    "truncate": (Fault("truncate", "GET"), ["get", "download"]),
    "flip": (Fault("flip", "PUT"), ["put", "create", "upload"]),
    "409": (Fault("answer", "PUT", status=409, code="ConditionalRequestConflict"), ["put", "create"]),
}


@pytest.mark.parametrize("name", STAYING)
def test_what_stays_ends_in_a_sentence(hasty_line: Line, name: str) -> None:
    """... and after a bounded number of requests: tries within tries would wait for hours."""
    line = hasty_line
    fault, calls = STAYING[name]
    for call in calls:
        line.proxy.faults[:] = [replace(fault, times=FOR_EVER)]
        line.proxy.log.clear()
        with pytest.raises(TargetError) as caught:
            CALLS[call].do(line)
        assert not isinstance(caught.value, ConflictError), call
        told = str(caught.value)
        assert told.endswith("."), told
        assert "\n" not in told
        assert len(line.proxy.log) <= 6, call
    assert line.straight.head("new") is None
    assert line.straight.get("there")[0] == BODY  # type: ignore[index]


@pytest.mark.parametrize("body", [BODY, gzip.compress(b"<?xml version='1.0'?>" * 99)], ids=["plain", "gzip"])
def test_a_body_damaged_on_its_way_here_is_read_again(line: Line, body: bytes) -> None:
    """Whatever the store checks: what was put is known by its digest."""
    line.straight.put("k", body, TEXT)
    line.proxy.faults.append(Fault("corrupt", "GET"))
    assert line.store.get("k")[0] == body  # type: ignore[index]
    assert [fault for _, _, fault in line.proxy.log] == ["corrupt", None]


def test_a_body_that_is_wrong_in_the_store_is_what_it_is(line: Line) -> None:
    """Who repairs the site has to see it: two reads that agree are the truth, whatever the metadata says."""
    put = line.straight.put("k", b"right", TEXT)
    line.straight._client.put_object(Bucket=line.straight._bucket, Key="p/k", Body=b"wrong", Metadata=put.metadata)
    assert line.store.get("k")[0] == b"wrong"  # type: ignore[index]
    assert len(line.proxy.log) == 2


def test_a_list_that_is_damaged_on_its_way_is_told(hasty_line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore lets a ValueError through where a date is none."""
    damaged = (
        b"<ListBucketResult><Contents><LastModified>2026-12-01T11:59228Z</LastModified></Contents></ListBucketResult>"
    )
    monkeypatch.setattr(hasty_line.proxy, "flipped", lambda body: damaged.ljust(len(body)))
    hasty_line.proxy.faults.append(Fault("corrupt", "GET", times=FOR_EVER))
    with pytest.raises(TargetError, match=r"gave an answer that can't be read when asked to list s3://"):
        list(hasty_line.store.list())


def test_a_clock_that_is_wrong_is_told(s3_service: S3Service, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """infra.md section 5: the SDK does not correct it, and says what nobody understands."""
    import botocore.auth

    real = botocore.auth.get_current_datetime
    monkeypatch.setattr(
        botocore.auth, "get_current_datetime", lambda *args, **kw: real(*args, **kw) - datetime.timedelta(hours=1)
    )
    with pytest.raises(TargetError, match="this machine's clock is off by more than 15 minutes, set it"):
        s3_service.store(bucket).put("k", b"x", TEXT)


@pytest.mark.parametrize("seed", range(2))
def test_on_any_line_what_is_said_to_be_done_is_done(line: Line, seed: int) -> None:
    """A third of all requests meets a fault: each call tells the truth, or that it could not be done."""
    chance = random.Random(seed)
    line.proxy.at_random(seed, 0.33, [fault for fault in ANYTHING if fault.kind != "stall"])
    done = 0
    for number in range(25):
        key, body = f"k{number % 7}", os.urandom(100) + bytes([number])
        before = line.straight.get(key)
        options: dict[str, Any] = {"if_match": before[1].etag} if before else {"if_none_match": True}
        try:
            put = line.store.put(key, body, TEXT, **(options if chance.random() < 0.7 else {}))
            assert line.straight.get(key) == (body, put)
            assert line.store.get(key) == (body, put)
            done += 1
        except ConflictError:
            pytest.fail("there is nobody else")
        except TargetError:
            found = line.straight.get(key)
            assert found is None or found[0] in (body, before and before[0])
    assert done > 5
    assert len({fault for _, _, fault in line.proxy.log}) > 5
