"""Two real inventories, published together: a catalogue from CSV, another from PostgreSQL, to a real S3 API."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pyarrow.csv as pcsv
import pytest
from lxml import etree
from sqlalchemy import make_url

from sitemap_ops.connections import Database
from sitemap_ops.site import load_site
from sitemap_ops.steps import assemble, extract, prepare, publish
from tests.services.postgres import new_database
from tests.services.s3 import S3Service
from tests.services.shared import shared

pytestmark = pytest.mark.integration

NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
MONTH = re.compile(r"\d{4}-\d{2}")

SITE = """\
site: catalogue
base_url: https://catalogue.example/
target: s3://{bucket}/public/
state: s3://{bucket}/private/
work: work/
coarse_dates: {coarse_dates}
sections:
  - name: packages
    source: {{type: csv, path: "{packages}"}}
    loc: "/project/{{name}}/"
    lastmod: released
  - name: modules
    source: {{type: sql, conn_id: modules_db, query: "SELECT name, version, downloads FROM module"}}
    loc: "/package/{{name}}"
"""


@dataclass(frozen=True)
class Connections:
    """The database and the S3 server of this test, and a record of the writes that reached S3."""

    database_url: str
    service: S3Service
    writes: list[str]

    def database(self, conn_id: str) -> Database:
        return Database(conn_id, url=make_url(self.database_url))

    def s3(self, conn_id: str | None) -> Any:
        client = self.service.client()
        client.meta.events.register("before-send.s3", self._record)
        return client

    def _record(self, request: Any, **_: Any) -> None:
        if request.method in ("PUT", "POST", "DELETE"):
            self.writes.append(request.url.split("?")[0].split("/", 4)[4])


@pytest.fixture(scope="module")
def connections(postgres_url: str, s3_service: S3Service) -> Iterator[Connections]:
    url = new_database(postgres_url)
    rows = gzip.decompress(shared("inventories", "modules.csv.gz").read_bytes())
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE module (name text, version text, downloads bigint)")
        with connection.cursor().copy("COPY module FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(rows)
    yield Connections(url, s3_service, [])


def published(connections: Connections, bucket: str, folder: Path, coarse_dates: str, day: int) -> dict[str, Any]:
    path = folder / "catalogue.yaml"
    packages = shared("inventories", "packages.csv.gz")
    path.write_text(SITE.format(bucket=bucket, packages=packages, coarse_dates=coarse_dates))
    site = load_site(path)
    run = prepare(site, run_id=f"run-{day}", as_of=datetime(2026, 11, day, tzinfo=UTC), connections=connections)
    parts = [extract(site, run, section.name, connections) for section in site.sections]
    return publish(site, run, assemble(site, run, parts, connections), connections)


@pytest.fixture(scope="module")
def schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(shared("xsd", "sitemap.xsd")))


def objects(client: Any, bucket: str) -> dict[str, Any]:
    listed = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="public/")
    keys = [item["Key"] for page in listed for item in page.get("Contents", ())]
    return {key.removeprefix("public/"): client.get_object(Bucket=bucket, Key=key) for key in keys}


def expected_locs() -> set[str]:
    """Every name's page, encoded by the standard library: the names hold no character that needs more thought."""
    names = {
        kind: pcsv.read_csv(shared("inventories", f"{kind}.csv.gz"))["name"].cast("string").to_pylist()
        for kind in ("modules",)
    }
    packages = pcsv.read_csv(
        shared("inventories", "packages.csv.gz"),
        convert_options=pcsv.ConvertOptions(column_types={"name": "string"}, strings_can_be_null=False),
    )["name"].to_pylist()
    safe = "/@!$&'()*+,;=:~"
    return {f"https://catalogue.example/project/{quote(name, safe=safe)}/" for name in packages} | {
        f"https://catalogue.example/package/{quote(name, safe=safe)}" for name in names["modules"]
    }


def test_published_together(connections: Connections, bucket: str, tmp_path: Path, schema: etree.XMLSchema) -> None:
    """Every name is there exactly once, in valid files with the right headers, written in the order of DESIGN 7.

    Month dates are dropped and counted; with `coarse_dates: keep` a second run keeps every one (P-08).
    """
    connections.writes.clear()
    report = published(connections, bucket, tmp_path, "drop", 1)
    dated = pcsv.read_csv(shared("inventories", "packages.csv.gz"))["released"].cast("string").to_pylist()
    months = sum(bool(MONTH.fullmatch(value or "")) for value in dated)
    assert report["rows_read"] == 147_721 + 56_749
    assert report["changed"]["lastmod-coarse"] == months > 100_000

    stored = objects(connections.service.client(), bucket)
    index = etree.fromstring(stored.pop("sitemap.xml")["Body"].read())
    locs: list[str] = []
    for key, answer in stored.items():
        assert answer["ContentType"] == "application/gzip"
        assert not answer.get("ContentEncoding")
        document = etree.fromstring(gzip.decompress(answer["Body"].read()))
        assert schema.validate(document), (key, schema.error_log.last_error)
        assert not list(document.iter(f"{NS}lastmod"))
        locs += [node.text for node in document.iter(f"{NS}loc")]
    assert len(locs) == len(set(locs))
    assert set(locs) == expected_locs()
    assert {node.text for node in index.iter(f"{NS}loc")} == {f"https://catalogue.example/{key}" for key in stored}
    assert_order(connections.writes, set(stored))

    report = published(connections, bucket, tmp_path, "keep", 2)
    kept = [
        node.text
        for key, answer in objects(connections.service.client(), bucket).items()
        if key.startswith("catalogue-packages-")
        for node in etree.fromstring(gzip.decompress(answer["Body"].read())).iter(f"{NS}lastmod")
    ]
    assert len(kept) == months
    assert all(MONTH.fullmatch(text) for text in kept)
    assert report["shards"]["changed"] > 0


def assert_order(writes: list[str], shards: set[str]) -> None:
    """DESIGN 7: intent, then files, then the manifest, then `current`, then the index; nothing public after it."""
    position = {name: at for at, name in enumerate(writes)}
    intent = next(at for at, name in enumerate(writes) if name.endswith("/intent.json"))
    manifest = next(at for at, name in enumerate(writes) if "/manifest-" in name)
    files = [position[f"public/{key}"] for key in shards]
    assert (
        intent < min(files) <= max(files) < manifest < position["private/current.json"] < position["public/sitemap.xml"]
    )
    assert max(at for at, name in enumerate(writes) if name.startswith("public/")) == position["public/sitemap.xml"]
