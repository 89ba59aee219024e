"""diff: which URLs came, went or changed between two releases."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemap_ops.columns import frame
from sitemap_ops.errors import OutputError
from sitemap_ops.release.diff import Change, diff
from sitemap_ops.release.manifest import ShardRecord
from sitemap_ops.render.xml import FOOTER, HEADER, header, render_entries

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
Entries = dict[str, str | None]
"""loc -> lastmod"""


def xml_of(entries: Entries, *, head: bytes = HEADER) -> bytes:
    """The XML of a shard, by the renderer itself."""
    columns = {
        "loc": pa.array(list(entries), pa.string()),
        "lastmod": pa.array(list(entries.values()), pa.string()),
        "changefreq": pa.nulls(len(entries), pa.string()),
        "priority": pa.nulls(len(entries), pa.string()),
    }
    _, data = render_entries(frame(pa.table(columns)))
    return head + data.tobytes() + FOOTER


class Release:
    """Shards and their bodies; which of them were opened is remembered."""

    def __init__(self, sections: dict[str, Sequence[Entries | bytes]], *, set_: str = "main", suffix: str = "") -> None:
        self.shards: list[ShardRecord] = []
        self.bodies: dict[str, bytes] = {}
        self.opened: list[str] = []
        for section, shards in sections.items():
            for number, entries in enumerate(shards):
                content = entries if isinstance(entries, bytes) else xml_of(entries)
                key = f"shop-{section}-{number}{suffix or '.xml.gz'}"
                digest = sha256(content).hexdigest()
                self.shards.append(ShardRecord(key, set_, section, 1, len(content), 1, digest, "2026-12-01"))
                self.bodies[key] = content if suffix else gzip.compress(content)

    def open(self, shard: ShardRecord) -> bytes:
        self.opened.append(shard.key)
        return self.bodies[shard.key]


def changes(old: Release, new: Release, **options: str) -> list[Change]:
    return list(diff(old.shards, new.shards, old.open, new.open, **options))


def by_lxml(old: Release, new: Release) -> set[Change]:
    """The same by the plainest means: every element of every file, in dicts."""

    def entries(release: Release) -> dict[tuple[str, str], bytes]:
        found = {}
        for shard in release.shards:
            for url in etree.fromstring(gzip.decompress(release.bodies[shard.key])):
                found[shard.section, url.findtext(f"{NAMESPACE}loc") or ""] = etree.tostring(url, with_tail=False)
        return found

    before, after = entries(old), entries(new)
    removed = {Change(*key, "removed") for key in before.keys() - after.keys()}
    added = {Change(*key, "added") for key in after.keys() - before.keys()}
    return removed | added | {Change(*k, "changed") for k in before.keys() & after.keys() if before[k] != after[k]}


def test_what_came_went_and_changed() -> None:
    old = Release({"pages": [{"/a": None, "/b": "2026-01-01", "/c": None}]})
    new = Release({"pages": [{"/b": "2026-01-02", "/c": None, "/d": None}]})
    assert changes(old, new) == [
        Change("pages", "/a", "removed"),
        Change("pages", "/b", "changed"),
        Change("pages", "/d", "added"),
    ]


def test_sections_that_are_new_or_gone() -> None:
    """In the order of the new release, those that are gone after it; one that was renamed is all gone and all new."""
    old = Release({"gone": [{"/g": None}], "kept": [{"/k": None}]})
    new = Release({"new": [{"/n": None}], "kept": [{"/k": None}, {"/l": None}]})
    assert changes(old, new) == [
        Change("new", "/n", "added"),
        Change("kept", "/l", "added"),
        Change("gone", "/g", "removed"),
    ]


def test_a_url_that_moved_to_another_section() -> None:
    old, new = Release({"a": [{"/1": None}], "b": [{"/2": None}]}), Release({"a": [{"/1": None, "/2": None}]})
    assert changes(old, new) == [Change("a", "/2", "added"), Change("b", "/2", "removed")]


def test_the_first_release_and_the_last() -> None:
    release, nothing = Release({"pages": [{"/a": None}, {"/b": None}]}), Release({})
    assert [change.change for change in changes(nothing, release)] == ["added"] * 2
    assert [change.change for change in changes(release, nothing)] == ["removed"] * 2
    assert changes(release, release) == changes(nothing, nothing) == []


def test_shards_of_equal_content_are_not_opened() -> None:
    """A site of millions of URLs of which one changed: one shard is read on each side, whatever its name."""
    before: list[Entries] = [{f"/{number}/{i}": None for i in range(9)} for number in range(9)]
    after = [dict(entries) for entries in before]
    after[4]["/4/3"] = "2026-02-02"
    old, new = Release({"pages": before}), Release({"pages": [{"/0": None}, *after]})
    assert changes(old, new) == [Change("pages", "/0", "added"), Change("pages", "/4/3", "changed")]
    assert old.opened == ["shop-pages-4.xml.gz"]
    assert new.opened == ["shop-pages-0.xml.gz", "shop-pages-5.xml.gz"]


def test_a_namespace_more_is_no_change_of_a_url() -> None:
    plain, declared = xml_of({"/a": None}), xml_of({"/a": None}, head=header(["image"], schema_location=True))
    assert changes(Release({"pages": [plain]}), Release({"pages": [declared]})) == []


def test_values_over_several_lines_are_one_entry() -> None:
    """An extension's text may hold line breaks; and `</url>` in it is escaped."""
    text = "<image:image><image:title>a\n&lt;/url&gt;\n b</image:title></image:image>"
    entry = f"<url><loc>/a</loc>{text}</url>\n<url><loc>/b</loc></url>\n"
    old = HEADER + entry.encode() + FOOTER
    new = HEADER + entry.replace("a\n&lt;", "A\n&lt;").encode() + FOOTER
    assert changes(Release({"pages": [old]}), Release({"pages": [new]})) == [Change("pages", "/a", "changed")]


