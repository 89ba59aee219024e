"""hreflang clusters over the whole inventory: the lists that come out, what is dropped, and what is said of it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from sitemap_ops.columns import frame
from sitemap_ops.connections import EnvironmentConnections
from sitemap_ops.hashing import hash64
from sitemap_ops.importing import import_sitemap
from sitemap_ops.languages import LANGUAGES
from sitemap_ops.linking import attach, link
from sitemap_ops.render.xml import FOOTER, header, render_entries
from sitemap_ops.sharding import Piece, Sharder
from tests.linking import BASE, FURTHER, Result, Row, Section, linked, listed

KEYS = {"cluster": "key", "language": "language"}


def url(path: str) -> str:
    return BASE + path.removeprefix("/")


def page(path: str, alternates: Mapping[str, str] | None = None, **more: object) -> Row:
    return {"loc": url(path), "alt": listed(alternates) if alternates else None, **more}


def links(*rows: Row) -> Result:
    return linked(Section("alt", rows))


def key_row(path: str, key: object, language: str) -> Row:
    return {"loc": url(path), "key": key, "language": language}


def whole(*paths: str, **by_code: str) -> dict[str, list[tuple[str, str]]]:
    """The same list for each page; x_default stands for x-default, last."""
    pairs = [(code.replace("_", "-"), url(path)) for code, path in by_code.items()]
    return {url(path): pairs for path in paths}


class TestLists:
    """What an entry lists."""

    def test_self_reference(self) -> None:
        """C-73, G-51: rows that list the other languages only come to lists of the whole cluster, with themselves."""
        found = links(
            page("/tr", {"en": "/en", "de": "/de"}),
            page("/en", {"tr": "/tr", "de": "/de"}),
            page("/de", {"tr": "/tr", "en": "/en"}),
        )
        assert found.links == whole("/tr", "/en", "/de", de="/de", en="/en", tr="/tr")
        assert not found.counts

    def test_one_page_speaks_for_all(self) -> None:
        """C-74: /de and /fr carry nothing, and get the list of the cluster that /en states."""
        found = links(page("/en", {"en": "/en", "de": "/de", "fr": "/fr"}), page("/de"), page("/fr"))
        assert found.links == whole("/en", "/de", "/fr", de="/de", en="/en", fr="/fr")

    def test_missing_members(self) -> None:
        """C-74: what is not in the inventory, or was rejected, drops out of every list and is counted."""
        alternates = {"en": "/en", "de": "/de", "fr": "/fr", "es": "/gone"}
        rows = [page("/en", alternates), page("/de", alternates), page("/fr", alternates, rejected=True)]
        found = links(*rows)
        assert found.links == whole("/en", "/de", de="/de", en="/en")
        assert found.counts == {"hreflang-not-listed": 6}
        assert set(found.examples["hreflang-not-listed"]) <= {f"es {url('/gone')}", f"fr {url('/fr')}"}

    def test_only_one_member_is_left(self) -> None:
        """C-74: only the English page is an entry: a list of itself alone says nothing, so it has none."""
        found = links(page("/en", {"en": "/en", "x-default": "/en", "de": "/de", "fr": "/fr"}))
        assert found.links == {}
        assert found.counts == {"hreflang-not-listed": 2, "hreflang-alone": 1}

    def test_what_a_rejected_row_states(self) -> None:
        """C-74: that /de and /fr belong together is true though the page that says it is filtered."""
        found = links(page("/en", {"en": "/en", "de": "/de", "fr": "/fr"}, rejected=True), page("/de"), page("/fr"))
        assert found.links == whole("/de", "/fr", de="/de", fr="/fr")

    def test_x_default_is_each_cluster_s_own(self) -> None:
        """C-75, G-54: per-cluster values; it stands last, and may be a page that has a language too."""
        found = links(
            *(
                page(f"/{code}/{name}", {"x-default": f"/en/{name}", "tr": f"/tr/{name}", "en": f"/en/{name}"})
                for name in "ab"
                for code in ("tr", "en")
            )
        )
        assert found.links == {
            **whole("/tr/a", "/en/a", en="/en/a", tr="/tr/a", x_default="/en/a"),
            **whole("/tr/b", "/en/b", en="/en/b", tr="/tr/b", x_default="/en/b"),
        }

    def test_everything_is_escaped(self) -> None:
        """C-32, P-21: & and ' in an href; < > " come percent-encoded; an XML parser reads the same URLs."""
        odd = "/en?a=1&b='2'&c=<\">"
        found = links(page("/de", {"de": "/de", "en": odd}), page(odd))
        fragment = found.fragments[url("/de")]
        root = ET.fromstring(f'<url xmlns:xhtml="http://www.w3.org/1999/xhtml">{fragment}</url>')
        hrefs = {one.attrib["hreflang"]: one.attrib["href"] for one in root}
        assert hrefs == {"de": url("/de"), "en": f"{BASE}en?a=1&b='2'&c=%3C%22%3E"}
        assert "b=&apos;2&apos;" in fragment
        assert found.links.keys() == {url("/de"), hrefs["en"]}

    def test_any_script(self) -> None:
        """C-40: umlauts, Cyrillic, CJK in href are what they are in loc, so that members are found."""
        found = links(
            page("/künstliche-intelligenz", {"de": "/künstliche-intelligenz", "ja": "/jp/新"}), page("/jp/新")
        )
        assert found.links.keys() == {f"{BASE}k%C3%BCnstliche-intelligenz", f"{BASE}jp/%E6%96%B0"}

    def test_a_page_under_several_codes(self) -> None:
        """G-53: en and en-GB may be one page; it is listed under each."""
        found = links(page("/en", {"en": "/en", "en-gb": "/en", "de": "/de"}), page("/de"))
        assert found.links == {
            url(path): [("de", url("/de")), ("en", url("/en")), ("en-GB", url("/en"))] for path in ("/en", "/de")
        }

    def test_further_hosts(self) -> None:
        """Issue 3.3, G-55: a page on another declared host stays though the inventory has no row for it."""
        found = links(page("/en", {"en": "/en", "de": f"{FURTHER}/x", "fr": "https://other.example/x"}))
        assert found.links == {url("/en"): [("de", f"{FURTHER}/x"), ("en", url("/en"))]}
        assert found.counts == {"hreflang-foreign-host": 1}

    def test_a_rejected_page_of_a_further_host(self) -> None:
        """C-74: it drops out where its own row says that it is no entry."""
        alternates = {"en": "/en", "de": f"{FURTHER}/x", "fr": "/fr"}
        elsewhere = {"loc": f"{FURTHER}/x", "alt": listed(alternates), "rejected": True}
        found = links(page("/en", alternates), page("/fr"), elsewhere)
        assert found.links == whole("/en", "/fr", en="/en", fr="/fr")


