"""The URL rules of the book, each with what it refuses or changes and what it leaves alone."""

from __future__ import annotations

import pandas as pd
import pytest

from sitemap_ops.urls import CHANGES, MAX_LENGTH, NOTES, REASONS, UrlPolicy, canonicalize, change_codes, count_changes
from sitemap_ops.urls.codes import REASON

SHOP = "https://shop.example"
POLICY = UrlPolicy(SHOP + "/b/", hosts=("http://shop.example", "https://my_shop.example", "https://8.8.8.8"))


def canonical(value: object, policy: UrlPolicy = POLICY) -> tuple[str | None, str | None, list[str]]:
    """loc, reason and change codes of one value."""
    row = canonicalize(pd.Series([value], dtype=object), policy).astype(object).iloc[0]
    loc, reason = (None if pd.isna(field) else field for field in (row["loc"], row["reason"]))
    return loc, reason, change_codes(row["changes"])


REFUSED = [
    ("P-03", None, "loc-missing"),
    ("P-03", "", "loc-missing"),
    ("P-03", " \u200b\u00a0\n", "loc-missing"),
    ("U-01", "mailto:a@b", "url-scheme"),
    ("U-01", "ftp://h/", "url-scheme"),
    ("U-01", "javascript:void(0)", "url-scheme"),
    ("U-01", "C:\\pages\\a.html", "url-scheme"),
    ("U-01", "https:///path", "url-no-host"),
    ("U-01", "https://", "url-no-host"),
    ("U-01", "https://:443/a", "url-no-host"),
    ("U-01", "https://?a", "url-no-host"),
    ("U-01", "https:shop.example/a", "url-no-host"),
    ("U-02", f"{SHOP}/a\nb", "url-inner-newline"),
    ("U-02", f"{SHOP}/a\tb", "url-inner-newline"),
    ("U-02", f"{SHOP}/a\r\nb", "url-inner-newline"),
    ("U-02", f"{SHOP}/a#b\nc", "url-inner-newline"),
    ("U-03", f"{SHOP}/a\x00b", "url-control-char"),
    ("U-03", f"{SHOP}/a\x1bb", "url-control-char"),
    ("U-03", f"{SHOP}/a\x7f", "url-control-char"),
    ("U-03", f"\x00{SHOP}/a", "url-control-char"),
    ("U-03", f"{SHOP}/a\ufffdb", "url-replacement-char"),
    ("C-93", f"{SHOP}/caf\ufffd#x", "url-replacement-char"),
    ("P-23", f"{SHOP}/a\ufffe", "url-control-char"),
    ("P-23", f"{SHOP}/a\uffff", "url-control-char"),
    ("C-42", f"{SHOP}/\ud83c\udf1e", "url-surrogate"),
    ("C-42", b"https://shop.example/\xfc", "url-surrogate"),
    ("U-04", "https://bob:pw@shop.example/", "url-userinfo"),
    ("U-04", "https://bob@shop.example/", "url-userinfo"),
    ("U-04", "//bob:pw@shop.example/", "url-userinfo"),
    ("U-06", "https://shop.example:99999/", "url-port"),
    ("U-06", "https://shop.example:0/", "url-port"),
    ("U-06", "https://shop.example:8x/", "url-port"),
    ("U-06", f"https://shop.example:{'9' * 5000}/", "url-port"),
    ("U-06", "https://shop.example:٤٤٣/", "url-port"),
    ("U-07", f"{SHOP}/a\\b", "url-backslash"),
    ("U-07", "https://good.example\\@evil.example/", "url-backslash"),
    ("U-07", "\\a", "url-backslash"),
    ("U-23", "https://\u200d.example/", "host-idna"),
    ("U-23", "https://ß.xn--abc-/", "host-idna"),
    ("U-23", "https://ß.xn--a/", "host-idna"),
    ("U-24", "https://a..example/", "host-label-length"),
    ("U-24", f"https://{'a' * 64}.example/", "host-label-length"),
    ("U-24", f"https://{'a.' * 127}example/", "host-label-length"),
    ("U-24", "https://shop example/", "host-idna"),
    ("U-24", "https://shop!.example/", "host-idna"),
    ("U-26", "http://0x7f.1/", "host-ip-odd"),
    ("U-26", "http://2130706433/", "host-ip-odd"),
    ("U-26", "http://017700000001/", "host-ip-odd"),
    ("U-26", "http://1.2.3/", "host-ip-odd"),
    ("U-26", "http://8.8.8.08/", "host-ip-odd"),
    ("U-26", "http://[::1%25eth0]/", "host-ip-odd"),
    ("U-26", "http://[v1.x]/", "host-ip-odd"),
    ("U-26", "http://10.0.0.5/", "host-private"),
    ("U-26", "http://127.0.0.1/", "host-private"),
    ("U-26", "http://169.254.0.1/", "host-private"),
    ("U-26", "http://[::1]/", "host-private"),
    ("U-26", "http://[fd00::1]/", "host-private"),
    ("U-26", "http://[::ffff:10.0.0.5]/", "host-private"),
    ("U-26", "http://localhost/", "host-private"),
    ("U-27", "https://example%2Xcom/", "host-idna"),
    ("U-27", "https://abc%FEdef.org/", "host-idna"),
    ("U-25", "https://shop.example./a", "foreign-host"),
    ("P-44", "https://img.shop.example/a", "foreign-host"),
    ("C-25", "http://pending.schema.org/x", "foreign-host"),
    ("P-44", "http://my_shop.example/a", "foreign-scheme"),
    ("P-44", f"{SHOP}:8443/a", "foreign-port"),
    ("P-05", f"{SHOP}/{'a' * (MAX_LENGTH - len(SHOP))}", "loc-too-long"),
    ("U-33", f"{SHOP}/{'я' * 512}", "loc-too-long"),
]


