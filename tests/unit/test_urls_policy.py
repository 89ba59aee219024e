"""What a site file can ask of its URLs: hosts, charset, parameters, slashes, patterns, robots.txt."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

from sitemap_ops.columns import column
from sitemap_ops.errors import UsageError
from sitemap_ops.urls import UrlPolicy, canonicalize, change_codes
from sitemap_ops.urls.filters import Robots

SHOP = "https://shop.example"


def locs(rests: list[str], **options: object) -> list[str | None]:
    """Path and query of what becomes of some; the reason where one is refused."""
    frame = canonicalize(pd.Series([SHOP + rest for rest in rests]), UrlPolicy(SHOP, **options))
    return [
        reason if pd.isna(loc) else loc.removeprefix(SHOP)
        for loc, reason in zip(frame["loc"], frame["reason"], strict=True)
    ]


class TestDropParams:
    def test_exact_names_and_globs(self) -> None:
        """U-40: a name is exact, a glob is over the name, both are case-sensitive."""
        rests = [
            "/?id=7&utm_source=x",
            "/?utm_=1",
            "/?UTM_source=x",
            "/?gclid=1",
            "/?gclid",
            "/?gclidx=1",
            "/?xgclid=1",
        ]
        assert locs(rests, drop_params=("utm_*", "gclid")) == [
            "/?id=7", "/", "/?UTM_source=x", "/", "/", "/?gclidx=1", "/?xgclid=1",
        ]  # fmt: skip
        assert locs(["/?a_id=1&b=2&x=id"], drop_params=("*_id",)) == ["/?b=2&x=id"]

    def test_the_rest_of_the_query_keeps_its_bytes(self) -> None:
        """U-41: order, encoding and emptiness of the other parameters stay; a "?" left alone goes."""
        cases = {
            "/?a=%2F&utm_id=1&b": "/?a=%2F&b",
            "/?utm_a=1&utm_b=2": "/",
            "/?utm_a=1&&b": "/?&b",
            "/?&utm_a=1": "/",
            "/?a&&utm_a=1&": "/?a&&",
            "/?utm_a=1&utm_b=2&c&utm_c&utm_d=?": "/?c",
            "/?x?utm_a=1": "/?x?utm_a=1",
            "/a&utm_a=1&b": "/a&utm_a=1&b",
            "/?b=utm_a=1": "/?b=utm_a=1",
            "/?": "/?",
        }
        assert locs(list(cases), drop_params=("utm_*",)) == list(cases.values())

    def test_only_real_drops_are_reported(self) -> None:
        """What looks like a parameter in a path or in a value is none."""
        urls = pd.Series([SHOP + rest for rest in ("/a&utm_a=1?b%20", "/?x?utm_a=1%20", "/?b=%20", "/%20?b&utm_a")])
        changes = canonicalize(urls, UrlPolicy(SHOP, drop_params=("utm_*",)))["changes"]
        assert [change_codes(bits) for bits in changes] == [[], [], [], ["tracking-param-removed"]]

    def test_names_meet_in_their_encoded_form(self) -> None:
        """A name is found however it is spelled, in the site file or in the URL (U-10, U-12)."""
        assert locs(["/?f[0]=a&x", "/?f%5b0%5d=a&x", "/?utm%5Fa=1", "/?ü=1&y"], drop_params=("f[0]", "utm_a", "ü")) == [
            "/?x", "/?x", "/", "/?y",
        ]  # fmt: skip

    def test_nothing_is_dropped_unless_named(self) -> None:
        """U-30, U-40: by default no parameter goes, known tracking ones included."""
        assert locs(["/?utm_source=x&gclid=1"]) == ["/?utm_source=x&gclid=1"]

    @pytest.mark.parametrize("name", ["", "a=b", "a&b", "a b", "#a"])
    def test_no_name(self, name: str) -> None:
        with pytest.raises(UsageError, match="no query parameter's name"):
            UrlPolicy(SHOP, drop_params=(name,))


class TestTrailingSlash:
    PATHS = ("/", "/a", "/a/", "/a//", "//", "/a?b=/", "/a/?b", "/a.html", "/v2.0", "/.well-known")

    def test_keep(self) -> None:
        """P-06, U-30: by itself a slash is never added or removed."""
        assert locs(list(self.PATHS)) == list(self.PATHS)

    def test_add(self) -> None:
        """A slash ends each path but those of files."""
        assert locs(list(self.PATHS), trailing_slash="add") == [
            "/", "/a/", "/a/", "/a//", "//", "/a/?b=/", "/a/?b", "/a.html", "/v2.0/", "/.well-known/",
        ]  # fmt: skip

    def test_remove(self) -> None:
        """No slash ends a path but the root's."""
        assert locs(list(self.PATHS), trailing_slash="remove") == [
            "/", "/a", "/a", "/a", "/", "/a?b=/", "/a?b", "/a.html", "/v2.0", "/.well-known",
        ]  # fmt: skip

    def test_reported(self) -> None:
        changes = canonicalize(pd.Series([SHOP + "/a"]), UrlPolicy(SHOP, trailing_slash="add"))["changes"]
        assert change_codes(changes[0]) == ["trailing-slash"]