class TestKeys:
    """Clusters by an explicit key."""

    def test_over_all_sections(self) -> None:
        """Issue 3.3: rows with an equal value are one cluster, whatever section, form of number or order they have."""
        german = Section(KEYS, [key_row("/de", 1, "de")])
        others = [key_row("/en", "1", "en"), key_row("/en", "1", "x-default"), key_row("/fr", "2", "fr")]
        found = linked(german, Section(KEYS, others))
        assert found.links == whole("/de", "/en", de="/de", en="/en", x_default="/en")
        assert found.counts == {"hreflang-alone": 1}

    def test_no_code(self) -> None:
        """G-51: an entry whose own code no row says can't be listed, so that it has no list."""
        rows = [key_row("/de", "1", "de"), key_row("/en", "1", "en"), key_row("/xx", "1", "english")]
        found = linked(Section(KEYS, rows))
        assert found.links == whole("/de", "/en", de="/de", en="/en")
        assert found.counts == {"hreflang-code": 1, "hreflang-no-self": 1}
        assert found.examples["hreflang-no-self"] == [url("/xx")]

    def test_many_pages_for_one_code(self) -> None:
        """G-54: a column that is no key at all leaves one page a code: the smallest, each time."""
        rows = [key_row(f"/{number:03d}", "k", ("en", "de")[number % 2]) for number in range(99)]
        found = linked(Section(KEYS, rows), chunk=10)
        assert found.links == whole("/000", "/001", de="/001", en="/000")
        assert found.counts == {"hreflang-duplicate": 97}

    def test_key_and_lists(self) -> None:
        """Sections may differ in form: a list and a key agree if their pages name each other."""
        found = linked(
            Section("alt", [page("/en", {"en": "/en", "de": "/de"})]),
            Section(KEYS, [key_row("/de", "k", "de"), key_row("/en", "k", "en")]),
        )
        assert found.links == whole("/de", "/en", de="/de", en="/en")