@pytest.mark.parametrize(("rule", "value", "reason"), REFUSED)
def test_refused(rule: str, value: object, reason: str) -> None:
    """The rule's bad examples are refused with its code, and carry no loc and no changes."""
    assert canonical(value) == (None, reason, [])


UNCHANGED = [
    ("U-13", "/a%2Fb%3F%23%26%3D%2B%40%3A%3B%2C%24%21%27%28%29%2A%5B%5D%25"),
    ("U-14", "/%C3%BC"),
    ("U-17", "/a+b?q=a+b"),
    ("U-18", "/it's?n=O'Brien"),
    ("U-28", "/a..b/..c/d../...?x=/../y"),
    ("U-30", "/A//b/?z=1&a=2&a=1&e&f=#"[:-1]),
    ("U-30", "/index.html;v=1,2"),
    ("C-37", "/article%2Ffoo"),
    ("C-46", "/a:b$c@d!e'(f)*+,;="),
    ("P-05", "/" + "a" * (MAX_LENGTH - len(SHOP) - 1)),
    ("P-06", "/catalog/"),
    ("C-31", "/fruit-&-veg?a=1&b=2"),
]


@pytest.mark.parametrize(("rule", "rest"), UNCHANGED)
def test_unchanged(rule: str, rest: str) -> None:
    """What is canonical, or nobody's business, stays byte for byte and is not reported."""
    assert canonical(SHOP + rest) == (SHOP + rest, None, [])