class TestPatterns:
    def test_globs(self) -> None:
        """`*` stays in its segment, `**` does not, all else is literal and the whole path and query has to match."""
        paths = ["/cart/", "/cart/a/b?c", "/cart", "/a/cart/b", "/a.html", "/b/a.html", "/x+y", "/xxy", "/q?z"]
        assert locs(paths, exclude=("/cart/**",)) == ["excluded", "excluded", *paths[2:]]
        assert locs(paths, include=("/*.html",)) == [*["excluded"] * 4, "/a.html", *["excluded"] * 4]
        assert locs(paths, include=("**.html", "/x+y")) == [*["excluded"] * 4, *paths[4:7], *["excluded"] * 2]
        assert locs(["/a/b", "/a/x/y/b", "/a/xb"], include=("/a/**/b",)) == ["/a/b", "/a/x/y/b", "excluded"]
        assert locs(["/q?z", "/qz", "/qxz"], exclude=("/q?z",)) == ["excluded", "/qz", "/qxz"]

    def test_globs_are_encoded_like_locs(self) -> None:
        """A glob may be written as people read it."""
        assert locs(["/товар/a b", "/%D1%82%D0%BE%D0%B2%D0%B0%D1%80/c"], exclude=("/товар/a b",))[0] == "excluded"
        assert locs(["/é", "/e"], exclude=("/é",), charset="iso-8859-1") == ["excluded", "/e"]

    def test_exclude_decides_before_include(self) -> None:
        """Patterns are tried exclude first, then include; the first that matches decides."""
        paths = ["/p/a", "/p/private/b", "/other"]
        options = {"include": ("/p/**",), "exclude": ("/p/private/**",)}
        assert locs(paths, **options) == ["/p/a", "excluded", "excluded"]

    def test_regular_expressions(self) -> None:
        """`re:` is searched for in path and query; what RE2 can't do, Python does."""
        paths = ["/a?page=2", "/a?page=22&b", "/page/2", "/abab", "/abcd"]
        assert locs(paths, exclude=(r"re:[?&]page=\d+(&|$)",)) == ["excluded", "excluded", *paths[2:]]
        assert locs(paths, exclude=(r"re:^/(a\w)\1$",)) == [*paths[:3], "excluded", "/abcd"]
        assert locs(paths, include=(r"re:^/(?!page)", "/page/*")) == paths

    def test_clean_rows_too(self) -> None:
        """A row that needs no other work is judged like the rest."""
        assert locs(["/cart/a", "/cart/ü"], exclude=("/cart/*",)) == ["excluded", "excluded"]

    @pytest.mark.parametrize(
        ("pattern", "advice"), [("cart/**", "start a glob with '/'"), ("re:(", "regular expression")]
    )
    def test_no_pattern(self, pattern: str, advice: str) -> None:
        with pytest.raises(UsageError, match=advice):
            UrlPolicy(SHOP, exclude=(pattern,))


