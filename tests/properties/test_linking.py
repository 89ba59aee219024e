"""Clusters over the whole inventory: against the rules written down row by row, and what holds for any inventory."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops import linking
from sitemap_ops.columns import frame
from sitemap_ops.hashing import hash64
from sitemap_ops.languages import hreflang_fault
from sitemap_ops.linking import agreement, claims, fragments, spill
from sitemap_ops.render.xml import FOOTER, header, render_entries
from sitemap_ops.validate import validate
from tests.linking import BASE, FURTHER, Result, Section, linked, parsed
from tests.services.shared import shared

HOME = [f"{BASE}{name}" for name in "abcdefgh"]
AWAY = [f"{FURTHER}/{name}" for name in "xy"]
CODES = ["de", "en", "tr", "x-default"]
KEYS = {"cluster": "key", "language": "language"}
COLUMNS = {code: f"loc_{code}" for code in CODES}

pages = st.sampled_from(HOME + AWAY)
named = st.lists(st.tuples(st.sampled_from(CODES), pages), max_size=4)
common = {"loc": pages | st.none(), "rejected": st.sampled_from([False, False, True])}
row = st.fixed_dictionaries(common | {"instant": st.sampled_from([None, 1, 2]), "named": named})
"""`named` is what a JSON section's row lists; of a columns section's the first of each code."""
keyed = st.fixed_dictionaries(
    common
    | {
        "instant": st.none(),
        "key": st.sampled_from([None, "1", "2", "3"]),
        "language": st.sampled_from([None, "de", "en", "tr x-default", "zz"]),
    }
)


def json_section(rows: Sequence[dict[str, Any]]) -> Section:
    return Section("alternates", [one | {"alternates": json.dumps(one["named"])} for one in rows])


def column_section(rows: Sequence[dict[str, Any]]) -> Section:
    return Section(COLUMNS, [one | {COLUMNS[code]: loc for code, loc in reversed(one["named"])} for one in rows])


sections = st.lists(
    st.lists(row, max_size=8).map(json_section)
    | st.lists(row, max_size=8).map(column_section)
    | st.lists(keyed, max_size=8).map(lambda rows: Section(KEYS, rows)),
    min_size=1,
    max_size=3,
)


@contextmanager
def small() -> Iterator[None]:
    """Everything in many parts, on disk, a few rows at a time."""
    with (
        patch.object(linking, "PART_ROWS", 2),
        patch.object(spill, "FLUSH_BYTES", 100),
        patch.object(spill, "PIECE_ROWS", 2),
        patch.object(fragments, "GROUP_ROWS", 2),
        patch.object(claims, "_ROW_GROUP", 3),
    ):
        yield


def number(locs: Sequence[str]) -> int:
    return sum(hash64(pa.array(sorted(set(locs)), pa.string())).tolist()) % 2**64


class Reference:
    """The rules of `linking`, one row at a time."""

    def __init__(self, inventory: Sequence[Section]) -> None:
        self.entries: set[str] = set()
        self.claims: Counter[tuple[object, str, str]] = Counter()
        self.own: set[tuple[object, str, str]] = set()
        self.doubts: dict[tuple[object, str], set[int]] = defaultdict(set)
        self.counts: Counter[str] = Counter()
        owners: dict[str, list[tuple[object, ...]]] = defaultdict(list)
        for rank, section in enumerate(inventory):
            for one in section.rows:
                loc = one["loc"]
                if loc and not one["rejected"]:
                    self.entries.add(loc)
                statement, pairs = self._statement(section, one)
                if statement is None:
                    continue
                itself = section.spec is KEYS or loc in {page for _, page in pairs}
                for code, page in pairs:
                    self.claims[statement, code, page] += 1
                    self.doubts[statement, page].add(2 if one["rejected"] or not loc else 0 if itself else 1)
                    if page == loc:
                        self.own.add((statement, code, page))
                if loc:
                    age = -one["instant"] if one["instant"] else 0
                    owners[loc].append((one["rejected"], rank, one["instant"] is None, age, statement))
        self.follows = {loc: min(claimed)[-1] for loc, claimed in owners.items()}
        self.labels = self._components()

    def _statement(self, section: Section, one: Any) -> tuple[object, set[tuple[str, str]]]:
        loc = one["loc"]
        if section.spec is KEYS:
            codes = (one["language"] or "").split()
            good = {code for code in codes if code != "zz"}
            self.counts["hreflang-code"] += len(codes) - len(good)
            name = one["key"]
            if not name or not loc:
                return None, set()
            return int(hash64(pa.array([f"cluster {name}"]))[0]), {(code, loc) for code in good}
        pairs = set(one["named"])
        if section.spec is COLUMNS:
            first = dict(reversed(one["named"]))
            pairs = {(code, page) for code, page in one["named"] if first[code] == page}
        about = {page for _, page in pairs} | ({loc} if loc else set())
        return (number(list(about)), pairs) if len(about) > 1 and pairs else (None, set())

    def _components(self) -> dict[object, object]:
        names: dict[object, set[object]] = defaultdict(set)
        for statement, _, page in self.claims:
            names[statement].add(self.follows.get(page))
        label: dict[object, object] = {statement: statement for statement in names}
        for _ in label:
            for one in label:
                for other in names[one]:
                    if other in names and one in names[other]:
                        label[one] = label[other] = min(label[one], label[other])  # type: ignore[type-var]
        return label

    def clusters(self) -> dict[object, dict[str, str]]:
        """The pages of each cluster by code; fills the counts."""
        doubts: dict[str, dict[object, int]] = defaultdict(dict)
        for (statement, page), found in self.doubts.items():
            of_page, label = doubts[page], self.labels[statement]
            of_page[label] = min(*found, of_page.get(label, 2), 2)
        least = {page: [one for one in of if of[one] == min(of.values())] for page, of in doubts.items()}
        rivals: dict[tuple[object, str], Counter[str]] = defaultdict(Counter)
        own = {(self.labels[statement], code, page) for statement, code, page in self.own}
        for (statement, code, page), times in self.claims.items():
            cluster = self.labels[statement]
            outside = page in AWAY and page not in self.entries and page not in self.follows
            if page in self.follows:
                joins = [self.labels.get(self.follows[page], self.follows[page])]
            else:
                joins = [cluster] if outside else least[page]
            if page not in self.entries and not outside:
                self.counts["hreflang-not-listed"] += times
            elif joins != [cluster]:
                self.counts["hreflang-not-reciprocal"] += times
            else:
                rivals[cluster, code][page] += times
        coded = {page for ranked in rivals.values() for page in ranked}
        self.counts["hreflang-no-self"] += len((self.follows.keys() & self.entries) - coded)
        clusters: dict[object, dict[str, str]] = defaultdict(dict)
        for (cluster, code), times_of in rivals.items():
            _, best = min(((cluster, code, page) not in own, page) for page in times_of)
            clusters[cluster][code] = best
            self.counts["hreflang-duplicate"] += times_of.total() - times_of[best]
        return clusters

    def result(self) -> tuple[dict[str, list[tuple[str, str]]], Counter[str]]:
        links = {}
        for by_code in self.clusters().values():
            members = set(by_code.values())
            if len(members) > 1:
                links |= {page: sorted(by_code.items()) for page in members & self.entries}
            else:
                self.counts["hreflang-alone"] += len(members & self.entries)
        return links, +self.counts


@settings(max_examples=40, deadline=None)
@given(sections, st.integers(1, 9))
def test_out_of_core_linking_is_the_rules_row_by_row(inventory: list[Section], chunk: int) -> None:
    """C-73, C-74, G-52: part by part, spilled and in chunks, lists and counts are those of the rules in memory."""
    with small():
        found = linked(*inventory, chunk=chunk)
    assert (found.links, +found.counts) == Reference(inventory).result()


@settings(max_examples=15, deadline=None)
@given(sections, st.integers(1, 9), st.randoms(use_true_random=False))
def test_neither_order_nor_chunks_matter(inventory: list[Section], chunk: int, random: Any) -> None:
    """DESIGN 6: rows in any order, in chunks of any size, in memory or on disk, give the same bytes and counts."""
    straight = linked(*inventory)
    shuffled = [Section(section.spec, random.sample(section.rows, len(section.rows))) for section in inventory]
    with small():
        again = linked(*shuffled, chunk=chunk)
    assert again.fragments == straight.fragments
    assert again.counts == straight.counts


def sitemap(result: Result, entries: Sequence[str]) -> bytes:
    locs = sorted(entries)
    nothing = pa.nulls(len(locs), pa.string())
    columns = dict.fromkeys(("lastmod", "changefreq", "priority"), nothing)
    table = pa.table(columns | {"loc": locs, "alternates": [result.fragments.get(loc) for loc in locs]})
    return header(["xhtml"]) + render_entries(frame(table), ["alternates"])[1].tobytes() + FOOTER


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(row | keyed, max_size=10), min_size=1, max_size=3))
def test_lists_are_whole_and_mutual(sources: list[list[dict[str, Any]]]) -> None:
    """C-73, C-74, G-50 to G-55: each list has its page and one page a code, members of the site list each other, and
    the validator, which shares no code with this, finds no fault in the set.

    Pages of the further host are named, and never entries.
    """
    for rows in sources:
        for one in rows:
            one["loc"] = None if one["loc"] in AWAY else one["loc"]
    inventory = [
        section
        for rows in sources
        for section in (
            json_section([one for one in rows if "named" in one]),
            Section(KEYS, [one for one in rows if "key" in one]),
        )
    ]
    found = linked(*inventory)
    for loc, pairs in found.links.items():
        hrefs = {href for _, href in pairs}
        assert loc in hrefs
        assert len(hrefs) > 1
        assert len({code for code, _ in pairs}) == len(pairs)
        assert all(href in AWAY or found.links[href] == pairs for href in hrefs)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sitemap.xml"
        path.write_bytes(sitemap(found, {*found.links, BASE}))
        said = validate(path, base_url=BASE, hosts=[FURTHER])
    assert not [one for one in said.findings if one.level == "error"]


def test_the_published_schemas(tmp_path: Path) -> None:
    """G-50, X-03: a larger set of random clusters validates against the published schemas without a finding."""
    random = Random(7)
    locs = [f"{BASE}{name}?a=1&b={name}" for name in range(200)]
    rows = [{"loc": loc, "key": str(random.randrange(60)), "language": random.choice(CODES)} for loc in locs]
    found = linked(Section(KEYS, rows))
    assert len(found.links) > 100
    path = tmp_path / "sitemap.xml"
    path.write_bytes(sitemap(found, locs))
    said = validate(path, base_url=BASE, xsd=shared("xsd"))
    assert not [one for one in said.findings if one.level != "info"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=40), st.sampled_from([1, 4]))
def test_components(pairs: list[tuple[int, int]], parts: int) -> None:
    """Statements that agree, chains of any length too, come to the least of all that hang together."""
    edges = sorted({(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]})
    least = {node: node for edge in edges for node in edge}
    for _ in least:
        for one, other in edges:
            least[one] = least[other] = min(least[one], least[other])
    with TemporaryDirectory() as name, small():
        spilled = spill.Spill(agreement._EDGE, "node", Path(name), parts)
        spilled.add(agreement._edges(*np.array(edges, np.uint64).reshape(-1, 2).T))
        with agreement._components(spilled, Path(name)) as labels:
            found = pa.concat_tables([labels.whole(part) for part in range(parts)]).to_pylist()
    assert {one["cluster"]: one["label"] for one in found} == {n: low for n, low in least.items() if n != low}
    assert len(found) == len({one["cluster"] for one in found})


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["de", "/x", "hreflang", "href"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["de", "hreflang", "href", "\ud800"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(json_values.map(json.dumps) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5)
)
def test_no_cell_raises(cells: list[str]) -> None:
    """Whatever a column holds, as JSON or as codes: what is no alternate is counted or says nothing."""
    rows = [{"loc": HOME[0], "alternates": cell, "key": cell, "language": cell} for cell in cells]
    for spec in ("alternates", KEYS):
        members = parsed(spec, rows)[0].members
        assert all(hreflang_fault(code) is None for code in members["code"].drop_null().to_pylist())