CHANGED = [
    ("U-02", f" {SHOP}/a\t\r\n", "/a", ["url-trimmed"]),
    ("U-02", f"\ufeff\u200b{SHOP}/a\u00ad\u00a0\u2028\u3000", "/a", ["url-trimmed"]),
    ("U-05", f"{SHOP}/a#reviews", "/a", ["url-fragment-removed"]),
    ("U-05", f"{SHOP}/a#!x?y\\z", "/a", ["url-fragment-removed"]),
    ("U-06", f"{SHOP}:443/a", "/a", ["not-normalised"]),
    ("U-06", f"{SHOP}:/a", "/a", ["not-normalised"]),
    ("U-06", f"{SHOP}:0443/a", "/a", ["not-normalised"]),
    ("U-07", f"{SHOP}/a?q=x\\y", "/a?q=x%5Cy", ["url-char-encoded"]),
    ("U-08", f"{SHOP}/?f[0]=a|b", "/?f%5B0%5D=a%7Cb", ["url-char-encoded"]),
    ("U-08", f'{SHOP}/ "<>^`{{|}}', "/%20%22%3C%3E%5E%60%7B%7C%7D", ["url-char-encoded"]),
    ("U-10", f"{SHOP}/%7Ebob/%41%2d", "/~bob/A-", ["not-normalised"]),
    ("U-11", f"{SHOP}/ürün?q=ş", "/%C3%BCr%C3%BCn?q=%C5%9F", ["loc-not-encoded"]),
    ("U-11", f"{SHOP}/u\u0308", "/u%CC%88", ["loc-not-encoded"]),
    ("U-11", f"{SHOP}/\u0080\u202ex", "/%C2%80%E2%80%AEx", ["loc-not-encoded"]),
    ("U-12", f"{SHOP}/%c3%bc", "/%C3%BC", ["not-normalised"]),
    ("U-15", f"{SHOP}/100%", "/100%25", ["stray-percent"]),
    ("U-15", f"{SHOP}/%zz/%4", "/%25zz/%254", ["stray-percent"]),
    ("U-15", f"{SHOP}/%4#1", "/%254", ["url-fragment-removed", "stray-percent"]),
    ("C-35", f"{SHOP}/100%-wool/caf%C3%A9", "/100%25-wool/caf%C3%A9", ["stray-percent"]),
    ("U-16", f"{SHOP}/%fcmlat", "/%FCmlat", ["not-normalised", "percent-not-utf8"]),
    ("C-39", f"{SHOP}/Managing Domains.html", "/Managing%20Domains.html", ["url-char-encoded"]),
    ("C-40", f"{SHOP}/проверка/新", "/%D0%BF%D1%80%D0%BE%D0%B2%D0%B5%D1%80%D0%BA%D0%B0/%E6%96%B0", ["loc-not-encoded"]),
    ("C-42", f"{SHOP}/🌞", "/%F0%9F%8C%9E", ["loc-not-encoded"]),
    ("U-21", "HTTPS://Shop.Example/A", "/A", ["not-normalised"]),
    ("U-23", "https://ＳＨＯＰ.example/", "/", ["loc-not-encoded"]),
    ("U-27", "https://sh%6Fp.example/", "/", ["host-percent"]),
    ("U-28", f"{SHOP}/a/./b/../c", "/a/c", ["dot-segments"]),
    ("U-28", f"{SHOP}/%2e%2e/x/.", "/x/", ["not-normalised", "dot-segments"]),
    ("U-28", f"{SHOP}/../..", "/", ["dot-segments"]),
    ("U-29", SHOP, "/", ["not-normalised"]),
    ("U-29", f"{SHOP}?a", "/?a", ["not-normalised"]),
    ("U-34", "/a/b", "/a/b", ["loc-resolved"]),
    ("U-34", "a", "/b/a", ["loc-resolved"]),
    ("U-34", "../a", "/a", ["loc-resolved", "dot-segments"]),
    ("U-34", "?q", "/b/?q", ["loc-resolved"]),
    ("P-22", f"{SHOP}/a?b=1&#38;c=2", "/a?b=1&", ["url-fragment-removed", "double-entity-escape"]),
    ("P-22", f"{SHOP}/a?b=1&#x26;c=2", "/a?b=1&", ["url-fragment-removed", "double-entity-escape"]),
    ("U-34", "#top", "/b/", ["loc-resolved", "url-fragment-removed"]),
    ("U-34", "//shop.example/a", "/a", ["loc-resolved"]),
    ("U-34", "//shop.example", "/", ["loc-resolved", "not-normalised"]),
    ("DESIGN 5", "www.shop.example/a", "/b/www.shop.example/a", ["loc-resolved", "loc-looks-like-host"]),
    ("DESIGN 5", "shop.example/a", "/b/shop.example/a", ["loc-resolved", "loc-looks-like-host"]),
    ("DESIGN 5", "index.html", "/b/index.html", ["loc-resolved"]),
    ("DESIGN 5", "v1.2/docs", "/b/v1.2/docs", ["loc-resolved"]),
    (
        "C-38",
        "https%3A//shop.example/a",
        "/b/https%3A//shop.example/a",
        ["loc-resolved", "loc-looks-like-host", "url-in-path"],
    ),
]


@pytest.mark.parametrize(("rule", "value", "rest", "changes"), CHANGED)
def test_changed(rule: str, value: str, rest: str, changes: list[str]) -> None:
    """The rule's examples become what it says, and say by its code that they did."""
    assert canonical(value) == (SHOP + rest, None, changes)


