"""Images, videos and news of any values: nothing raises, and what is written is valid, stable and each row's own."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemap_ops.columns import column
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.dialects.files import Sitemaps
from sitemap_ops.entries import NOTES, Extension
from sitemap_ops.tags import IMAGE_TAGS, VIDEO_TAGS
from sitemap_ops.validate import validate
from sitemap_ops.validate.xsd import Schemas
from tests.services.shared import shared
from tests.unit.extending import AS_OF, HOME, file_of, images_of, news_of, texts, videos_of

ANY_TEXT = st.text(max_size=20)
"""Of all characters, lone surrogates and controls too."""
UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
URLS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "/", "//cdn.example/", f"{HOME}/", "https://faß.example/", "ftp://a.example/", "mailto:", "http://"]),
    UNICODE,
    st.sampled_from(["", ".jpg", "?a=1&b='", "#x", " \n https://b.example/2"]),
)  # fmt: skip
SCALARS = (
    *(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT, URLS),
    st.sampled_from(["PT10M", "10:30", "6", "4,5", "yes", "TR DE", "allow", "deny", "web", "2024-06-01", "x" * 3_000]),
)  # fmt: skip
ANY_JSON = st.recursive(
    st.one_of(*SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(VIDEO_TAGS) | ANY_TEXT, inner, max_size=5)
    ),
    max_leaves=8,
)
IMAGE = st.fixed_dictionaries({"loc": URLS}, optional={tag: st.one_of(*SCALARS) for tag in IMAGE_TAGS[1:]}) | URLS
VIDEO = st.fixed_dictionaries(
    dict.fromkeys(("thumbnail_loc", "content_loc"), URLS) | dict.fromkeys(("title", "description"), UNICODE),
    optional={tag: st.one_of(*SCALARS, st.lists(UNICODE, max_size=3)) for tag in VIDEO_TAGS[4:]},
)
AS_JSON = (
    st.lists(IMAGE, max_size=4) | st.lists(VIDEO, max_size=3) | VIDEO | ANY_JSON
).map(json.dumps)  # fmt: skip
VALUES = st.lists(AS_JSON | URLS | UNICODE | st.none(), max_size=6)
ROWS = st.lists(
    st.tuples(UNICODE | st.none(), UNICODE | st.sampled_from(["2024-06-15", "2024-06-14 10:00"])), max_size=6
)


def one_column(values: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame({"all": column(values, pa.string())})


def of_all(rows: pd.DataFrame) -> tuple[Extension, Extension, Extension]:
    """The three extensions, made of one column of anything."""
    return images_of(rows, "all"), videos_of(rows, "all", old=True), news_of(rows, title="all", published="all")


def whole(*made: Extension) -> bytes:
    names = ("image_texts", "videos", "news")
    return file_of(*(extension.columns[name] for extension in made for name in extension.columns if name in names))


@cache
def schema() -> etree.XMLSchema:
    schemas: etree.XMLSchema = Schemas(shared("xsd"))._schemas["urlset"]
    return schemas


def is_valid(body: bytes) -> bool:
    """Well-formed, of the published schemas, and without an error to our validator."""
    root = etree.fromstring(body)
    if len(root):
        schema().assertValid(root)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sitemap.xml"
        path.write_bytes(body)
        found = validate(path, now=AS_OF, base_url=f"{HOME}/")
    errors = {finding.code for finding in found.findings if finding.level == "error"}
    assert errors <= {"empty-sitemap"}, found.findings
    return True


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_any_column_makes_a_valid_file(values: list[str | None]) -> None:
    """P-21, P-23, C-43, X-06: no value raises; what is written is XML, valid, and no error to our validator."""
    made = of_all(one_column(values))
    assert is_valid(whole(*made))
    for extension in made:
        assert set(extension.notes) <= set(NOTES)
        assert all(0 <= row < len(values) for rows in extension.notes.values() for row in rows)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(IMAGE | VIDEO | ANY_JSON, max_size=3) | ANY_JSON, max_size=4))
def test_any_objects(values: list[Any]) -> None:
    """Columns of Python objects, nested and with half characters, raise nothing either."""
    assert is_valid(whole(*of_all(pd.DataFrame({"all": pd.Series(values, dtype=object)}))))


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({}, optional={tag: UNICODE | URLS | st.sampled_from(["1", "yes"]) for tag in VIDEO_TAGS})
    )
)
def test_columns_of_any_text(rows: list[dict[str, str]]) -> None:
    """A column for each tag, whatever it holds; news of any title and time."""
    table = pd.DataFrame({tag: column([row.get(tag) for row in rows], pa.string()) for tag in VIDEO_TAGS})
    videos = videos_of(table, {tag: tag for tag in VIDEO_TAGS}, old=True)
    images = images_of(table, {"loc": "content_loc", "title": "title", "license": "uploader_info"})
    news = news_of(table, name="{uploader}", language="{restriction}", published="publication_date")
    assert is_valid(whole(images, videos, news))


@settings(max_examples=20, deadline=None)
@given(VALUES, st.integers(0, 6))
def test_a_row_does_not_depend_on_its_neighbours(values: list[str | None], cut: int) -> None:
    """Chunks of any size give the same."""
    together = of_all(one_column(values))
    apart = [of_all(one_column(values[:cut])), of_all(one_column(values[cut:]))]
    pieces = ("images", "image_texts", "news")
    for at, extension in enumerate(together):
        for name in (name for name in extension.columns if name in pieces):
            assert texts(extension.columns[name]) == [text for part in apart for text in texts(part[at].columns[name])]


@settings(max_examples=20, deadline=None)
@given(VALUES)
def test_what_is_written_is_read_as_itself(values: list[str | None]) -> None:
    """Idempotence: a file that is imported and published again is the same, byte for byte."""
    images, videos, _ = of_all(one_column(values))
    body = file_of(images.columns["image_texts"], videos.columns["videos"])
    if not values:
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitemap.xml").write_bytes(body)
        batches = list(Sitemaps(f"{folder}/sitemap.xml", EnvironmentConnections()).batches())
    rows = pd.concat([batch.to_pandas() for batch in batches]).astype("string[pyarrow]").reset_index(drop=True)
    again = images_of(rows), videos_of(rows, old=True)
    assert file_of(again[0].columns["image_texts"], again[1].columns["videos"]) == body
