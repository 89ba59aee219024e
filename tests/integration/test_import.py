"""import and the source type `sitemap` on a real web server, a real S3 API, and the command line."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.errors import SourceError
from sitemap_ops.importing import import_sitemap
from tests.services.product import sitemap_ops
from tests.services.s3 import S3Service
from tests.services.web import Answer, WebService, web_service
from tests.unit.validating import gz, index, page, pages, shard, urlset

pytestmark = pytest.mark.integration

GUIDE = """\
< urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
< url>< loc>https://a.example/?a=1&b=2</loc>< changefreq>her ay</changefreq>< priority>0,8</priority></url>
</urlset>
"""


@pytest.fixture
def web() -> Iterator[WebService]:
    with web_service() as service:
        yield service


def locs(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row["loc"] for row in csv.DictReader(file)]


def test_index_on_the_web(web: WebService, tmp_path: Path) -> None:
    """An index by its address: its files from the same host, compressed in transport or not, relative or not."""
    web.answers = {
        "/sitemap.xml": Answer(gz(index(shard("a.xml.gz", root=web.url), shard("b", root="")))),
        "/a.xml.gz": Answer(gz(pages("https://a.example/1")), headers={"Content-Type": "application/gzip"}),
        "/b": Answer(gz(pages("https://a.example/2")), headers={"Content-Encoding": "gzip"}),
    }
    imported = import_sitemap(f"{web.url}sitemap.xml", tmp_path / "out.csv", EnvironmentConnections())
    assert (imported.urls, imported.files, imported.repaired) == (2, 3, {})
    assert locs(tmp_path / "out.csv") == ["https://a.example/1", "https://a.example/2"]
    assert web.asked == ["/sitemap.xml", "/a.xml.gz", "/b"]


def test_no_other_host_is_asked(web: WebService, tmp_path: Path) -> None:
    """What an index lists elsewhere is not fetched on its word: the import says so and writes nothing."""
    with web_service() as other:
        web.answers = {"/sitemap.xml": Answer(index(shard("a.xml", root=other.url)))}
        with pytest.raises(SourceError, match=re.escape(f"lists {other.url}a.xml, which is on another host")):
            import_sitemap(f"{web.url}sitemap.xml", tmp_path / "out.csv", EnvironmentConnections())
        assert other.asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(status=404), "the server answers 404"),
        (
            Answer(status=301, headers={"Location": "https://b.example/"}),
            "answers 301 and points to https://b.example/",
        ),
        (Answer(b"<urlset>", headers={"Content-Length": "99"}), "cut short"),
        (Answer(b"<!doctype html>sign in"), "this is an HTML page"),
    ],
)
def test_an_answer_that_is_no_sitemap(answer: Answer, told: str, web: WebService, tmp_path: Path) -> None:
    """One file of an index that can't be read whole stops the import: half an inventory is none."""
    web.answers = {
        "/sitemap.xml": Answer(index(shard("good.xml", root=web.url), shard("bad.xml", root=web.url))),
        "/good.xml": Answer(pages("https://a.example/1")),
        "/bad.xml": answer,
    }
    with pytest.raises(SourceError, match=re.escape(told)) as raised:
        import_sitemap(f"{web.url}sitemap.xml", tmp_path / "out.csv", EnvironmentConnections())
    assert f"{web.url}bad.xml" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_password(web: WebService, tmp_path: Path) -> None:
    """A password in the address is used, and told to nobody."""
    address = web.url.replace("//", "//user:s3cr3t@") + "gone.xml"
    ran = sitemap_ops("import", address, "--to", "out.csv", folder=tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert "gone.xml can't be imported: the server answers 404" in ran.err
    assert "s3cr3t" not in ran.err


def test_index_on_s3(s3_service: S3Service, bucket: str, tmp_path: Path) -> None:
    """An index in a bucket, by its key: what it lists is looked for beside it; a prefix is all that is there."""
    client = s3_service.client()
    client.put_object(Bucket=bucket, Key="maps/sitemap.xml", Body=index(shard("a.xml.gz", root="https://a.example/x/")))
    client.put_object(Bucket=bucket, Key="maps/a.xml.gz", Body=gz(pages("https://a.example/1")))
    client.put_object(Bucket=bucket, Key="maps/b.txt", Body=b"https://a.example/2\n")
    environment = s3_service.environment()
    for location, urls in ((f"s3://{bucket}/maps/sitemap.xml", 1), (f"s3://{bucket}/maps/", 2)):
        ran = sitemap_ops("import", location, "--to", "out.csv", "--json", folder=tmp_path, environment=environment)
        assert (ran.code, ran.err) == (0, "")
        assert ran.json["urls"] == urls == len(locs(tmp_path / "out.csv"))
    for call in (["import", f"s3://{bucket}/no.xml", "--to", "out.csv"], ["validate", f"s3://{bucket}/no.xml"]):
        ran = sitemap_ops(*call, folder=tmp_path, environment=environment)
        assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_command(tmp_path: Path) -> None:
    """DESIGN 8: import prints its count, and each repair by its code; a mistake is one sentence and an exit code."""
    (tmp_path / "guide.xml").write_text(GUIDE)
    ran = sitemap_ops("import", "guide.xml", "--to", "guide.csv", folder=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "URLs 1, files read 1, written to guide.csv",
        "repaired: bare-ampersand 1",
        "repaired: changefreq-translated 1",
        "repaired: priority-comma 1",
        "repaired: tag-space 5",
    ]
    for arguments, code in (
        (["gone.xml", "--to", "a.csv"], 2),
        (["guide.xml", "--to", "a.txt"], 2),
        (["guide.xml"], 2),
    ):
        ran = sitemap_ops("import", *arguments, folder=tmp_path)
        assert (ran.code, ran.out) == (code, "")
        assert "Traceback" not in ran.err


def test_taken_over_in_two_ways(tmp_path: Path) -> None:
    """A site built from an import, and one built from the old sitemap itself, publish the same files."""
    (tmp_path / "old.xml").write_text(GUIDE)
    assert sitemap_ops("import", "old.xml", "--to", "old.csv", folder=tmp_path).code == 0
    shards = []
    for source in ("{type: csv, path: old.csv}", "{type: sitemap, location: old.xml}"):
        (tmp_path / "site.yaml").write_text(
            "site: shop\nbase_url: https://a.example/\ntarget: public/\nstate: state/\nwork: work/\nsections:\n"
            f"  - {{name: pages, source: {source}, lastmod: lastmod, changefreq: changefreq, priority: priority}}\n"
        )
        ran = sitemap_ops("build", "site.yaml", "--json", folder=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        (name,) = (tmp_path / "public").glob("*.xml.gz")
        shards.append((name.name, gzip.decompress(name.read_bytes())))
    assert shards[0] == shards[1]
    assert (
        b"<loc>https://a.example/?a=1&amp;b=2</loc><changefreq>monthly</changefreq><priority>0.8</priority>"
        in shards[0][1]
    )


def test_memory_is_flat(tmp_path: Path) -> None:
    """DESIGN 9: an index of many files needs the memory of one."""
    (tmp_path / "shard.xml").write_bytes(urlset(*(page(f"https://a.example/{'x' * 60}/{n}") for n in range(20_000))))
    peaks = []
    for count in (1, 8):
        for n in range(count):
            (tmp_path / f"{n}.xml").write_bytes((tmp_path / "shard.xml").read_bytes())
        (tmp_path / "index.xml").write_bytes(index(*(shard(f"{n}.xml") for n in range(count))))
        ran = sitemap_ops("import", "index.xml", "--to", "out.parquet", "--json", folder=tmp_path)
        assert ran.json["urls"] == 20_000 * count
        peaks.append(ran.peak_mib)
    assert peaks[1] - peaks[0] < 60
