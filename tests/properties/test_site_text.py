"""Whatever a site file holds, the loader gives a site or sentences."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site import Site, load_site
from sitemap_ops.site.wording import _known_keys

GOOD = """\
site: shop
base_url: https://www.example.com/
files_url: https://cdn.example.com/maps/
target: s3://shop-sitemaps/
state: s3://shop-private/${STATE:-state}/
schedule: "0 3 * * 1-5"
robots: |
  User-agent: *
  Disallow: /cart
urls: &urls {charset: windows-1254, hosts: ["https://m.example.com"], exclude: [/cart/**, "re:^/x"]}
guards: {min_urls: 10, max_drop: 0.2, max_rejected: 0.05}
sections:
  - name: products
    source: {type: sql, conn_id: db, query: "SELECT 1", params: {a: 1, b: x}, key: id, page_rows: 10}
    loc: "/p/{slug}-{id}"
    lastmod: updated_at
    lastmod_timezone: Europe/Istanbul
    changefreq: weekly
    priority: 0.8
  - name: pages
    source: {type: csv, path: pages.csv, encoding: utf-8-sig, delimiter: ","}
    guards: {max_drop: 0.5}
"""

SENTENCE = re.compile(r"shop\.yaml (line [0-9]+: .+|is .+|holds .+)[.?]")

KEYS = sorted({key.rpartition(".")[2] for key in _known_keys(Site, "")})
SYNTAX = (
    ": ", "- ", "\n", "\n  ", "{", "}", "[", "]", ", ", "&a ", "*a", "<<: ", "${X}", "${", "$${", "!!python/name:x ",
    "'", '"', "#", "\t", "@", "%", "---\n", "? ", "~", "true", "0.5", "-1", "1e999", "s3://b/p/", "file:///a",
    "https://a.example/", "{slug}", "\x00", "\x85", "\u2028", "\ufeff", "\\n", "é",
)  # fmt: skip
FRAGMENTS = st.sampled_from([*KEYS, *SYNTAX])
YAMLISH = st.lists(FRAGMENTS | st.text(max_size=6), max_size=40).map("".join)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | FRAGMENTS
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FRAGMENTS, inner, max_size=4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


def load(folder: Path, content: bytes) -> Site | None:
    """The site, or None after checking that all that is said of the file is sentences."""
    path = folder / "shop.yaml"
    path.write_bytes(content)
    try:
        return load_site(path)
    except SiteFileError as error:
        for said in str(error).splitlines():
            assert SENTENCE.fullmatch(said), said
        return None


quick = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(text=YAMLISH)
@quick
def test_any_text_is_a_site_or_sentences(folder, text):
    """No text makes anything but a Site or a SiteFileError."""
    load(folder, text.encode("utf-8", "surrogatepass"))


@given(content=st.binary(max_size=200))
@quick
def test_any_bytes_are_a_site_or_sentences(folder, content):
    """No bytes make anything but a Site or a SiteFileError."""
    load(folder, content)


@given(start=st.integers(0, len(GOOD)), length=st.integers(0, 12), text=FRAGMENTS | st.text(max_size=4))
@quick
def test_a_damaged_file_is_a_site_or_sentences(folder, start, length, text):
    """A good file with a piece replaced is another site, or refused in sentences."""
    load(folder, (GOOD[:start] + text + GOOD[start + length :]).encode("utf-8", "surrogatepass"))


@given(key=st.sampled_from(sorted(_known_keys(Site, ""))), tree=TREES)
@quick
def test_any_value_anywhere_is_a_site_or_sentences(folder, key, tree):
    """Whatever a known key holds, its kind is checked before its value (JSON is YAML)."""
    data = yaml.load(GOOD, yaml.CSafeLoader)
    *places, last = key.replace("[]", "").split(".")
    inner = data
    for place in places:
        inner = inner.setdefault(place, {}) if isinstance(inner, dict) else inner[0].setdefault(place, {})
    (inner[0] if isinstance(inner, list) else inner)[last] = tree
    load(folder, json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def test_the_undamaged_file_is_a_site(folder):
    """The other tests start from a file that is right."""
    assert load(folder, GOOD.replace("robots: |\n  User-agent: *\n  Disallow: /cart\n", "").encode())
