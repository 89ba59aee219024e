"""Which file sets a site has, and what goes into each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from sitemap_ops.engines import Limits
from sitemap_ops.errors import SiteFileError
from sitemap_ops.filesets import FileSet, file_sets, fragment_columns, members, set_of
from sitemap_ops.ordering import ENTRY_SCHEMA
from sitemap_ops.site import Site, load_site

AS_OF = datetime(2026, 12, 1, tzinfo=UTC)
DAY = 86_400
SITE = """\
site: shop
base_url: https://a.example/
target: public/
sections:
  - {{name: pages, source: {{type: csv, path: pages.csv}}{section}}}
{rest}
"""


def site_of(folder: Path, rest: str = "", section: str = "") -> Site:
    (folder / "site.yaml").write_text(SITE.format(rest=rest, section=section))
    return load_site(folder / "site.yaml")


def sets_of(folder: Path, rest: str = "", section: str = "") -> dict[str, FileSet]:
    return {each.name: each for each in file_sets(site_of(folder, rest, section))}


def entries(**columns: list[object]) -> pa.Table:
    rows = len(next(iter(columns.values())))
    schema = pa.schema([*ENTRY_SCHEMA, pa.field("news", pa.string())])
    empty = {field.name: [None] * rows for field in schema}
    return pa.table(empty | columns, schema=schema)


def test_one_set_by_default(tmp_path: Path) -> None:
    """DESIGN 4: nothing but the main set unless it is asked for; no extension that no section has."""
    assert sets_of(tmp_path) == {"main": FileSet("main", Limits(), "sitemap.xml")}


def test_names_of_indexes_and_files(tmp_path: Path) -> None:
    """DESIGN 4: text and engine sets get a suffix; no two sets can mean one object; Baidu reads no index (BD-02)."""
    sets = sets_of(tmp_path, "formats: [xml, txt]\nengine_sets: [yandex, baidu]\nfresh: {days: 7}\nindex: map.xml.gz")
    assert {name: each.index for name, each in sets.items()} == {
        "main": "map.xml.gz",
        "txt": "map-txt.xml.gz",
        "yandex": "map-yandex.xml.gz",
        "baidu": None,
        "fresh": "map-fresh.xml.gz",
    }
    suffixes = [each.suffix for each in sets.values()]
    assert suffixes == [".xml.gz", ".txt", ".yandex.xml.gz", ".baidu.xml.gz", ".fresh.xml.gz"]
    assert [set_of(f"https://a.example/shop-pages-0123{suffix}") for suffix in suffixes] == [*sets]


def test_limits(tmp_path: Path) -> None:
    """C-69: the common set has the strictest limits of the engines named, an engine's own set those of that engine."""
    sets = sets_of(tmp_path, "engines: [google, legacy-2005]\nengine_sets: [baidu, google]")
    assert sets["main"].limits == Limits(50_000, 10_485_760, 1_000)
    assert sets["baidu"].limits.max_bytes == 10_485_759
    assert sets["google"].limits == Limits()


def test_extensions_are_those_that_the_audience_reads(tmp_path: Path) -> None:
    """C-82, C-85, Y-20 to Y-22: Yandex's own set has images with their texts, no video and no hreflang."""
    section = ", images: img, videos: vid, alternates: {tr: loc_tr}"
    sets = sets_of(tmp_path, "engine_sets: [yandex, bing]", section)
    assert sets["main"].extensions == ("alternates", "images", "videos")
    assert sets["yandex"].extensions == ("image_texts",)
    assert sets["bing"].extensions == ()
    only_yandex = sets_of(tmp_path, "engines: [yandex]\ndeprecated_tags: true", section)
    assert only_yandex["main"].extensions == ("image_texts",)
    assert fragment_columns(site_of(tmp_path, "engine_sets: [yandex]", section)) == (
        "alternates",
        "images",
        "image_texts",
        "videos",
    )


def test_news(tmp_path: Path) -> None:
    """C-77, C-78, G-42: news have a set of their own, 1,000 a file; the main set carries no news block."""
    sets = sets_of(tmp_path, section=", news: {name: The Paper, language: en, title: title, published: at}")
    assert sets["news"].limits.max_urls == 1_000
    assert sets["news"].extensions == ("news",)
    assert sets["main"].extensions == ()
    rows = entries(loc=["https://a.example/1", "https://a.example/2"], news=["<news:news/>", None])
    listed, kept_out = members(sets["news"], rows, AS_OF)
    assert listed["loc"].to_pylist() == ["https://a.example/1"]
    assert kept_out == {}


def test_content_limits_hold_in_the_engines_own_set_alone(tmp_path: Path) -> None:
    """DESIGN 5, Y-17, BD-03: limits are inclusive, and what breaks one is counted by its code."""
    sets = sets_of(tmp_path, "engine_sets: [yandex, baidu]")
    host = "https://a.example"
    fits, long = f"{host}/{'x' * 1_023}", f"{host}/{'x' * 1_024}"
    brief, wide = f"{host}/{'y' * (255 - len(host))}", f"{host}/{'y' * (256 - len(host))}"
    rows = entries(loc=[fits, long, brief, wide])
    listed, kept_out = members(sets["yandex"], rows, AS_OF)
    assert (listed["loc"].to_pylist(), kept_out) == ([fits, brief, wide], {"yandex-path-too-long": 1})
    listed, kept_out = members(sets["baidu"], rows, AS_OF)
    assert (listed["loc"].to_pylist(), kept_out) == ([brief], {"baidu-loc-over-256-bytes": 3})
    assert members(sets["main"], rows, AS_OF) == (rows, {})


def test_windows(tmp_path: Path) -> None:
    """Y-11: fresh is what changed in the window; an engine's set also has what says that it often changes."""
    sets = sets_of(tmp_path, "fresh: {days: 7}\nengine_sets: [{engine: yandex, updated_days: 7}]")
    now = int(AS_OF.timestamp())
    rows = entries(
        loc=["new", "edge", "old", "old-daily", "none", "none-hourly"],
        instant=[now, now - 7 * DAY, now - 7 * DAY - 1, 0, None, None],
        changefreq=[None, None, "weekly", "daily", None, "hourly"],
    )
    assert members(sets["fresh"], rows, AS_OF)[0]["loc"].to_pylist() == ["new", "edge"]
    assert members(sets["yandex"], rows, AS_OF)[0]["loc"].to_pylist() == ["new", "edge", "old-daily", "none-hourly"]
    added = rows.append_column("added", pa.array([None, None, None, None, now, now - 8 * DAY], pa.int64()))
    assert members(sets["fresh"], added, AS_OF)[0]["loc"].to_pylist() == ["new", "edge", "none"]


def test_an_engine_has_one_set(tmp_path: Path) -> None:
    """A set that is named twice is a mistake, told with its line."""
    with pytest.raises(SiteFileError, match=r"line 6: engine_sets\[1\] names 'yandex' twice"):
        site_of(tmp_path, "engine_sets: [yandex, {engine: yandex}]")