class TestCharset:
    def test_the_u_of_the_guide(self) -> None:
        """P-28: ü is %FC on an ISO-8859-1 server and %C3%BC on a UTF-8 one; both are kept where they stand."""
        rest = "/ümlat.html&q=ad"
        assert locs([rest], charset="iso-8859-1") == ["/%FCmlat.html&q=ad"]
        assert locs([rest]) == ["/%C3%BCmlat.html&q=ad"]
        assert locs(["/%FC%C3%BC"], charset="iso-8859-1") == locs(["/%FC%C3%BC"]) == ["/%FC%C3%BC"]

    def test_lacking_characters(self) -> None:
        """DESIGN 5: a row with a character that the charset lacks is refused, its neighbours are not."""
        assert locs(["/ş", "/€", "/я", "/a"], charset="windows-1254") == ["/%FE", "/%80", "url-charset", "/a"]

    def test_trailing_bytes_that_are_ascii(self) -> None:
        """Second bytes of double-byte charsets are encoded like any byte that may not stand there."""
        assert locs(["/表/ア"], charset="shift_jis") == ["/%95%5C/%83A"]

    def test_the_host_is_not_in_the_charset(self) -> None:
        frame = canonicalize(pd.Series(["https://bücher.de/ü"]), UrlPolicy(charset="iso-8859-1"))
        assert frame["loc"].tolist() == ["https://xn--bcher-kva.de/%FC"]

    @pytest.mark.parametrize(
        "charset", ["utf-16", "utf-7", "iso-2022-jp", "hz", "cp037", "punycode", "rot13", "x", "utf-8-sig"]
    )
    def test_unusable(self, charset: str) -> None:
        """A charset in which ASCII is not ASCII, or that Python lacks, is refused at once."""
        with pytest.raises(UsageError, match="charset"):
            UrlPolicy(SHOP, charset=charset)