class TestDisagreement:
    """Rows that don't say the same (G-52)."""

    def test_one_names_without_being_named(self) -> None:
        """A names B, and B names C: B is C's, A is left alone, and it is counted."""
        found = links(
            page("/a", {"en": "/a", "de": "/b"}),
            page("/b", {"de": "/b", "fr": "/c"}),
            page("/c", {"de": "/b", "fr": "/c"}),
        )
        assert found.links == whole("/b", "/c", de="/b", fr="/c")
        assert found.counts == {"hreflang-not-reciprocal": 1, "hreflang-alone": 1}
        assert found.examples["hreflang-not-reciprocal"] == [f"de {url('/b')}"]

    def test_older_and_newer_lists(self) -> None:
        """Lists that overlap and whose pages name each other are one cluster: all of them get all."""
        found = links(
            page("/a", {"en": "/a", "de": "/b"}),
            page("/b", {"en": "/a", "de": "/b", "fr": "/c"}),
            page("/c", {"de": "/b", "fr": "/c"}),
        )
        assert found.links == whole("/a", "/b", "/c", de="/b", en="/a", fr="/c")

    def test_a_page_that_all_name(self) -> None:
        """A home page as everyone's x-default lists no product, and products don't list it."""
        home = page("/", {"en": "/", "de": "/de"})
        products = [
            page(f"/{code}/{name}", {"en": f"/en/{name}", "de": f"/de/{name}", "x-default": "/"})
            for name in "ab"
            for code in ("en", "de")
        ]
        expected = {
            **whole("/en/a", "/de/a", de="/de/a", en="/en/a"),
            **whole("/en/b", "/de/b", de="/de/b", en="/en/b"),
        }
        assert links(home, page("/de", {"en": "/", "de": "/de"}), *products).links == expected | whole(
            "/", "/de", de="/de", en="/"
        )
        found = links(page("/"), *products)
        assert found.links == expected
        assert found.counts == {"hreflang-not-reciprocal": 4}

    def test_two_pages_for_a_code(self) -> None:
        """G-54: of two pages for one code that stays which says so itself, else the smaller; the other has no list."""
        older, newer = {"en": "/a", "de": "/z", "fr": "/c"}, {"en": "/a", "de": "/b", "fr": "/c"}
        found = links(page("/a", older), page("/z", older), page("/c", newer), page("/b"))
        assert found.links == whole("/a", "/z", "/c", de="/z", en="/a", fr="/c")
        assert found.counts == {"hreflang-duplicate": 1}
        assert found.examples == {"hreflang-duplicate": [f"de {url('/b')}"]}
        twice = json.dumps([["en", "/en"], ["de", "/d2"], ["de", "/d1"]])
        found = links({"loc": url("/en"), "alt": twice}, page("/d1"), page("/d2"))
        assert found.links == whole("/en", "/d1", de="/d1", en="/en")

    def test_a_variant_with_the_list_of_its_page(self) -> None:
        """G-51: who lists others and is named by nobody has no list, and takes nothing from those that it lists."""
        agreed = {"en": "/en", "de": "/de"}
        for german in (page("/de"), page("/de", agreed)):
            found = links(page("/en?page=2", agreed), page("/en", agreed), german)
            assert found.links == whole("/en", "/de", de="/de", en="/en")
            assert found.counts == {"hreflang-no-self": 1, "hreflang-not-reciprocal": 2}

    def test_several_pages_claim_one(self) -> None:
        """A page that names nobody is nobody's where two name it; a rejected row's word counts less than an entry's."""
        first, second = page("/a", {"en": "/a", "de": "/de"}), page("/b", {"en": "/b", "de": "/de"})
        found = links(first, second, page("/de"))
        assert found.links == {}
        assert found.counts == {"hreflang-not-reciprocal": 2, "hreflang-alone": 2}
        found = links(first, second | {"rejected": True}, page("/de"))
        assert found.links == whole("/a", "/de", de="/de", en="/a")

    def test_duplicate_rows(self) -> None:
        """DESIGN 5: of rows with an equal loc the earlier section's counts, then the newest."""
        first, second = {"en": "/en", "de": "/de"}, {"en": "/en", "fr": "/fr"}
        german, french = page("/de", first), page("/fr", second)
        expected = whole("/en", "/de", de="/de", en="/en")
        earlier, later = Section("alt", [page("/en", first), german]), Section("alt", [page("/en", second), french])
        assert linked(earlier, later).links == expected
        rows = [page("/en", second, instant=1), page("/en", first, instant=2), german, french]
        assert links(*rows).links == links(*reversed(rows)).links == expected


