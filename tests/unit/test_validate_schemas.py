"""The published schemas as a second opinion (X-01 to X-07)."""

# ruff: noqa: E501 - one case, one line

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_ops.errors import UsageError
from sitemap_ops.validate import Validation, validate
from tests.services.shared import shared
from tests.unit.test_validate_extensions import CLUSTER, IMAGE, VIDEO, article, video
from tests.unit.validating import NOW, extended, index, keys, page, pages, shard, urlset


def judged(tmp_path: Path, body: bytes) -> Validation:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(body)
    return validate(path, xsd=shared("xsd"), follow=False, now=NOW)


def schema_keys(tmp_path: Path, body: bytes) -> set[str]:
    return {key for key in keys(judged(tmp_path, body)) if key.startswith("xsd")}


@pytest.mark.parametrize(
    "body",
    [
        pages("https://shop.example/a"),
        extended(IMAGE),
        video(),
        extended(article()),
        CLUSTER,
        extended(IMAGE, "".join(f"<video:video>{''.join(f'<video:{n}>{v}</video:{n}>' for n, v in VIDEO.items())}</video:video>"), article()),
        index(shard("a.xml")),
    ],
)  # fmt: skip
def test_what_is_right(body: bytes, tmp_path: Path) -> None:
    """X-03, X-04: every extension validates against the combined schema, without the network."""
    assert schema_keys(tmp_path, body) == set()


@pytest.mark.parametrize(
    "body",
    [
        urlset(page(rest="<lastmod>2005</lastmod>")),
        urlset(page(rest="<lastmod>2005-01</lastmod>")),
        urlset(page(rest="<lastmod>2005-01-01T10:00Z</lastmod>")),
        pages("http://x.co"),
        video(title="x" * 101),
        extended(
            "<image:image><image:title>t</image:title><image:loc>https://shop.example/p.jpg</image:loc></image:image>"
        ),
    ],
)
def test_where_the_schema_is_too_strict(body: bytes, tmp_path: Path) -> None:
    """X-01, X-02, X-06: what it alone rejects is a warning."""
    assert schema_keys(tmp_path, body) == {"xsd-differs"}


@pytest.mark.parametrize(
    "body",
    [
        urlset("<url><lastmod>2024-01-01</lastmod><loc>https://shop.example/a</loc></url>"),
        urlset(page(rest="<priority>0,8</priority>")),
        urlset(page(rest="<lastmod>07.03.2024</lastmod>")),
        urlset(),
        index(shard("a.xml", "<changefreq>daily</changefreq>")),
    ],
)
def test_what_both_reject(body: bytes, tmp_path: Path) -> None:
    """P-18: in XSD mode the order of tags is an error; a translated value is one anyway."""
    assert schema_keys(tmp_path, body) == {"xsd-invalid"}


@pytest.mark.parametrize(
    "value", ["2005-01-01T10:00:00", "2005-01-01Z", "2005-01-01T24:00:00Z", "-0044-03-15", " 2005-01-01 "]
)
def test_where_the_schema_is_too_lax(value: str, tmp_path: Path) -> None:
    """X-01, X-05: what it lets pass is still an error of ours."""
    found = judged(tmp_path, urlset(page(rest=f"<lastmod>{value}</lastmod>")))
    assert found.worst == "error"
    assert not {"xsd-invalid", "xsd-differs"} & keys(found)


def test_many_faults_in_a_large_file(tmp_path: Path) -> None:
    """Lines are told, and 50,000 faults take no minutes."""
    found = judged(
        tmp_path, urlset(*(page(f"https://shop.example/{n}", "<priority>2</priority>") for n in range(20_000)))
    )
    lines = [one.line for one in found.findings if one.code == "xsd-invalid"]
    assert lines == [3, 4, 5, 6, 7]


def test_no_schemas_there(tmp_path: Path) -> None:
    """A folder without them is the caller's mistake."""
    (tmp_path / "sitemap.xml").write_bytes(pages("https://shop.example/a"))
    with pytest.raises(UsageError, match="There is no schema"):
        validate(tmp_path / "sitemap.xml", xsd=tmp_path)
