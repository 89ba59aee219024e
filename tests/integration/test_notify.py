"""Telling the engines as users do it: from the command line and in real Airflow, with S3 as the target."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.notifying import file_at
from tests.services.airflow import Airflow
from tests.services.engines import (
    BING_KEY,
    INDEXNOW_KEY,
    YANDEX_TOKEN,
    Engines,
    Reply,
    engines_service,
    service_account,
)
from tests.services.product import sitemap_ops
from tests.services.s3 import REGION, S3Service

pytestmark = pytest.mark.integration

SITE = """\
site: shop
base_url: https://www.example.com/
target: s3://{public}/
state: s3://{private}/
aws_conn_id: shop_s3
notify: {{robots: publish, indexnow: indexnow, yandex: yandex, google: google, bing: bing}}
sections:
  - name: pages
    source: {{type: csv, path: {pages}}}
    lastmod: lastmod
"""
SECRETS = [INDEXNOW_KEY, YANDEX_TOKEN, BING_KEY]


@pytest.fixture
def engines() -> Iterator[Engines]:
    with engines_service() as service:
        yield service
    assert service.faults == []


@dataclass(frozen=True)
class Shop:
    s3: S3Service
    public: str
    private: str
    pages: Path

    def site(self) -> str:
        return SITE.format(public=self.public, private=self.private, pages=self.pages)

    def write_pages(self, *rows: str) -> None:
        self.pages.write_text("loc,lastmod\n" + "".join(f"{row}\n" for row in rows))

    def file(self, key: str) -> str:
        found = self.s3.store(self.public).get(key)
        assert found is not None
        return found[0].decode()

    def results(self, release: str) -> Any:
        found = self.s3.store(self.private).get(f"releases/{release}/notify.json")
        assert found is not None
        return json.loads(found[0])


@pytest.fixture
def shop(tmp_path: Path, s3_service: S3Service, engines: Engines) -> Shop:
    shop = Shop(s3_service, s3_service.create_bucket(), s3_service.create_bucket(), tmp_path / "pages.csv")
    shop.write_pages("/a,2026-01-01", "/b,2026-01-01", "/c,2026-01-01")
    engines.key_file = lambda location: file_at(s3_service.store(shop.public), location)
    return shop


def environment(shop: Shop, engines: Engines) -> dict[str, str]:
    """Credentials as outside of Airflow."""
    tokens = {"INDEXNOW": INDEXNOW_KEY, "YANDEX": YANDEX_TOKEN, "BING": BING_KEY}
    variables = {
        f"SITEMAP_OPS_CONN_{name}": json.dumps({"host": engines.url, "password": token})
        for name, token in tokens.items()
    }
    google = {"host": engines.url, "extra": {"keyfile_dict": service_account(engines)}}
    return shop.s3.environment() | variables | {"SITEMAP_OPS_CONN_GOOGLE": json.dumps(google)}


def test_build_tells_what_it_published(tmp_path: Path, shop: Shop, engines: Engines) -> None:
    """PUB-10, C-106: every channel is told after the publish; IndexNow only of what changed since the one before."""
    (tmp_path / "shop.yaml").write_text(shop.site())

    def build(*arguments: str) -> Any:
        return sitemap_ops("build", "shop.yaml", *arguments, folder=tmp_path, environment=environment(shop, engines))

    first = build()
    assert first.code == 0, first.err
    told = dict(re.findall(r"^(robots|indexnow|yandex|google|bing): (.*)$", first.out, re.MULTILINE))
    assert len(told) == 5 and not any("warning" in each for each in told.values())
    assert engines.of("indexnow") == []
    assert list(engines.added) == list(engines.submitted) == ["https://www.example.com/sitemap.xml"]
    assert "Sitemap: https://www.example.com/sitemap.xml\n" in shop.file("robots.txt")
    assert shop.file(f"{INDEXNOW_KEY}.txt") == INDEXNOW_KEY

    shop.write_pages("/a,2026-01-01", "/b,2026-02-02", "/new,2026-01-01")
    second = build("--json")
    report = second.json
    (sent,) = engines.of("indexnow")
    changed = {f"https://www.example.com/{name}" for name in ("b", "c", "new")}
    assert set(sent.json()["urlList"]) == changed
    results = {each["channel"]: each for each in report["notified"]}
    assert results["indexnow"]["sent"] == 3 and results["yandex"]["added"] == []
    assert [each["code"] for each in results["indexnow"]["findings"]] == ["indexnow-bulk"]
    assert shop.results(report["release"]) == report["notified"]
    for output in (first, second):
        assert not any(secret in output.out + output.err for secret in SECRETS)


def test_every_failure_is_a_warning(tmp_path: Path, shop: Shop, engines: Engines) -> None:
    """C-107: all APIs refuse, and the build is as good as without them: exit 0, and the release is public."""
    (tmp_path / "shop.yaml").write_text(shop.site())
    for api in ("indexnow", "yandex", "token", "bing"):
        engines.answer_next(api, *[Reply(403)] * 4)
    done = sitemap_ops("build", "shop.yaml", folder=tmp_path, environment=environment(shop, engines))
    assert done.code == 0, done.err
    assert len(re.findall(r"^(yandex|google|bing): warning: ", done.out, re.MULTILINE)) == 3
    assert "<sitemapindex" in shop.file("sitemap.xml")
    assert "Traceback" not in done.err


def test_plan_tells_nobody(tmp_path: Path, shop: Shop, engines: Engines) -> None:
    """What is only planned is told to nobody."""
    (tmp_path / "shop.yaml").write_text(shop.site())
    done = sitemap_ops("build", "shop.yaml", "--plan", folder=tmp_path, environment=environment(shop, engines))
    assert (done.code, engines.asked) == (0, [])


BROKEN = "import sys\nsys.modules['sitemap_ops.steps.notify'] = None\n"
"""As sitecustomize.py: the step can't even be imported, a fault that no `except` of it meets."""

