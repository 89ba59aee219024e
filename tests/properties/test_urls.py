"""What holds for every column of anything, under every policy."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes
from xml.sax.saxutils import escape

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from protego import Protego

from sitemap_ops.urls import MAX_LENGTH, NOTES, REASONS, UrlPolicy, canonicalize, change_codes
from tests.properties.test_urls_reference import PIECES, VALUES

RFC_3986 = re.compile(
    r"https?://(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::[1-9][0-9]*)?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*)+"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*)?"
)
SHOP = "https://shop.example/"
ROBOTS = "User-agent: *\nDisallow: /b/\nAllow: /b/c\nDisallow: /*?a\nDisallow: /%C3%BC"
POLICIES = st.sampled_from(
    [
        UrlPolicy(),
        UrlPolicy(SHOP),
        UrlPolicy("https://shop.example/b/c?d=1&utm_x=2", drop_params=("utm_*", "gclid"), trailing_slash="remove"),
        UrlPolicy("http://10.0.0.5:8080/ü/", hosts=("https://shop.example",), drop_params=("a",), trailing_slash="add"),
        UrlPolicy(SHOP, charset="windows-1254", drop_params=("*",)),
        UrlPolicy(SHOP, charset="shift_jis", trailing_slash="add"),
        UrlPolicy(SHOP, charset="gb18030", trailing_slash="remove", exclude=("/x*", "re:[?&]a=")),
        UrlPolicy(SHOP, include=("/b/**", "**.html", "/**/*"), exclude=("re:(?=/x)",), robots=ROBOTS),
    ]
)
COLUMNS = st.lists(VALUES, max_size=10)


def canonical(values: list[object], policy: UrlPolicy) -> pd.DataFrame:
    return canonicalize(pd.Series(values, dtype=object), policy)


@settings(max_examples=100, deadline=None)
@given(COLUMNS, POLICIES)
def test_a_loc_is_its_own_canonical_form(values: list[str | None], policy: UrlPolicy) -> None:
    """U-20: n(n(x)) = n(x), and the second time nothing is rewritten."""
    locs = canonical(values, policy)["loc"].dropna()
    again = canonicalize(locs, policy)
    assert again["loc"].tolist() == locs.tolist()
    assert all(set(change_codes(bits)) <= NOTES for bits in again["changes"])


@settings(max_examples=100, deadline=None)
@given(COLUMNS, POLICIES)
def test_a_loc_is_a_uri_and_can_stand_in_xml(values: list[str | None], policy: UrlPolicy) -> None:
    """P-05, P-23, P-27, U-08: at most 2,047 characters, RFC 3986's generic syntax, and XML gives it back unchanged."""
    for loc in canonical(values, policy)["loc"].dropna():
        assert RFC_3986.fullmatch(loc), loc
        assert len(loc) <= MAX_LENGTH
        assert etree.fromstring(f"<loc>{escape(loc)}</loc>").text == loc


@settings(max_examples=100, deadline=None)
@given(COLUMNS.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(range(len(rows))))), POLICIES, st.data())
def test_no_row_depends_on_another(
    case: tuple[list[str | None], list[int]], policy: UrlPolicy, data: st.DataObject
) -> None:
    """Shuffled or cut anywhere, each row has the same result, under the same index label."""
    values, order = case
    whole = canonical(values, policy)
    shuffled = canonicalize(pd.Series(values, dtype=object).take(order), policy)
    assert shuffled.index.tolist() == order
    assert rows(shuffled.sort_index()) == rows(whole)
    cut = data.draw(st.integers(0, len(values)))
    series = pd.Series(values, dtype=object)
    parts = [canonicalize(series.iloc[:cut], policy), canonicalize(series.iloc[cut:], policy)]
    assert [row for part in parts for row in rows(part)] == rows(whole)


def rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_decoding_gives_back_what_was_meant(rest: str) -> None:
    """U-10 to U-18: decoded, a loc has the octets of its input; its delimiters stand where they stood."""
    loc = canonical([SHOP + "-" + rest + "-"], UrlPolicy(SHOP))["loc"][0]
    meant = "-" + rest.partition("#")[0] + ("" if "#" in rest else "-")
    if pd.isna(loc) or re.search(r"/(?:\.|%2e){1,2}(?:[/?]|$)", meant, re.IGNORECASE):
        return
    given_ = loc.removeprefix(SHOP)
    assert unquote_to_bytes(given_) == unquote_to_bytes(meant)
    assert re.findall("[/?&=;+,]", given_) == re.findall("[/?&=;+,]", meant)


ANYTHING = st.one_of(
    VALUES,
    st.binary(max_size=8),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.datetimes(),
    st.lists(st.integers(), max_size=2),
    st.just(pd.NA),
    st.just(pd.NaT),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ANYTHING, max_size=8), POLICIES)
def test_nothing_raises(values: list[object], policy: UrlPolicy) -> None:
    """Each row has either a loc or one of the reasons, and a refused row no changes, whatever is in the column."""
    for loc, reason, bits in rows(canonical(values, policy)):
        assert (loc is None) != (reason is None)
        assert reason is None or (reason in REASONS and bits == 0)


CHARACTERS = st.sampled_from([*"/ab*$?=%& .~+qüя", "%2F", "%61", "%C3%BC", "%FC", "%25", "%3F", "%EF%BF%BD", "/a"])
PATTERNS = st.tuples(st.sampled_from(["/", "*", "", "https://shop.example/"]), st.lists(CHARACTERS, max_size=5))
FIELDS = st.sampled_from(["Disallow: ", "Disallow:", "Dissallow: ", "Disallow ", "Allow: ", "Allow "])
GROUPS = st.tuples(
    st.sampled_from(["*", "Googlebot", "googlebot-news", "Other"]),
    st.lists(st.tuples(FIELDS, PATTERNS.map(lambda parts: parts[0] + "".join(parts[1]))), max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(GROUPS, max_size=3), st.lists(st.lists(CHARACTERS, max_size=5).map("".join), max_size=15))
def test_robots_are_obeyed_as_protego_reads_them(
    groups: list[tuple[str, list[tuple[str, str]]]], paths: list[str]
) -> None:
    """RFC 9309: whichever URLs Protego is asked about, the result is as if it had been asked about all."""
    lines = [
        f"User-agent: {agent}\n" + "".join(f"{field}{value}\n" for field, value in rules) for agent, rules in groups
    ]
    urls = canonical([f"{SHOP}{path}" for path in paths], UrlPolicy(SHOP))["loc"].dropna()
    asked = canonicalize(urls, UrlPolicy(SHOP, robots="\n".join(lines)))["reason"]
    rules = Protego.parse("\n".join(lines))
    assert asked.isna().tolist() == [rules.can_fetch(url, "Googlebot") for url in urls]