class TestFiles:
    """What the shards' step gets."""

    def test_nothing_stated(self) -> None:
        """A site whose rows state nothing has no file."""
        found = links(page("/a"), page("/b"))
        assert (found.links, found.counts) == ({}, {})
        with TemporaryDirectory() as folder:
            assert link([], [], Path(folder)).files == ()

    def test_attach(self) -> None:
        """A column beside the entries, null where there are no links."""
        table = pa.table({"loc": ["b", "d"], "alternates": ["B", "D"]})
        assert attach(pa.array(["a", "b", "c"]), [table.slice(0, 0), table]).to_pylist() == [None, "B", None]
        assert attach(pa.array(["a"]), []).to_pylist() == [None]

    def test_heavy_entries(self) -> None:
        """C-67, G-57: 40 languages make 40 x 40 links; shards are cut by the bytes that are really written."""
        codes = sorted(LANGUAGES)[:40]
        rows = [key_row(f"/{code}/{number}", str(number), code) for number in range(20) for code in codes]
        found = linked(Section(KEYS, rows))
        assert {len(pairs) for pairs in found.links.values()} == {40}
        locs = sorted(found.links)
        entries = pa.table({"loc": locs, "alternates": [found.fragments[loc] for loc in locs]})
        for name in ("lastmod", "changefreq", "priority"):
            entries = entries.append_column(name, pa.nulls(len(locs), pa.string()))
        offsets, data = render_entries(frame(entries), ["alternates"])
        sharder = Sharder(50_000, 100_000)
        piece = Piece(offsets, data, hash64(pa.array(locs)))
        shards = [*sharder.add(piece), *sharder.finish()]
        sizes = [sum(int(part.offsets[-1]) for part in shard.pieces) for shard in shards]
        assert len(sizes) > 10
        assert max(sizes) <= 100_000
        assert sum(sizes) == int(offsets[-1])

    def test_import_and_back(self, tmp_path: Path) -> None:
        """Issue 3.7: what `import` writes of a sitemap's alternates comes to the same links."""
        cluster = {url("/en"): ("en", "x-default"), url("/de/ü"): ("de",), url("/fr?a=1&b=2"): ("fr",)}
        alternates = json.dumps([[code, loc] for loc, codes in cluster.items() for code in codes])
        made = links(*({"loc": loc, "alt": alternates} for loc in cluster))
        path = tmp_path / "sitemap.xml"
        path.write_bytes(sitemap(made))
        import_sitemap(str(path), tmp_path / "inventory.parquet", EnvironmentConnections())
        rows = pq.read_table(tmp_path / "inventory.parquet").to_pylist()
        again = linked(Section("alternates", rows))
        assert again.links == made.links
        assert len(again.links) == 3


def sitemap(result: Result) -> bytes:
    """The entries that have links as a file."""
    locs = sorted(result.links)
    columns = {"loc": locs, "alternates": [result.fragments[loc] for loc in locs]}
    nothing = pa.nulls(len(locs), pa.string())
    table = pa.table({**columns, "lastmod": nothing, "changefreq": nothing, "priority": nothing})
    return header(["xhtml"]) + render_entries(frame(table), ["alternates"])[1].tobytes() + FOOTER
