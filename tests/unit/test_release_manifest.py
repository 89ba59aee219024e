"""The records in `state`: stable bytes, strict reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sitemap_ops.errors import TargetError
from sitemap_ops.release.headers import PRIVATE
from sitemap_ops.release.history import read_before
from sitemap_ops.release.manifest import (
    Current,
    IdleBody,
    IndexRecord,
    Intent,
    Manifest,
    Past,
    Projected,
    ShardRecord,
    Unlisted,
    from_json,
    to_json,
)
from sitemap_ops.storage.folder import FolderStore

INDEX = IndexRecord("sitemap.xml", "main", "ab" * 32, 700, 50_000)
MANIFEST = Manifest(
    site="shop",
    release="20261201T044419Z-1a2b3c4d",
    run_id="scheduled__2026-12-01",
    as_of="2026-12-01T04:44:19+00:00",
    epoch=7,
    outcome="published",
    previous=None,
    shards=(ShardRecord("k.xml.gz", "main", "ürünler", 1, 200, 150, "cd" * 32, "2026-12-01T04:44:19+00:00"),),
    indexes=(INDEX,),
    gone=("sitemap-2.xml",),
    unlisted=(Unlisted("old.xml.gz", "2026-11-01T04:44:19+00:00", 3, ("ef" * 32,)),),
    idle=(IdleBody("ef" * 32, "2026-11-01T04:44:19+00:00", 3),),
    sections={"ürünler": 1},
    rejected=2,
    history=(Past("r", "releases/r/manifest-0.json", 6, "2026-11-30T04:44:19+00:00", "published", None, 5, 1, None),),
)
RECORDS = [
    MANIFEST,
    Current("shop", 7, "release", "releases/release/manifest-1.json", (INDEX,)),
    Intent("shop", "release", "run", "2026-12-01T04:44:19+00:00", 6, {"k.xml.gz": "cd" * 32, "sitemap.xml": ""}),
    Projected(7, "release"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_equal_from_stable_bytes(record: Any) -> None:
    body = to_json(record)
    assert from_json(type(record), body, "x") == record
    assert to_json(from_json(type(record), body, "x")) == body
    assert json.loads(body)["schema"] == 2
    assert list(json.loads(body)) == sorted(json.loads(body))


def _changed(**values: Any) -> bytes:
    return json.dumps({**json.loads(to_json(MANIFEST)), **values}).encode()


def _without(name: str) -> bytes:
    return json.dumps({k: v for k, v in json.loads(to_json(MANIFEST)).items() if k != name}).encode()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(to_json(MANIFEST)[:-30], "is damaged", id="cut short"),
        pytest.param(b"", "is damaged", id="empty"),
        pytest.param(b"\xff\xfe{}", "is damaged", id="not UTF-8"),
        pytest.param(b"[]", "is damaged", id="another shape"),
        pytest.param(b"null", "is damaged", id="null"),
        pytest.param(to_json(RECORDS[1]), "is damaged", id="another record"),
        pytest.param(_without("previous"), "is damaged at previous", id="a field is missing"),
        pytest.param(_without("shards"), "is damaged at shards", id="no shards"),
        pytest.param(_changed(more=1), "is damaged at more", id="a field too many"),
        pytest.param(_changed(sections={"a": "1"}), "is damaged at sections.a", id="text for a number"),
        pytest.param(_changed(sections={"a": 1.5}), "is damaged at sections.a", id="a fraction"),
        pytest.param(_changed(shards=[{}]), "is damaged at shards.0", id="an empty shard"),
        pytest.param(_changed(schema="1"), "is damaged at schema", id="schema as text"),
        pytest.param(_changed(schema=0), "is damaged at schema", id="schema 0"),
        pytest.param(
            _changed(schema=3), "written by a newer sitemap-ops (schema 3, this one knows 2): update", id="newer"
        ),
        pytest.param(_changed(schema=True), "is damaged", id="schema true"),
        pytest.param(_changed(schema=1, unlisted=1), "is damaged", id="schema 1 that is none"),
        pytest.param(
            _changed(schema=1, indexes=[{"etag": ""}]), "is damaged at indexes.0", id="schema 1 with half an index"
        ),
    ],
)
def test_what_can_not_be_read_exactly_is_refused(body: bytes, says: str) -> None:
    """One sentence that names the object and says what to do; a misread past would publish a wrong present."""
    with pytest.raises(TargetError) as caught:
        from_json(Manifest, body, "s3://state/releases/1/manifest.json")
    assert str(caught.value).startswith("s3://state/releases/1/manifest.json ")
    assert says in str(caught.value)


FIRST_SCHEMA = {
    "site": "shop",
    "release": "r2",
    "run_id": "run",
    "as_of": "2026-11-02T00:00:00+00:00",
    "previous": "releases/r1/manifest-1.json",
    "shards": [
        {
            "key": "shop-p-0.xml.gz",
            "set": "main",
            "section": "p",
            "entries": 1,
            "xml_bytes": 9,
            "gzip_bytes": 8,
            "sha256": "cd" * 32,
            "lastmod": "2026-11-02T00:00:00+00:00",
        }
    ],
    "indexes": [{"key": "sitemap.xml", "set": "main", "sha256": "ab" * 32, "bytes": 700, "etag": None}],
    "unlisted": [
        {"key": "shop-p-1.xml.gz", "since": "2026-11-01T00:00:00+00:00"},
        {"key": "sitemap-2.xml", "since": "2026-11-01T00:00:00+00:00"},
    ],
    "sections": {"p": 1},
    "schema": 1,
}


def test_records_of_the_first_schema_are_read() -> None:
    """Issue 4, item 4: `state` carries a schema version; what an older one did not say is empty, never guessed."""
    manifest = from_json(Manifest, json.dumps(FIRST_SCHEMA).encode(), "x")
    assert manifest.shards[0].sha256 == "cd" * 32
    assert manifest.indexes == (IndexRecord("sitemap.xml", "main", "ab" * 32, 700, 50_000),)
    assert manifest.unlisted == (Unlisted("shop-p-1.xml.gz", "2026-11-01T00:00:00+00:00", 0, ()),)
    assert (manifest.history, manifest.outcome, manifest.schema) == (None, "published", 2)
    current = {
        "site": "shop",
        "epoch": 3,
        "release": "r2",
        "manifest": "m",
        "indexes": FIRST_SCHEMA["indexes"],
        "schema": 1,
    }
    assert from_json(Current, json.dumps(current).encode(), "x").epoch == 3
    intent = {"site": "s", "release": "r", "run_id": "u", "as_of": "t", "epoch": 0, "keys": ["a", "b"], "schema": 1}
    assert from_json(Intent, json.dumps(intent).encode(), "x").files == {"a": "", "b": ""}


def test_the_history_of_the_first_schema_is_its_chain(tmp_path: Path) -> None:
    """The releases before one of schema 1 are those that its manifests name, one after the other."""
    state = FolderStore(tmp_path)
    first = FIRST_SCHEMA | {"release": "r1", "previous": "releases/r0/manifest-0.json"}
    current = {
        "site": "shop",
        "epoch": 3,
        "release": "r2",
        "manifest": "releases/r2/manifest-2.json",
        "indexes": [],
        "schema": 1,
    }
    for key, record in (
        ("current.json", current),
        ("releases/r2/manifest-2.json", FIRST_SCHEMA),
        ("releases/r1/manifest-1.json", first),
    ):
        state.put(key, json.dumps(record).encode(), PRIVATE)
    before = read_before(state, "shop")
    assert before.manifest is not None
    assert before.manifest.epoch == 3
    assert [past.release for past in before.manifest.history or ()] == ["r1"]