NOTED = [
    ("U-03", f"{SHOP}/a%0Ab%7F", ["percent-control"]),
    ("U-03", f"{SHOP}/%7F", ["percent-control"]),
    ("P-28", f"{SHOP}/%FCmlat.html&q=ad", ["percent-not-utf8"]),
    ("U-16", f"{SHOP}/%C3/%BC", ["percent-not-utf8"]),
    ("U-16", f"{SHOP}/%ED%A0%80", ["percent-not-utf8"]),
    ("U-16", f"{SHOP}/%E0%9F%80", ["percent-not-utf8"]),
    ("U-16", f"{SHOP}/%F4%90%80%80", ["percent-not-utf8"]),
    ("U-16", f"{SHOP}/%E0%A0%80%F4%8F%BF%BD", []),
    ("U-14", f"{SHOP}/B%25C3%25BCcher", ["double-encoded"]),
    ("U-14", f"{SHOP}/a%2520b", ["double-encoded"]),
    ("U-14", f"{SHOP}/100%25FC", []),
    ("U-24", "https://my_shop.example/", ["host-underscore"]),
    ("U-26", "https://8.8.8.8/", ["host-ip"]),
    ("U-31", f"{SHOP}/a?", ["empty-query"]),
    ("U-31", f"{SHOP}/a??", []),
    ("P-51", f"{SHOP}/a;jsessionid=1A2B", ["session-id"]),
    ("P-51", f"{SHOP}/a?b;jsessionid=1A2B", ["session-id"]),
    ("P-51", f"{SHOP}/a?PHPSESSID=1A2B", ["session-id"]),
    ("P-51", f"{SHOP}/a?x=1&sid=0123456789abcdef", ["session-id"]),
    ("P-51", f"{SHOP}/(S(abcdefghijklmnopqrstuvwx))/a", ["session-id"]),
    ("P-51", f"{SHOP}/a?sid=7&session=1&size=2", []),
    ("C-30", f"{SHOP}/media/{SHOP}/a.jpg", ["url-in-path"]),
    ("C-30", f"{SHOP}/a?url=https://x.example/", []),
    ("P-22", f"{SHOP}/a?b=1&amp;c=2", ["double-entity-escape"]),
    ("P-22", f"{SHOP}/fish&AMP;chips", ["double-entity-escape"]),
    ("P-22", f"{SHOP}/a?b=1&amp=2;c&lt=3", []),
]


@pytest.mark.parametrize(("rule", "value", "notes"), NOTED)
def test_noted(rule: str, value: str, notes: list[str]) -> None:
    """What is only odd is kept byte for byte, with a note."""
    assert canonical(value) == (value, None, notes)
    assert set(notes) <= NOTES


HOSTS = [
    ("U-22", "http://İstanbul.com/", "http://xn--istanbul-o0e.com/", ["loc-not-encoded", "host-dotted-i"]),
    ("U-22", "http://ıstanbul.com/", "http://xn--stanbul-qfb.com/", ["loc-not-encoded", "host-dotted-i"]),
    ("U-23", "http://faß.de/", "http://xn--fa-hia.de/", ["loc-not-encoded"]),
    ("U-23", "http://bücher.de/", "http://xn--bcher-kva.de/", ["loc-not-encoded"]),
    ("U-23", "http://💩.la/", "http://xn--ls8h.la/", ["loc-not-encoded"]),
    ("U-06", "http://shop.example:08080/", "http://shop.example:8080/", ["not-normalised"]),
    ("U-25", "http://shop.example./", "http://shop.example./", ["host-trailing-dot"]),
    ("U-26", "http://[2001:DB8::0:1]/", "http://[2001:db8::1]/", ["not-normalised", "host-ip"]),
    ("U-26", "http://[::ffff:8.8.8.8]/", "http://[::ffff:808:808]/", ["not-normalised", "host-ip"]),
    ("U-26", "http://[1:0:0:2:0:0:0:3]:8080/", "http://[1:0:0:2::3]:8080/", ["not-normalised", "host-ip"]),
    ("U-27", "http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/", ["loc-not-encoded", "host-percent"]),
]


@pytest.mark.parametrize(("rule", "value", "loc", "changes"), HOSTS)
def test_hosts(rule: str, value: str, loc: str, changes: list[str]) -> None:
    """Hosts get their one form; a policy without base and hosts admits all that are well-formed and public."""
    assert canonical(value, UrlPolicy()) == (loc, None, changes)


def test_relative_without_base() -> None:
    """C-27, U-34, P-04: a relative loc without a base is refused; it is never joined to anything."""
    for value in ("/tags/x/", "a", "//shop.example/a", "?q", "#f", "www.example.com/aaaa"):
        assert canonical(value, UrlPolicy())[1] == "loc-not-absolute"
        assert canonical(value, UrlPolicy(hosts=(SHOP,)))[1] == "loc-not-absolute"


def test_the_limit_is_2047_characters() -> None:
    """P-05: 2,047 characters are listed and 2,048 are not, encoded or not, with their origin or without."""
    for value in (
        f"{SHOP}/{'a' * 5000}",
        f"/{'a' * 5000}",
        f"{'a' * 5000}",
        f"/é{'a' * 5000}",
        f" {SHOP}/{'a' * 5000}",
    ):
        full, _, _ = canonical(value[:1000])
        room = 2_047 - len(full)
        longest, _, _ = canonical(value[: 1000 + room])
        assert len(longest) == 2_047
        assert canonical(value[: 1001 + room]) == (None, "loc-too-long", [])