NO_RETRIES = """
for dag in list(globals().values()):
    if hasattr(dag, "get_task"):
        dag.get_task("notify").retries = 0
"""


@pytest.mark.airflow
def test_airflow_task_tells_and_can_not_fail_the_run(
    tmp_path: Path, shop: Shop, engines: Engines, airflow: Airflow
) -> None:
    """C-107, PUB-10: in real Airflow `notify` comes after `publish`, with credentials of Airflow's connections.

    A notify that fails as a task, by whatever cause, leaves the run a success; a plan skips it.
    """
    airflow.add_connection(
        "shop_s3", conn_type="aws", login=shop.s3.access_key, password=shop.s3.secret_key,
        extra={"endpoint_url": shop.s3.endpoint_url, "region_name": REGION},
    )  # fmt: skip
    for name, token in (("indexnow", INDEXNOW_KEY), ("yandex", YANDEX_TOKEN), ("bing", BING_KEY)):
        airflow.add_connection(name, conn_type="generic", host=engines.url, password=token)
    airflow.add_connection(
        "google", conn_type="google_cloud_platform", host=engines.url,
        extra={"keyfile_dict": json.dumps(service_account(engines))},
    )  # fmt: skip
    path = airflow.add_site("shop", shop.site())
    tested = airflow.test_dag("sitemaps__shop", {"conf": {"plan_only": True}}, {})
    assert tested.returncode == 0, tested.output[-6000:]
    plan, run = tested.states()
    assert (plan["publish"], plan["notify"]) == (["skipped"], ["skipped"])
    assert set(map(tuple, run.values())) == {("success",)}
    assert list(engines.submitted) == ["https://www.example.com/sitemap.xml"]
    (told,) = [each["value"] for each in airflow.xcoms() if each["task_id"] == "notify"]
    assert [each["outcome"] for each in told] == ["told"] * 5
    places = [
        tested.output,
        *(each.read_bytes().decode("latin-1") for each in airflow.home.rglob("*") if each.is_file()),
    ]
    key_line = service_account(engines)["private_key"].splitlines()[3]
    assert not [secret for secret in [*SECRETS, key_line] if any(secret in place for place in places)]

    path.write_text(shop.site().replace("robots: publish, ", ""))
    (airflow.dags / "sitecustomize.py").write_text(BROKEN)
    airflow.variables["PYTHONPATH"] = f"{airflow.dags}:{airflow.variables['PYTHONPATH']}"
    source = airflow.dags / "sitemaps.py"
    source.write_text(source.read_text() + NO_RETRIES)
    tested = airflow.test_dag("sitemaps__shop", {})
    assert tested.returncode == 0, tested.output[-6000:]
    assert tested.states()[-1] == run | {"notify": ["failed"]}
