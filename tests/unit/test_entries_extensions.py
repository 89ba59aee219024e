"""Whole files with images, videos and news: the published schemas, our validator and readers of others take them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lxml import etree
from usp.fetch_parse import XMLSitemapParser
from viusitemapparser.get_sitemap_entries import entries
from viusitemapparser.vsp import process_sitemap

from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.dialects.files import Sitemaps
from sitemap_ops.render.xml import EXTENSIONS
from sitemap_ops.tags import VIDEO_TAGS
from sitemap_ops.validate import validate
from tests.services.shared import shared
from tests.unit.extending import AS_OF, HOME, file_of, images_of, news_of, notes, pages, table, videos_of

ODD = 'Tom & "Jerry\'s" <b> ж\U0001f31e \x00\ud83c ]]> &amp; <!-- '
SHOWN = 'Tom & "Jerry\'s" <b> ж\U0001f31e \ufffd ]]> &amp; <!--'
ROWS = {
    "images": [
        json.dumps(["/ü.jpg?a=1&b='2'", {"loc": "//cdn.example.net/2", **dict.fromkeys(("title", "caption"), ODD)}]),
        "/1.jpg\n/2.jpg",
        None,
    ],
    "videos": [
        json.dumps(
            {
                **{tag: "/x?a&b'" for tag in VIDEO_TAGS if tag.endswith(("_loc", "info"))},
                **{tag: "2024-06-01 10:00" for tag in VIDEO_TAGS if tag.endswith("_date")},
                **dict.fromkeys(("title", "uploader", "category"), ODD),
                "description": ODD * 99,
                "duration": "PT10M",
                "rating": "4,5",
                "view_count": 12,
                "tag": [ODD, "b"],
                "live": 0,
                "family_friendly": True,
                "requires_subscription": "y",
                "restriction": "tr,de",
                "restriction_relationship": "allow",
                "platform": ["web", "tv"],
                "platform_relationship": "deny",
                "price": "1.99",
                "price_currency": "EUR",
            }
        ),
        None,
        json.dumps(
            [{"thumbnail_loc": "/t", "title": "T", "description": "D", "player_loc": f"/{n}"} for n in range(3)]
        ),
    ],
    "title": [ODD, None, "Third"],
    "published": ["2024-06-15T10:00:00+03:00", None, "2024-06-14"],
}


def whole(*, old: bool = True) -> bytes:
    """A file with every kind of fragment, some of them on one page (G-60)."""
    rows = table(ROWS)
    made = (
        images_of(rows).columns["image_texts" if old else "images"],
        videos_of(rows, old=old).columns["videos"],
        news_of(rows, name=ODD.replace("\x00", "").replace("\ud83c", "")).columns["news"],
    )
    return file_of(*made)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "sitemap.xml").write_bytes(whole())
    return tmp_path / "sitemap.xml"


@pytest.mark.parametrize("old", [False, True])
def test_the_published_schemas(old: bool, tmp_path: Path):
    """Issue 3, X-03, X-06: every extension validates against the combined schema, deprecated tags too."""
    body = whole(old=old)
    assert {etree.QName(tag).localname for url in etree.fromstring(body) for tag in url} == {
        *("loc", "image", "video", "news")
    }
    (tmp_path / "sitemap.xml").write_bytes(body)
    found = validate(tmp_path / "sitemap.xml", xsd=shared("xsd"), now=AS_OF)
    assert [finding for finding in found.findings if finding.code.startswith("xsd")] == []


def test_only_used_namespaces_are_declared():
    """C-49, G-60: a file's root binds the prefixes that its entries have."""
    rows = table(ROWS)
    root = etree.fromstring(file_of(images_of(rows).columns["images"]))
    assert set(root.nsmap) == {None, "image"}
    assert set(etree.fromstring(whole()).nsmap) == {None, "image", "video", "news"}


@pytest.mark.parametrize("engine", ["core", "google", "bing", "yandex"])
def test_our_validator(engine: str, path: Path):
    """What the writer emits is no ERROR to the validator, which shares no rules' code with it."""
    found = validate(path, engines=[engine], base_url=f"{HOME}/", now=AS_OF)
    assert [finding for finding in found.findings if finding.level == "error"] == []


def test_ultimate_sitemap_parser(path: Path):
    """C-32, C-42: an independent reader sees the images and the article that were meant."""
    parser = XMLSitemapParser(
        url=f"{HOME}/sitemap.xml", content=path.read_text(), recursion_level=0, web_client=None, parent_urls=set()
    )
    first, second, third = parser.sitemap().pages
    assert [page.url for page in (first, second, third)] == pages(3).tolist()
    assert [image.loc for image in first.images] == [f"{HOME}/%C3%BC.jpg?a=1&b='2'", "https://cdn.example.net/2"]
    assert [image.loc for image in second.images] == [f"{HOME}/1.jpg", f"{HOME}/2.jpg"]
    assert "\U0001f31e" in first.images[1].title and "Jerry's" in first.images[1].title
    assert (first.news_story.publication_language, third.news_story.title) == ("en", "Third")
    assert first.news_story.publish_date.isoformat() == "2024-06-15T10:00:00+03:00"
    assert second.news_story is None


def test_viu_sitemap_parser(path: Path):
    """C-81: another one sees the videos, their attributes too."""
    read = list(entries(process_sitemap(str(path))))
    video = read[0]["video"]
    assert video["title"] == SHOWN
    assert len(video["description"]) <= 2_048
    assert (video["duration"], video["rating"], video["live"]) == ("600", "4.5", "no")
    assert video["restriction"] == {"@relationship": "allow", "#text": "TR DE"}
    assert video["uploader"] == {"@info": f"{HOME}/x?a&b'", "#text": SHOWN}
    assert video["tag"] == [SHOWN, "b"]
    assert [one["player_loc"] for one in read[2]["video"]] == [f"{HOME}/{n}" for n in range(3)]
    assert read[0]["image"][1] == {"loc": "https://cdn.example.net/2", "title": SHOWN, "caption": SHOWN}
    assert read[0]["news"]["title"] == SHOWN


def imported(path: Path) -> pd.DataFrame:
    batches = [batch.to_pandas() for batch in Sitemaps(str(path), EnvironmentConnections()).batches()]
    return pd.concat(batches).astype("string[pyarrow]")


def test_what_is_imported_is_published_again(path: Path):
    """Issue 3 item 7: what an import writes is in the forms that a section reads, and nothing is left to mend."""
    rows = imported(path)
    images, videos = images_of(rows), videos_of(rows, old=True)
    news = news_of(rows, name="{news_name}", language="{news_language}", title="news_title", published="news_published")
    made = (images.columns["image_texts"], videos.columns["videos"], news.columns["news"])
    assert file_of(*made) == path.read_bytes()
    kept = {"deprecated-tag", "image-foreign-host", "text-replacement-char"}
    assert {*notes(images), *notes(videos), *notes(news)} <= kept


def test_no_rows():
    """A chunk without rows is no trouble."""
    rows = table(ROWS).iloc[:0]
    for made in (images_of(rows), videos_of(rows), news_of(rows)):
        assert len(made.columns) == 0 and set(made.columns) <= set(EXTENSIONS) and notes(made) == {}


@pytest.mark.parametrize("values", [[1, 2], [1.5, None], [True, False], [b"\xff", None], [[1], None]])
def test_columns_of_other_types(values: list[Any]):
    """Whatever a column holds, nothing is raised."""
    rows = table({"images": values, "videos": values, "title": values, "published": values})
    assert len(images_of(rows).columns) == len(videos_of(rows).columns) == len(news_of(rows).columns) == 2