@pytest.mark.parametrize(
    "values",
    [
        ["http:/", "/shop.example/é"],
        ["https:/", "/shop.example/é"],
        [" /", "/shop.example/é"],
        [f"{SHOP}/%4", "1é"],
        [f"{SHOP}/%", "41é"],
        [f"{SHOP}/a%2", "e/é"],
        [f"{SHOP}/é/", "..", "ü"],
        ["a#", "b", "?c", "#d", ""],
        ["é", "", "\\", "?", None, "\x00"],
    ],
)
def test_no_row_reads_into_the_next(values: list[str | None]) -> None:
    """Rows lie side by side in one buffer: what starts in one never ends in another."""
    together = canonicalize(pd.Series(values, dtype=object), POLICY).astype(object)
    assert [canonical(value) for value in values] == [
        (None if pd.isna(loc) else loc, None if pd.isna(reason) else reason, change_codes(bits))
        for loc, reason, bits in together.itertuples(index=False)
    ]


def test_spellings_of_one_page() -> None:
    """C-34, C-96, U-32: the safe variants meet in one loc, the others don't."""
    same = ["HTTPS://Shop.Example:443/B%c3%bccher", f"{SHOP}/Bücher#top", f"{SHOP}/./B%C3%BCcher", "/Bücher"]
    assert {canonical(value)[0] for value in same} == {f"{SHOP}/B%C3%BCcher"}
    others = ["/a", "/a/", "/A", "//a", "/a?", "/a?b=1&c=2", "/a?c=2&b=1", "/a%2F", "http://shop.example/a"]
    assert len({canonical(value if value.startswith("http") else SHOP + value)[0] for value in others}) == len(others)


def test_rfc_3986_resolution_examples() -> None:
    """T-06: the references of RFC 3986 sections 5.4.1 and 5.4.2, but for those whose scheme is not ours."""
    base = UrlPolicy("http://a.example/b/c/d;p?q")
    examples = {
        "g": "b/c/g", "./g": "b/c/g", "g/": "b/c/g/", "/g": "g", "?y": "b/c/d;p?y", "g?y": "b/c/g?y", "#s": "b/c/d;p?q",
        "g#s": "b/c/g", ";x": "b/c/;x", "g;x": "b/c/g;x", ".": "b/c/", "./": "b/c/", "..": "b/", "../": "b/",
        "../g": "b/g", "../..": "", "../../": "", "../../g": "g", "../../../g": "g", "../../../../g": "g", "/./g": "g",
        "/../g": "g", "g.": "b/c/g.", ".g": "b/c/.g", "g..": "b/c/g..", "..g": "b/c/..g", "./../g": "b/g",
        "./g/.": "b/c/g/", "g/./h": "b/c/g/h", "g/../h": "b/c/h", "g;x=1/./y": "b/c/g;x=1/y", "g;x=1/../y": "b/c/y",
        "g?y/./x": "b/c/g?y/./x", "g?y/../x": "b/c/g?y/../x",
    }  # fmt: skip
    assert {ref: canonical(ref, base)[0] for ref in examples} == {
        ref: f"http://a.example/{rest}" for ref, rest in examples.items()
    }


def test_codes_are_stable() -> None:
    """A bit or number in an old report keeps its meaning: codes are only ever added at the end."""
    assert CHANGES[:4] == ("url-trimmed", "loc-resolved", "loc-looks-like-host", "url-fragment-removed")
    assert len(CHANGES) <= 32
    assert len(set(CHANGES)) == len(CHANGES) and len(set(REASONS)) == len(REASONS)
    assert change_codes(0) == []
    assert change_codes(0b101) == [CHANGES[0], CHANGES[2]]
    assert [REASONS[number - 1] for number in REASON.values()] == list(REASON)


def test_counts() -> None:
    """count_changes counts the rows of each code and leaves out those with none."""
    frame = canonicalize(pd.Series([f"{SHOP}/a#b", f" {SHOP}/ü#c", f"{SHOP}/a", "mailto:x"]), POLICY)
    assert count_changes(frame["changes"]) == {"url-trimmed": 1, "url-fragment-removed": 2, "loc-not-encoded": 1}
    assert count_changes(frame["changes"][:0]) == {}


def test_precedence() -> None:
    """Where several reasons apply the first of REASONS is given."""
    assert canonical(f"http://bob@0x7f.1:x/a\\{'b' * 3000}\x00\nc")[1] == "url-inner-newline"
    assert canonical(f"http://bob@0x7f.1:x/a\\{'b' * 3000}")[1] == "url-backslash"
    assert canonical(f"http://bob@0x7f.1:x/{'b' * 3000}")[1] == "url-userinfo"
    assert canonical(f"http://other.example/{'b' * 3000}")[1] == "foreign-host"
