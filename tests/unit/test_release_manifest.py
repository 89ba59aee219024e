"""The records in `state`: stable bytes, strict reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sitemap_ops.errors import TargetError
from sitemap_ops.release.manifest import (
    Current,
    IndexRecord,
    Intent,
    Manifest,
    ShardRecord,
    Unlisted,
    from_json,
    to_json,
)

INDEX = IndexRecord("sitemap.xml", "main", "ab" * 32, 700, '"etag"')
MANIFEST = Manifest(
    site="shop",
    release="20261201T044419Z-1a2b3c4d",
    run_id="scheduled__2026-12-01",
    as_of="2026-12-01T04:44:19+00:00",
    previous=None,
    shards=(ShardRecord("k.xml.gz", "main", "ürünler", 1, 200, 150, "cd" * 32, "2026-12-01T04:44:19+00:00"),),
    indexes=(INDEX,),
    unlisted=(Unlisted("old.xml.gz", "2026-11-01T04:44:19+00:00"),),
    sections={"ürünler": 1},
)
RECORDS = [
    MANIFEST,
    Current("shop", 7, "release", "releases/release/manifest-1.json", (INDEX,)),
    Intent("shop", "release", "run", "2026-12-01T04:44:19+00:00", 6, ("k.xml.gz", "sitemap.xml")),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_equal_from_stable_bytes(record: Any) -> None:
    body = to_json(record)
    assert from_json(type(record), body, "x") == record
    assert to_json(from_json(type(record), body, "x")) == body
    assert json.loads(body)["schema"] == 1
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
            _changed(schema=2), "written by a newer sitemap-ops (schema 2, this one knows 1): update", id="newer"
        ),
    ],
)
def test_what_can_not_be_read_exactly_is_refused(body: bytes, says: str) -> None:
    """One sentence that names the object and says what to do; a misread past would publish a wrong present."""
    with pytest.raises(TargetError) as caught:
        from_json(Manifest, body, "s3://state/releases/1/manifest.json")
    assert str(caught.value).startswith("s3://state/releases/1/manifest.json ")
    assert says in str(caught.value)