def test_one_set_is_compared() -> None:
    """The main set, unless another is asked for: engines' own and fresh sets repeat its URLs."""
    old, new = Release({"pages": [{"/a": None}]}, set_="yandex"), Release({"pages": [{"/b": None}]}, set_="yandex")
    assert changes(old, new) == []
    assert len(changes(old, new, set_="yandex")) == 2


def test_text_sets() -> None:
    options = {"set_": "txt", "suffix": ".txt"}
    old, new = Release({"pages": [b"/a\n/b?x&amp;\n"]}, **options), Release({"pages": [b"/b?x&amp;\n/c\n"]}, **options)
    assert changes(old, new, set_="txt") == [Change("pages", "/a", "removed"), Change("pages", "/c", "added")]


CHARACTERS = st.sampled_from("ab&'\"<>;é")
"""The five that are escaped: their entities sort otherwise than they do."""
LOCS = st.text(CHARACTERS, min_size=1, max_size=4)
SITE = st.dictionaries(LOCS, st.sampled_from([None, "2026-01-01", "2026-01-02"]), max_size=24)
CUTS = st.lists(st.integers(0, 24), max_size=5)


def release_of(entries: Entries, cuts: list[int]) -> Release:
    """The entries in order, cut into shards at some places."""
    ordered = sorted(entries.items())
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(ordered)}), len(ordered)]
    shards = [dict(ordered[start:end]) for start, end in pairwise(edges)]
    return Release({"pages": [shard for shard in shards if shard]})


@settings(max_examples=60, deadline=None)
@given(SITE, CUTS, SITE, CUTS)
def test_as_a_reader_of_every_element_would_find(
    old: Entries, cut: list[int], new: Entries, cut_again: list[int]
) -> None:
    """Wherever either release is cut into shards; each change once, in the order of the locs."""
    before, after = release_of(old, cut), release_of({**old, **new}, cut_again)
    for left, right in ((before, after), (after, before), (before, release_of(new, cut))):
        found = changes(left, right)
        assert set(found) == by_lxml(left, right)
        assert found == sorted(set(found))


def test_memory_does_not_grow_with_the_site() -> None:
    """Ten times the shards, all of them different, take little more memory: a few are held at a time."""

    def big(stamp: str, shards: int) -> Release:
        pad = "x" * 200
        return Release({"p": [{f"/{n:03}/{i:04}/{pad}": stamp for i in range(100)} for n in range(shards)]})

    def peak(shards: int) -> int:
        old, new = big("2026-01-01", shards), big("2026-01-02", shards)
        tracemalloc.start()
        assert sum(1 for _ in diff(old.shards, new.shards, old.open, new.open)) == 100 * shards
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2)
    assert peak(80) < 3 * peak(8)  # of a few, how many just then is a matter of threads; all of them would be 10


def reversed_lines(content: bytes) -> bytes:
    lines = content.removeprefix(HEADER).removesuffix(FOOTER).splitlines(keepends=True)
    return HEADER + b"".join(reversed(lines)) + FOOTER


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda content: content.replace(b"/a", b"/b", 1), "its digest is another"),
        (lambda content: None, "the gzip stream is cut short"),
        (reversed_lines, "its entries are not in order"),
        (lambda content: b"<urlset/>", "it has no entries between a header and a footer"),
        (lambda content: content.replace(b"<url><loc>", b"<url> <loc>"), "its entries are not written as this program"),
        (lambda content: content.replace(b"</url>\n</urlset>", b"</url></urlset>"), "are not written as this program"),
    ],
    ids=["other", "cut", "order", "empty", "foreign", "no-end"],
)
def test_a_body_that_is_another_is_told(damage: Callable[[bytes], bytes | None], reason: str) -> None:
    content = xml_of({"/a": None, "/c": None})
    old, new = Release({"pages": [content]}), Release({"pages": [{"/x": None}]})
    damaged = damage(content)
    if damaged is None:
        old.bodies["shop-pages-0.xml.gz"] = old.bodies["shop-pages-0.xml.gz"][:-9]
    elif "digest" in reason:
        old.bodies["shop-pages-0.xml.gz"] = gzip.compress(damaged)
    else:
        old = Release({"pages": [damaged]})
    with pytest.raises(
        OutputError, match=rf"shop-pages-0\.xml\.gz is not what its release's manifest says: .*{reason}"
    ):
        changes(old, new)


def test_shards_out_of_order_are_told() -> None:
    """What was rendered is ordered; a manifest that is not would make URLs look added and removed."""
    with pytest.raises(OutputError, match=r"pages-1\.xml\.gz .* not in the order of its section"):
        changes(Release({"pages": [{"/b": None}, {"/a": None}]}), Release({}))
