"""What rows state about alternates: the three forms, codes, addresses, and what is said of those that are no use."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from sitemap_ops.entries.alternates import ALTERNATE_NOTES
from sitemap_ops.languages import hreflang_spelling
from tests.linking import BASE, FURTHER, parsed

DE, EN = f"{BASE}de/a", f"{BASE}en/a"
KEYS = {"cluster": "key", "language": "language"}


def named(spec, *rows):  # type: ignore[no-untyped-def]
    """(code, loc) of all members that have a code, sorted, and the counts."""
    found, _ = parsed(spec, rows)
    members = {(one["code"], one["loc"]) for one in found.members.to_pylist() if one["code"]}
    return sorted(members), dict(found.counts)


ANY_FORM = [
    pytest.param({"de": "loc_de", "en": "loc_en"}, {"loc_de": "/de/a", "loc_en": EN}, id="columns"),
    pytest.param("alt", {"alt": json.dumps({"de": "/de/a", "en": EN})}, id="object"),
    pytest.param("alt", {"alt": json.dumps([["de", "/de/a"], ["en", EN]])}, id="pairs"),
    pytest.param(
        "alt", {"alt": json.dumps([{"hreflang": "de", "href": "/de/a"}, {"hreflang": "en", "href": EN}])}, id="links"
    ),
    pytest.param("alt", {"alt": {"de": "/de/a", "en": EN}}, id="struct"),
    pytest.param("alt", {"alt": [{"hreflang": "de", "href": "/de/a"}, {"hreflang": "en", "href": EN}]}, id="structs"),
]


@pytest.mark.parametrize(("spec", "row"), ANY_FORM)
def test_forms_of_a_list(spec, row) -> None:  # type: ignore[no-untyped-def]
    """Issue 3.3: columns, JSON (as SQL and `import` give it) and Arrow's structures say the same."""
    assert named(spec, {"loc": DE, **row}) == ([("de", DE), ("en", EN)], {})


def test_a_map_of_parquet() -> None:
    """A map column is an object."""
    column = pa.array([[("de", DE), ("en", EN)]], pa.map_(pa.string(), pa.string()))
    assert named("alt", {"loc": DE, "alt": column[0]}) == ([("de", DE), ("en", EN)], {})


def test_named_clusters() -> None:
    """Issue 3.3: a row is a member of the cluster it names, under one code or several; without a name of none."""
    rows = [
        {"loc": DE, "key": 7, "language": "de"},
        {"loc": EN, "key": 7, "language": "EN; x-default"},
        {"loc": "/fr/a", "key": None, "language": "fr"},
    ]
    assert named(KEYS, *rows) == ([("de", DE), ("en", EN), ("x-default", EN)], {"hreflang-normalised": 1})
    found, _ = parsed(KEYS, rows)
    assert len(set(found.members["statement"].to_pylist())) == 1


def test_codes_of_a_list_column() -> None:
    """`text[]` and JSON lists of codes are several codes."""
    assert named(KEYS, {"loc": EN, "key": "k", "language": ["en", "x-default"]})[0] == [("en", EN), ("x-default", EN)]
    assert named(KEYS, {"loc": EN, "key": "k", "language": '["en", "en-GB"]'})[0] == [("en", EN), ("en-GB", EN)]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("en_US", "write hyphens"),
        ("en-UK", "the United Kingdom is GB"),
        ("us", "US is a country, which needs a language before it"),
        ("TR-tr-x", "no language-Script-COUNTRY"),
        ("", "no language-Script-COUNTRY"),
    ],
)
def test_a_bad_code_costs_its_alternate(code: str, hint: str) -> None:
    """G-53: it is dropped and counted by the book's code, and the example says what is wrong."""
    found, _ = parsed("alt", [{"loc": DE, "alt": json.dumps({code: "/x", "de": DE, "en": EN})}], first=5)
    assert found.counts == {"hreflang-code": 1}
    assert sorted(found.members["code"].to_pylist()) == ["de", "en"]
    [example] = found.examples["hreflang-code"]
    assert example.startswith(f"row 5: {code}")
    assert hint in example


@pytest.mark.parametrize(
    ("given", "written"),
    [("en-gb", "en-GB"), ("ZH-hant-tw", "zh-Hant-TW"), ("X-Default", "x-default"), (" de\u200b", "de"), ("tr", "tr")],
)
def test_a_code_is_written_as_usual(given: str, written: str) -> None:
    """G-53: case says nothing; one spelling goes out, and a rewritten one is counted."""
    found, counts = named("alt", {"loc": DE, "alt": json.dumps({given: EN, "fr": DE})})
    assert (written, EN) in found
    assert counts == ({} if given.strip(" \u200b") == written else {"hreflang-normalised": 1})
    assert hreflang_spelling(written) == written


