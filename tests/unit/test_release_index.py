"""What the indexes list, and where."""

from __future__ import annotations

import gzip

import pytest
from lxml import etree

from sitemap_ops.errors import OutputError
from sitemap_ops.release.index import index_files, url_of
from sitemap_ops.release.manifest import ShardRecord

DAY = "2026-12-01T04:44:19+00:00"


def _shards(count: int) -> list[ShardRecord]:
    return [ShardRecord(f"shop-p-{n}.xml.gz", "main", "p", 1, 1, 1, "00", DAY) for n in range(count)]


def _locs(body: bytes) -> list[str]:
    return [element.text or "" for element in etree.fromstring(body).iter("{*}loc")]


@pytest.mark.parametrize(
    ("files_url", "key", "url"),
    [
        ("https://www.example.com/", "a.xml.gz", "https://www.example.com/a.xml.gz"),
        ("https://www.example.com", "a.xml.gz", "https://www.example.com/a.xml.gz"),
        ("https://www.example.com/maps/", "a.xml.gz", "https://www.example.com/maps/a.xml.gz"),
        ("https://www.example.com/maps", "a.xml.gz", "https://www.example.com/maps/a.xml.gz"),
        ("https://www.example.com:8443/", "x/a.xml.gz", "https://www.example.com:8443/x/a.xml.gz"),
        ("https://xn--fa-hia.de/", "ü b&c.xml", "https://xn--fa-hia.de/%C3%BC%20b%26c.xml"),
        ("https://www.example.com/", "http:evil.xml", "https://www.example.com/http%3Aevil.xml"),
        ("https://www.example.com/", "a?b#c.xml", "https://www.example.com/a%3Fb%23c.xml"),
    ],
)
def test_a_loc_is_joined_by_the_rules_of_urls(files_url: str, key: str, url: str) -> None:
    """C-29: never a file path; a key's letters can't become a scheme, a query or another host."""
    assert url_of(files_url, key) == url


@pytest.mark.parametrize("key", ["/etc/a.xml", "//evil.example/a.xml", "../a.xml", "a/../../b.xml", "./a.xml"])
def test_a_loc_outside_files_url_is_refused(key: str) -> None:
    """C-29: each loc is read again, and must be files_url and the key."""
    with pytest.raises(OutputError, match="has no URL below https://www"):
        url_of("https://www.example.com/maps/", key)


def test_one_index_lists_all_in_order() -> None:
    shards = _shards(3)
    (index,) = index_files("sitemap.xml", "https://www.example.com/", shards, 50_000)
    assert index.key == "sitemap.xml"
    assert _locs(index.body) == [f"https://www.example.com/{shard.key}" for shard in shards]


def test_more_shards_than_an_index_may_list_make_further_indexes_side_by_side() -> None:
    """P-37, P-38: at the limit one, beyond it another, each full before the next; no index lists an index."""
    shards = _shards(7)
    names = {
        count: [index.key for index in index_files("map.xml", "https://x.example/", shards[:count], 3)]
        for count in (3, 4, 7)
    }
    assert names == {3: ["map.xml"], 4: ["map.xml", "map-2.xml"], 7: ["map.xml", "map-2.xml", "map-3.xml"]}
    indexes = index_files("map.xml", "https://x.example/", shards, 3)
    assert [len(_locs(index.body)) for index in indexes] == [3, 3, 1]
    listed = [loc for index in indexes for loc in _locs(index.body)]
    assert listed == [f"https://x.example/{shard.key}" for shard in shards]


def test_an_index_may_be_compressed() -> None:
    first, second = index_files("sitemap.xml.gz", "https://x.example/", _shards(2), 1)
    assert (first.key, second.key) == ("sitemap.xml.gz", "sitemap-2.xml.gz")
    assert _locs(gzip.decompress(second.body)) == ["https://x.example/shop-p-1.xml.gz"]


def test_no_shards_no_index() -> None:
    """P-37: an index that lists nothing is not valid."""
    assert index_files("sitemap.xml", "https://x.example/", [], 3) == []
