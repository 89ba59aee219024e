"""CloudFront is told what a publish changed, and nothing of it can fail the publish. moto plays CloudFront."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.release.invalidate import MAX_PATHS, WAITS, invalidate
from tests.services.faults import Fault, FaultProxy, faulty
from tests.services.s3 import ACCESS_KEY, REGION, SECRET_KEY, S3Service

pytestmark = pytest.mark.integration

URLS = [
    "https://www.example.com/maps/sitemap.xml",
    "https://www.example.com/maps/shop-pages-0.xml.gz",
    "https://www.example.com/maps/%C3%BC%20b.xml",
]


def _client(endpoint_url: str) -> Any:
    return boto3.client(
        "cloudfront",
        endpoint_url=endpoint_url,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
    )


@pytest.fixture
def distribution(moto_service: S3Service) -> str:
    origin = {"Id": "s3", "DomainName": "shop.s3.amazonaws.com", "S3OriginConfig": {"OriginAccessIdentity": ""}}
    created = _client(moto_service.endpoint_url).create_distribution(
        DistributionConfig={
            "CallerReference": uuid.uuid4().hex,
            "Origins": {"Quantity": 1, "Items": [origin]},
            "DefaultCacheBehavior": {"TargetOriginId": "s3", "ViewerProtocolPolicy": "redirect-to-https"},
            "Comment": "",
            "Enabled": True,
        }
    )
    identifier: str = created["Distribution"]["Id"]
    return identifier


@pytest.fixture
def proxy(moto_service: S3Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """In front of CloudFront, where boto3's environment says that it is."""
    for name, value in moto_service.environment().items():
        monkeypatch.setenv(name, value)
    with faulty(moto_service) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFRONT", proxy.endpoint_url)
        yield proxy


def invalidated(service: S3Service, distribution: str) -> list[list[str]]:
    """The paths of each request that CloudFront has taken."""
    client = _client(service.endpoint_url)
    found = client.list_invalidations(DistributionId=distribution)["InvalidationList"].get("Items", [])
    details = [client.get_invalidation(DistributionId=distribution, Id=each["Id"])["Invalidation"] for each in found]
    return [detail["InvalidationBatch"]["Paths"]["Items"] for detail in details]


def test_the_paths_of_what_changed_and_no_others(proxy: FaultProxy, moto_service: S3Service, distribution: str) -> None:
    """S3-25, C-21: paths as viewers ask for them, percent-encoded, each once; never `/*`."""
    assert invalidate(EnvironmentConnections(), None, distribution, [*URLS, URLS[0]], "r1") is None
    assert invalidated(moto_service, distribution) == [
        ["/maps/sitemap.xml", "/maps/shop-pages-0.xml.gz", "/maps/%C3%BC%20b.xml"]
    ]


def test_nothing_changed_asks_nothing(proxy: FaultProxy, distribution: str) -> None:
    assert invalidate(EnvironmentConnections(), None, distribution, [], "r1") is None
    assert proxy.log == []


def test_many_files_go_in_batches(proxy: FaultProxy, moto_service: S3Service, distribution: str) -> None:
    """CloudFront takes 3,000 paths at a time; while it has no room for more, the next batch waits."""
    urls = [f"https://www.example.com/{number}.xml.gz" for number in range(MAX_PATHS + 1)]
    waited: list[float] = []
    proxy.faults.append(Fault("answer", "POST", status=400, code="TooManyInvalidationsInProgress", times=2))
    finding = invalidate(EnvironmentConnections(), None, distribution, urls, "r1", sleep=waited.append)
    assert finding is None
    assert waited == list(WAITS[:2])
    assert sorted(map(len, invalidated(moto_service, distribution))) == [1, MAX_PATHS]


def test_a_rerun_asks_for_the_same(proxy: FaultProxy, distribution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudFront answers a known CallerReference without doing, or charging for, anything again."""
    sent: list[str] = []
    real = boto3.Session.client

    def recording(self: Any, *args: Any, **options: Any) -> Any:
        client = real(self, *args, **options)
        client.meta.events.register(
            "before-parameter-build.cloudfront.CreateInvalidation",
            lambda params, **_: sent.append(params["InvalidationBatch"]["CallerReference"]),
        )
        return client

    monkeypatch.setattr(boto3.Session, "client", recording)
    for release, urls in (("r1", URLS), ("r1", URLS), ("r2", URLS), ("r1", URLS[:1])):
        invalidate(EnvironmentConnections(), None, distribution, urls, release)
    assert sent[0] == sent[1]
    assert len(set(sent)) == 3


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault("answer", "POST", status=403, code="AccessDenied"), "policy has to allow cloudfront:CreateInvalidation"),
        (Fault("answer", "POST", status=400, code="TooManyInvalidationsInProgress"), "more changes than CloudFront"),
        (Fault("answer", "POST", status=400, code="Whatever"), "Whatever: look at the distribution"),
        (Fault("reset", "POST"), "ConnectionClosedError"),
    ],
    ids=lambda value: value.code if isinstance(value, Fault) else "",
)
def test_a_refusal_is_a_warning(
    proxy: FaultProxy, distribution: str, fault: Fault, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an error: the files are live already, and their Cache-Control is short."""
    monkeypatch.setenv("SITEMAP_OPS_S3_ATTEMPTS", "1")
    fault.times = 99
    proxy.faults.append(fault)
    waited: list[float] = []
    finding = invalidate(EnvironmentConnections(), None, distribution, URLS, "r1", sleep=waited.append)
    assert finding is not None
    assert (finding["level"], finding["place"], finding["rule"]) == ("warning", distribution, "S3-25")
    assert "3 changed files" in finding["advice"]
    assert says in finding["advice"]
    assert SECRET_KEY not in json.dumps(finding)


def test_a_distribution_that_is_not_there_is_a_warning(proxy: FaultProxy) -> None:
    finding = invalidate(EnvironmentConnections(), None, "E0000000000000", URLS[:1], "r1")
    assert finding is not None
    assert "1 changed file until" in finding["advice"]
    assert "correct `cloudfront` in the site file" in finding["advice"]


def test_a_connection_that_is_none_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 refuses its own settings before any request."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFRONT", "no address")
    finding = invalidate(EnvironmentConnections(), None, "E0000000000000", URLS, "r1")
    assert finding is not None
    assert "UsageError: check the connection" in finding["advice"]