@pytest.mark.parametrize(
    ("href", "code"),
    [
        ("ftp://shop.example/x", "hreflang-href"),
        ("https://shop.example/x\ty", "hreflang-href"),
        ("https://shop.example/" + "x" * 2_048, "hreflang-href"),
        ("https://other.example/x", "hreflang-foreign-host"),
        ("//other.example/x", "hreflang-foreign-host"),
        ("http://shop.example/x", "hreflang-foreign-host"),
        ("/cart/x", "hreflang-not-listed"),
    ],
)
def test_an_address_that_is_no_use(href: str, code: str) -> None:
    """G-55, C-74: refused, on a host that is not declared, or excluded: dropped, counted, shown with its reason."""
    found, counts = named("alt", {"loc": DE, "alt": json.dumps({"fr": href, "de": DE, "en": EN})})
    assert found == [("de", DE), ("en", EN)]
    assert counts == {code: 1}
    assert code in ALTERNATE_NOTES


def test_addresses_go_through_the_url_policy() -> None:
    """C-40, G-55, U-34: what comes relative, in Unicode or odd case goes out absolute and encoded."""
    row = {"loc": DE, "alt": json.dumps({"de": "de/a", "ru": "/проверка/", "ja": "HTTPS://SHOP.example/jp/新?a=ü#top"})}
    assert named("alt", row)[0] == [
        ("de", DE),
        ("ja", f"{BASE}jp/%E6%96%B0?a=%C3%BC"),
        ("ru", f"{BASE}%D0%BF%D1%80%D0%BE%D0%B2%D0%B5%D1%80%D0%BA%D0%B0/"),
    ]


@pytest.mark.parametrize("blank", [None, "", " ", "NULL", "nan", "\\N"])
def test_what_says_nothing(blank: str | None) -> None:
    """C-59: a blank or a word for none is no address, and counts nothing; nor does a blank cell of JSON."""
    columns = {"de": "loc_de", "en": "loc_en", "fr": "loc_fr"}
    assert named(columns, {"loc": DE, "loc_de": DE, "loc_en": EN, "loc_fr": blank}) == ([("de", DE), ("en", EN)], {})
    assert named("alt", {"loc": DE, "alt": blank}) == ([], {})


@pytest.mark.parametrize(
    "cell", ["de", "[1]", '{"de"', '"x"', "7", '[["de"]]', '[{"hreflang": "de"}]', '{"de": ["/a"]}']
)
def test_what_cannot_be_read(cell: str) -> None:
    """G-50: what holds no code with an address is counted, whatever it is."""
    assert named("alt", {"loc": DE, "alt": cell}) == ([], {"hreflang-attr": 1})


def test_counts_are_of_rows() -> None:
    """A fault that 4 rows have is counted 4 times, also where their cells are equal; 3 are shown."""
    found, _ = parsed("alt", [{"loc": DE, "alt": '{"xx": "/a", "en": "//other.example/"}'}] * 4)
    assert found.counts == {"hreflang-code": 4, "hreflang-foreign-host": 4}
    assert found.examples["hreflang-code"][0].startswith("row 1: xx: xx is no language")
    assert found.examples["hreflang-foreign-host"] == ["row 1: en //other.example/ (foreign-host)"]


def test_no_password_is_shown() -> None:
    """U-04: an example hides what stands before an @."""
    found, _ = parsed("alt", [{"loc": DE, "alt": '{"en": "https://me:secret@shop.example/"}'}])
    assert "secret" not in str(found.examples)
    assert found.counts == {"hreflang-href": 1}


def test_rows_that_state_nothing_leave_no_members() -> None:
    """A row that names only itself, or nothing, costs nothing later."""
    found, _ = parsed({"de": "loc_de"}, [{"loc": DE, "loc_de": DE}, {"loc": EN, "loc_de": None}])
    assert found.members.num_rows == 0


def test_equal_statements_are_written_once() -> None:
    """The rows of a cluster that say the same leave each page once, and what their own pages are."""
    columns = {"de": "loc_de", "en": "loc_en"}
    rows = [{"loc": loc, "loc_de": DE, "loc_en": EN} for loc in (DE, EN)]
    members = parsed(columns, rows)[0].members
    assert members.num_rows == 3
    assert sum(members["times"].to_pylist()) == 4
    assert {one["loc"] for one in members.to_pylist() if one["own"]} == {DE, EN}


def test_pages_outside_are_marked() -> None:
    """Only what is not on base_url's own origin is outside: a declared host is."""
    members = parsed("alt", [{"loc": DE, "alt": json.dumps({"de": DE, "en": f"{FURTHER}/en"})}])[0].members
    assert {one["loc"]: one["outside"] for one in members.to_pylist()} == {DE: False, f"{FURTHER}/en": True}
