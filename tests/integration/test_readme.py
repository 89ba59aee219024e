"""Every command of the README is run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.documented import bash_blocks, run
from tests.services.postgres import new_database
from tests.services.s3 import S3Service
from tests.services.shared import ROOT

pytestmark = pytest.mark.integration

README = (ROOT / "README.md").read_text()


def blocks(heading: str) -> list[str]:
    """The bash blocks below a heading."""
    section = README.split(f"\n### {heading}\n", 1)[1]
    section = re.split(r"\n##+ ", section, maxsplit=1)[0]
    return bash_blocks(section)


def test_csv_to_a_folder(tmp_path: Path) -> None:
    """The first site: what the README says of its files, its rejects and its URLs is so."""
    build, normalize = blocks("From CSV to a folder")
    printed = run(build, tmp_path)
    assert "would be published" in printed
    names = sorted(path.name for path in (tmp_path / "my-site/public").iterdir() if not path.name.startswith("."))
    assert names == ["shop-pages-0000000000000000.xml.gz", "sitemap.xml"]
    releases = list((tmp_path / "my-site/.sitemap-ops/shop/releases").iterdir())
    assert {path.name for path in releases[0].iterdir()} > {"report.json", "rejects.csv.gz"}
    assert '"loc": "https://www.example.com/%C3%BCber%20uns?a=1&b=2"' in run(normalize, tmp_path)


def test_postgresql_to_s3(tmp_path: Path, postgres_url: str, s3_service: S3Service, bucket: str) -> None:
    """The second site, with a real database and a real S3 API in the place of the README's example names."""
    url = new_database(postgres_url)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE product (slug text, id bigint, updated_at timestamp, live boolean)")
        connection.execute(
            "INSERT INTO product VALUES ('red-shoe', 1, '2026-11-01 10:00', true), ('old', 2, now(), false)"
        )
    (script,) = blocks("From PostgreSQL to S3")
    run(script, tmp_path, SHOP_DB_URL=url, SITEMAP_BUCKET=bucket, **s3_service.environment())
    keys = [item["Key"] for item in s3_service.client().list_objects_v2(Bucket=bucket, Prefix="public/")["Contents"]]
    assert keys == ["public/shop-products-0000000000000000.xml.gz", "public/sitemap.xml"]


def test_targets_and_options_exist() -> None:
    """Every make target and every option that the README names is there."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z][\w-]*)", README)) - {"and"} <= targets
    for command, options in re.findall(r"^\| `(\w+) (.*?)` \|", README, re.MULTILINE):
        shown = subprocess.run(
            [sys.executable, "-m", "sitemap_ops", command, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for option in re.findall(r"--[a-z-]+", options):
            assert option in shown, (command, option)
