"""docs/takeover.md, from an old generator's files to releases: every command of it is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitemap_ops.storage import Headers, Store
from tests.documented import bash_blocks, run
from tests.services.s3 import S3Service
from tests.services.shared import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.full]

XML = Headers("application/xml")


def listed(target: Store) -> list[str]:
    """What the index lists; of this program's files the part of the name that tells the section."""
    found = target.get("sitemap_index.xml")
    assert found
    return sorted(re.findall(r"example\.com/(shop-[a-z]+-|sitemap-[^<]+)", found[0].decode()))


def test_the_walk(tmp_path: Path, s3_service: S3Service, bucket: str) -> None:
    """Issue 6, 5: import, adopt, the way back, the real source, and section by section in a bucket; old files stay."""
    environment = {**s3_service.environment(), "SITEMAP_BUCKET": bucket}
    walk = iter(bash_blocks((ROOT / "docs/takeover.md").read_text(encoding="utf-8")))

    def next_block() -> str:
        return run(next(walk), tmp_path, **environment)

    next_block()
    www = tmp_path / "takeover/www"
    old = {path.name: path.read_bytes() for path in www.iterdir()}
    told = next_block()
    assert "it has errors: exit code 1" in told
    assert "URLs 5, files read 3, written to takeover/old.csv\nskipped: 1 entries" in told
    told = next_block()
    assert "it wants to be told what becomes of the old index" in told
    assert "files taken over: 2; left out, for they lie elsewhere: 0" in told
    assert "would be published" in told
    assert {path.name: path.read_bytes() for path in www.iterdir()}.items() > {
        name: body for name, body in old.items() if name != "sitemap_index.xml"
    }.items(), "the old files stay"
    assert (www / "sitemap_index.xml").read_bytes() != old["sitemap_index.xml"]
    assert "<" not in next_block(), "no URL came or went"
    (www / "sitemap-pages.xml").unlink()  # as it will be, 30 days later
    told = next_block()
    assert (www / "sitemap-pages.xml").read_bytes() == old["sitemap-pages.xml"]
    assert "is live again" in told
    assert "published" in told.rpartition("is live again")[2]
    assert b"/shop-all-" in (www / "sitemap_index.xml").read_bytes()
    assert "would be published" in next_block()

    public = s3_service.store(bucket, "public")
    for name, body in old.items():
        (tmp_path / name).write_bytes(body)
        public.upload(tmp_path / name, name, XML)
    told = next_block()
    assert "files taken over: 2" in told
    assert listed(public) == ["shop-products-", "sitemap-pages.xml", "sitemap-products.xml.gz"]
    public.delete(["sitemap-products.xml.gz"])
    assert "0 errors, 0 warnings" in next_block()
    assert listed(public) == ["shop-pages-", "shop-products-"]
    assert public.head("sitemap-pages.xml"), "it is removed 30 days later"
    assert next(walk, None) is None