class TestRobots:
    TEXT = """
        # for all
        User-agent: *
        Disallow: /
        User-agent: Googlebot
        Disallow: /private/
        Allow: /private/open
        Disallow: /*?session=
        Disallow: /*.pdf$
        Disallow: /ürün/
        Sitemap: https://shop.example/sitemap.xml
    """

    def test_longest_match(self) -> None:
        """RFC 9309 section 2.2.2 for Googlebot: the longest pattern decides, Allow wins a tie, `*` and `$` work."""
        paths = [
            "/",
            "/private/a",
            "/private/open/a",
            "/x?session=1",
            "/x?a=1&session=2",
            "/a.pdf",
            "/a.pdf?x",
            "/%C3%BCr%C3%BCn/1",
        ]
        no = "robots-disallowed"
        assert locs(paths, robots=self.TEXT) == ["/", no, "/private/open/a", no, "/x?a=1&session=2", no, "/a.pdf?x", no]

    @pytest.mark.parametrize(
        "line",
        [
            "DISALLOW /a",
            "Dissallow: /b*c",
            "disallow:/%64",
            "Disallow: /e f",
            "Disallow: https://shop.example/g",
            "Disallow: *c$",
            "Disallow: /g # not: /b",
            "Disallow: /?",
            "Disallow: /e=",
            "Allow: /a\nDisallow: /",
        ],
    )
    def test_only_suspects_are_asked(self, line: str) -> None:
        """The fast way out never hides what Protego would say, also of lines that it reads generously."""
        from protego import Protego

        text = f"user-agent: *\n{line}\n"
        paths = ["/", "/a", "/ab", "/b", "/bxc", "/d", "/e%20f", "/e", "/e%3D", "/g", "/https://shop.example/g", "/z?c"]
        rules = Protego.parse(text)
        expected = [p if rules.can_fetch(SHOP + p, "Googlebot") else "robots-disallowed" for p in paths]
        assert locs(paths, robots=text) == expected
        assert line == "Disallow: /?" or "robots-disallowed" in expected

    @pytest.mark.parametrize(
        "text", ["\ufeffUser-agent: *\nDisallow: /a", "User-agent: *\u2028Disallow: /a\ud800\r\nDisallow: /a"]
    )
    def test_odd_text(self, text: str) -> None:
        """A BOM, odd line ends or broken characters don't hide the rules."""
        assert locs(["/a", "/b"], robots=text) == ["robots-disallowed", "/b"]

    def test_refused_rows_are_not_asked_about(self) -> None:
        """A row refused for another reason keeps that reason, whatever the robots.txt."""
        urls = pd.Series([None, "\ud800", "mailto:x", SHOP + "/a", SHOP + "/" + "a" * 3000], dtype=object)
        reasons = canonicalize(urls, UrlPolicy(SHOP, robots="User-agent: *\nDisallow: *"))["reason"].tolist()
        assert reasons == ["loc-missing", "url-surrogate", "url-scheme", "robots-disallowed", "loc-too-long"]

    def test_other_crawlers_rules_cost_nothing(self) -> None:
        """Common robots.txt files close the site to some crawlers: for Googlebot that says nothing."""
        text = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart/\nDisallow: /*?sort="
        assert locs(["/a", "/cart/b", "/c?sort=d", "/c?x&sort=d"], robots=text) == [
            "/a", "robots-disallowed", "robots-disallowed", "/c?x&sort=d",
        ]  # fmt: skip
        assert Robots(text)._candidates == r"^(?:/.*(?:\?|%3F)sort(?:=|%3D)|/cart/)"

    @pytest.mark.parametrize("text", ["", "User-agent: *\nDisallow:", "\x00\ufffd", "User-agent: Other\nDisallow: /"])
    def test_nothing_disallowed(self, text: str) -> None:
        assert locs(["/a"], robots=text) == ["/a"]


class TestAddresses:
    def test_further_hosts(self) -> None:
        """P-44: other origins that the site names are its own, whatever their spelling there."""
        policy = UrlPolicy(SHOP, hosts=("HTTPS://M.shop.example:443/", "https://bücher.de:8443"))
        urls = pd.Series(["https://m.shop.example/a", "https://xn--bcher-kva.de:8443/", "https://xn--bcher-kva.de/"])
        frame = canonicalize(urls, policy)
        assert frame["loc"].tolist()[:2] == urls.tolist()[:2]
        assert frame["reason"][2] == "foreign-port"

    def test_any_host(self) -> None:
        """G-22: for media every host is admitted, and else the same is refused; one's own may still be private."""
        policy = UrlPolicy("http://localhost:8000/a/", hosts=("https://m.shop.example",), any_host=True)
        urls = ["b", "https://m.shop.example/c", "https://cdn.example:8443/d", "http://localhost/e", "https://u:p@h/f"]
        frame = canonicalize(pd.Series(urls), policy)
        assert frame["loc"].dropna().tolist() == ["http://localhost:8000/a/b", *urls[1:3]]
        assert frame["reason"].tolist()[3:] == ["host-private", "url-userinfo"]

    def test_the_base_is_canonical_first(self) -> None:
        """U-34: relative locs resolve against the canonical base, options and filters apart."""
        policy = UrlPolicy("HTTPS://Shop.Example:443/x/../ü/p?q#f", exclude=("/*",), trailing_slash="remove")
        assert canonicalize(pd.Series(["a/b"]), policy)["loc"][0] == SHOP + "/%C3%BC/a/b"

    def test_parameters_of_the_base_are_dropped(self) -> None:
        """U-20: a same-document reference gives a loc that stays as it is."""
        policy = UrlPolicy(SHOP + "/a?b=1&utm_x=2", drop_params=("utm_*",))
        assert canonicalize(pd.Series(["#top"]), policy)["loc"][0] == SHOP + "/a?b=1"

    def test_a_private_base_is_the_sites_own(self) -> None:
        """U-26: an origin that the site file names is admitted even if it is private; others are not."""
        policy = UrlPolicy("http://127.0.0.1:8000/")
        frame = canonicalize(pd.Series(["/a", "http://127.0.0.1:8000/b", "http://127.0.0.1:9000/"]), policy)
        assert frame["loc"].tolist()[:2] == ["http://127.0.0.1:8000/a", "http://127.0.0.1:8000/b"]
        assert frame["reason"][2] == "host-private"

    @pytest.mark.parametrize(
        "base", ["shop.example", "/a", "ftp://shop.example/", "https://", "https://0x7f.1/", "https://a b/"]
    )
    def test_no_base(self, base: str) -> None:
        with pytest.raises(UsageError, match=r"https://www\.example\.com/"):
            UrlPolicy(base)

    def test_unusable_base_path(self) -> None:
        with pytest.raises(UsageError, match="loc-too-long"):
            canonicalize(pd.Series(["/a"]), UrlPolicy(f"{SHOP}/{'a' * 3000}"))

    def test_no_host(self) -> None:
        with pytest.raises(UsageError, match="more than a host"):
            UrlPolicy(SHOP, hosts=("https://m.shop.example/a",))

    @pytest.mark.parametrize(
        "options",
        [
            {"base": "https://bob:secret@h/"},
            {"base": "https://bob:secret@h/ x"},
            {"base": SHOP, "hosts": ("https://bob:secret@h",)},
        ],
    )
    def test_no_secret_in_a_message(self, options: dict[str, object]) -> None:
        """U-04: an address with a password is refused without showing it."""
        with pytest.raises(UsageError) as caught:
            UrlPolicy(**options)
        assert "secret" not in str(caught.value)

    def test_slash_option(self) -> None:
        with pytest.raises(UsageError, match="keep, add or remove"):
            UrlPolicy(SHOP, trailing_slash="yes")


class TestColumns:
    def test_dtypes_and_index(self) -> None:
        """The frame has the column's index and Arrow-backed dtypes, for an empty column too."""
        for urls in (pd.Series(["/a", None], index=[7, 3]), pd.Series([], dtype=object)):
            frame = canonicalize(urls, UrlPolicy(SHOP))
            assert frame.index.equals(urls.index)
            assert [str(dtype) for dtype in frame.dtypes] == ["string[pyarrow]", "string[pyarrow]", "uint32[pyarrow]"]

    @pytest.mark.parametrize(
        "urls",
        [
            pd.Series(["/a", None]),
            pd.Series(["/a", None], dtype=object),
            pd.Series(["/a", pd.NA], dtype="string"),
            pd.Series(["/a", float("nan")], dtype=object),
            pd.Series([b"/a", None], dtype=object),
            pd.Series(["/a", None], dtype="category"),
            column(pa.array(["/a", None])),
            column(pa.array(["/a", None], pa.large_string())),
            column(pa.array(["/a", None], pa.string_view())),
            column(pa.array(["x", "/a", None], pa.string())[1:]),
            column(pa.chunked_array([["/a"], [None]])),
            column(pa.array(["/a", None]).dictionary_encode()),
            column(pa.array([b"/a", None])),
        ],
    )
    def test_any_text_column(self, urls: pd.Series) -> None:
        frame = canonicalize(urls, UrlPolicy(SHOP))
        assert frame["loc"].tolist() == [SHOP + "/a", pd.NA]
        assert frame["reason"].tolist() == [pd.NA, "loc-missing"]

    def test_numbers(self) -> None:
        assert canonicalize(pd.Series([7, 2**70], dtype=object), UrlPolicy(SHOP))["loc"][1] == f"{SHOP}/{2**70}"
        assert canonicalize(pd.Series([7]), UrlPolicy(SHOP))["loc"].tolist() == [SHOP + "/7"]

    def test_text_that_is_no_utf_8(self) -> None:
        """A driver may hand over bytes as text unchecked: such a row is refused, not its neighbours."""
        bad = pa.Array.from_buffers(pa.string(), 3, pa.array([b"/a", b"/\xfc", b"/b"]).buffers())
        frame = canonicalize(column(bad), UrlPolicy(SHOP))
        assert frame["reason"].tolist() == [pd.NA, "url-surrogate", pd.NA]
        assert frame["loc"].tolist() == [SHOP + "/a", pd.NA, SHOP + "/b"]

    def test_more_rows_than_a_block(self) -> None:
        """Blocks leave no seam: every row of a column of 300,000 is what it is alone, with 1,000 authorities."""
        few = [f"https://h{i}.example/ü{i}#x" if i % 3 else f"/a/{i}" for i in range(999)]
        frame = canonicalize(pd.Series(few * 301), UrlPolicy(SHOP, hosts=("https://h1.example",)))
        alone = canonicalize(pd.Series(few), UrlPolicy(SHOP, hosts=("https://h1.example",)))
        assert frame["loc"].tolist() == alone["loc"].tolist() * 301
        assert frame["reason"].tolist() == alone["reason"].tolist() * 301
        assert frame["changes"].tolist() == alone["changes"].tolist() * 301


def test_the_policy_is_a_value() -> None:
    """Equal options make equal policies, lists or tuples, so that one compilation serves all chunks."""
    lists = UrlPolicy(SHOP, hosts=[], drop_params=["a"], charset="UTF8")
    assert lists == UrlPolicy(SHOP, drop_params=("a",))
    assert hash(lists) == hash(UrlPolicy(SHOP, drop_params=("a",)))


def test_robots_library_is_not_loaded_unasked() -> None:
    """Imports stay cheap: Protego and idna's tables come with the first robots.txt and the first non-ASCII host."""
    code = (
        "import sys, sitemap_ops.urls; print([m for m in ('protego', 'idna', 'airflow', 'lxml') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
