"""The command line: exit codes, what goes to stdout and what to stderr, and no traceback for a user's mistake."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.services.product import sitemap_ops
from tests.services.shared import ROOT

pytestmark = pytest.mark.integration

SITE = """\
site: shop
base_url: https://a.example/
target: public/
work: work/
sections:
  - {name: pages, source: {type: csv, path: pages.csv}, loc: url}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "pages.csv").write_text("url\n/\n/a b\n/ü\n")
    return tmp_path


def test_build_json_is_the_report_alone(site: Path) -> None:
    """DESIGN 8: with --json stdout holds the report and nothing else; the exit code is 0."""
    ran = sitemap_ops("build", "site.yaml", "--json", folder=site)
    assert (ran.code, ran.err) == (0, "")
    wanted = "site release started finished rows_read entries duplicates rejected changed sections shards bytes guards"
    assert set(ran.json) > {*wanted.split(), "findings", "timings"}
    assert ran.json["entries"] == 3


def test_build_summary(site: Path) -> None:
    """Without --json a person reads what was done and where to look; nothing on stderr, which is no terminal here."""
    ran = sitemap_ops("build", "site.yaml", folder=site)
    assert (ran.code, ran.err) == (0, "")
    for told in ("published", "rows read", "3", "https://a.example/sitemap.xml", ".sitemap-ops/shop/releases/"):
        assert told in ran.out
    assert not list((site / "work").rglob("*.arrow"))


def test_plan(site: Path) -> None:
    """--plan names the shards that would change, and writes nothing to the target."""
    ran = sitemap_ops("build", "site.yaml", "--plan", folder=site)
    assert ran.code == 0
    assert "added" in ran.out
    assert "shop-pages-0000000000000000.xml.gz" in ran.out
    assert not (site / "public").exists() or not list((site / "public").glob("[!.]*"))


@pytest.mark.parametrize(
    ("yaml", "code", "told"),
    [
        pytest.param(SITE + "colour: red\n", 2, "colour is not a known key", id="unknown key"),
        pytest.param("", 2, "site.yaml", id="empty file"),
        pytest.param(SITE.replace("pages.csv", "gone.csv"), 1, "gone.csv", id="missing source"),
        pytest.param(SITE.replace("loc: url", "loc: uri"), 1, "'url'", id="missing column"),
        pytest.param(SITE + "guards: {min_urls: 100}\n", 1, "min_urls is 100", id="guard"),
        pytest.param(SITE.replace("type: csv, path: pages.csv", "type: sql, conn_id: db, query: SELECT 1"), 2,
                     "SITEMAP_OPS_CONN_DB", id="no connection"),
    ],
)  # fmt: skip
def test_mistakes(site: Path, yaml: str, code: int, told: str) -> None:
    """A mistake is told on stderr, with its place, and never as a traceback; nothing is published."""
    (site / "site.yaml").write_text(yaml)
    ran = sitemap_ops("build", "site.yaml", folder=site)
    assert ran.code == code
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert not list((site / "public").glob("*.xml"))


@pytest.mark.parametrize("arguments", [[], ["publish"], ["build"], ["build", "site.yaml", "--plam"]])
def test_wrong_calls(site: Path, arguments: list[str]) -> None:
    """A call that can't be meant exits with 2 and shows how to call."""
    ran = sitemap_ops(*arguments, folder=site)
    assert ran.code == 2
    assert "usage:" in ran.err


def test_unreachable_store(site: Path) -> None:
    """A store that can't be reached, with credentials that are secret: one sentence, exit 1, no secret."""
    environment = {
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "S3cr3t/p@ss",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }
    (site / "site.yaml").write_text(SITE.replace("target: public/", "target: s3://bucket/p/\nstate: s3://bucket/s/"))
    ran = sitemap_ops("build", "site.yaml", folder=site, environment=environment)
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "S3cr3t" not in ran.err


def test_no_credentials(site: Path) -> None:
    """Without any AWS credentials, or with a profile that does not exist, the sentence says so."""
    (site / "site.yaml").write_text(SITE.replace("target: public/", "target: s3://bucket/p/\nstate: s3://bucket/s/"))
    nowhere = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "HOME": str(site)}
    for extra in ({}, {"AWS_PROFILE": "nobody"}):
        ran = sitemap_ops("build", "site.yaml", folder=site, environment=nowhere | extra)
        assert ran.code in (1, 2)
        assert "Traceback" not in ran.err
        assert ran.err.count("\n") == 1


def test_validate(site: Path) -> None:
    """validate: 0 for what build made, 1 for a file with an error, JSON and JUnit for machines."""
    assert sitemap_ops("build", "site.yaml", folder=site).code == 0
    good = sitemap_ops("validate", "public", "--base", "https://a.example/", folder=site)
    assert (good.code, good.err) == (0, "")
    (site / "bad.xml").write_text(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/relative</loc></url></urlset>'
    )
    bad = sitemap_ops("validate", "bad.xml", "--json", folder=site)
    assert bad.code == 1
    assert any(finding["code"] == "loc-not-absolute" for finding in bad.json["findings"])
    assert "<testsuite" in sitemap_ops("validate", "bad.xml", "--junit", folder=site).out
    missing = sitemap_ops("validate", "nothing-there.xml", folder=site)
    assert missing.code in (1, 2)
    assert "Traceback" not in missing.err


def test_normalize() -> None:
    """normalize: one JSON line a line of input, in order, with reason and changes; bytes that are no UTF-8 too."""
    lines = b"https://a.example/%c3%bc\n\xff\nftp://a.example/\n/rel?utm_source=x\r\nlast-without-newline"
    done = subprocess.run(
        [sys.executable, "-m", "sitemap_ops", "normalize", "--base", "https://a.example/"],
        cwd=ROOT, input=lines, capture_output=True, check=True,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["loc"] for line in found] == [
        "https://a.example/%C3%BC",
        None,
        None,
        "https://a.example/rel?utm_source=x",
        "https://a.example/last-without-newline",
    ]
    assert [line["reason"] for line in found] == [None, "url-surrogate", "url-scheme", None, None]
    assert found[0]["changes"] == ["not-normalised"]


def test_normalize_answers_before_the_end() -> None:
    """A pipe that stays open gets its answers line by line."""
    with subprocess.Popen(
        [sys.executable, "-m", "sitemap_ops", "normalize", "--base", "https://a.example/"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for path in (b"/a", b"/b"):
            process.stdin.write(path + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["loc"] == f"https://a.example{path.decode()}"
        process.stdin.close()
        assert process.wait() == 0


def test_interrupt(site: Path) -> None:
    """Ctrl-C during a build: exit 130, one sentence, no staging files left, nothing public."""
    with gzip.open(site / "pages.csv.gz", "wt") as file:
        file.write("url\n" + "".join(f"/a b/{n}\n" for n in range(1_500_000)))
    (site / "site.yaml").write_text(SITE.replace("pages.csv", "pages.csv.gz"))
    process = subprocess.Popen(
        [sys.executable, "-m", "sitemap_ops", "build", site / "site.yaml"],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list((site / "work").rglob("*.arrow")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert not [path for path in (site / "work").rglob("*") if path.is_file()]
    assert not list((site / "public").glob("*.xml"))
