"""Each rule that one file can break: an example that does and one that does not, by the rule book's id."""

# ruff: noqa: E501 - one case, one line

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.validating import NS, Case, check, gz, index, keys, page, pages, said, shard, urlset

GOOD = pages("https://shop.example/a", "https://shop.example/b?x=1&amp;y=2")
LONG = "https://shop.example/" + "x" * 2_100


def rest(tags: str) -> bytes:
    return urlset(page(rest=tags))


def lastmod(value: str) -> bytes:
    return rest(f"<lastmod>{value}</lastmod>")


def loc(value: str) -> bytes:
    return pages(value)


def many(count: int, tags: str = "", first: str = "") -> bytes:
    return urlset(*(page(f"https://shop.example/{n}", tags) for n in range(count)), *([first] if first else []))


FILE = [
    Case("P-01", "root-element", f'<sitemap xmlns="{NS}"><url/></sitemap>'.encode(), GOOD),
    Case("P-01", "root-element", GOOD + GOOD.partition(b"\n")[2], GOOD),
    Case("P-02", "namespace", GOOD.replace(b"http://www.sitemaps", b"https://www.sitemaps"), GOOD),
    Case("P-02", "namespace", GOOD.replace(b'sitemap/0.9"', b'sitemap/0.9/"'), GOOD),
    Case("P-02", "namespace", GOOD.replace(f' xmlns="{NS}"'.encode(), b""), GOOD),
    Case("P-20", "encoding", GOOD.replace(b"UTF-8", b"ISO-8859-9"), GOOD.replace(b"UTF-8", b"utf-8")),
    Case("P-20", "encoding", GOOD.decode().encode("utf-16"), GOOD),
    Case("P-20", "encoding", GOOD.decode().encode("utf-16-le"), GOOD),
    Case("P-20", "encoding", GOOD.replace(b"example/a", b"example/\xfc"), GOOD),
    Case("P-20", "encoding", GOOD.replace(b"UTF-8", b"UTF-16"), GOOD),
    Case("P-20", "encoding", GOOD.replace(b"UTF-8", b"x-own"), GOOD),
    Case("P-20", "bom", b"\xef\xbb\xbf" + GOOD, GOOD, "warning"),
    Case("P-21", "xml-parse", GOOD.replace(b"&amp;", b"&"), GOOD),
    Case("P-23", "xml-parse", GOOD.replace(b"/a<", b"/a&#1;<"), GOOD),
    Case("P-24", "xml-parse", GOOD.replace(b"<url>", b"< url>"), GOOD),
    Case("P-24", "xml-parse", GOOD[:-12], GOOD),
    Case("G-60", "xml-parse", urlset(page(rest="<image:image/>")), GOOD),
    Case("P-24", "leading-whitespace", b"\n" + GOOD, GOOD),
    Case("P-25", "doctype", GOOD.replace(b"?>\n", b'?>\n<!DOCTYPE u [<!ENTITY x "y">]>\n'), GOOD),
    Case("P-25", "too-deep", rest("<a>" * 40 + "</a>" * 40), GOOD),
    Case("P-25", "too-big-item", urlset(page("https://shop.example/" + "x" * 3_000_000)), GOOD),
    Case("P-31", "too-large", GOOD.replace(b"\n<url>", b" " * 52_428_800 + b"\n<url>", 1), GOOD),
    Case("P-32", "too-large", {"s.xml.gz": gz(GOOD + b"\n" * 52_428_800)}, {"s.xml.gz": gz(GOOD)}),
    Case("P-31", "over-historic-10mb", GOOD + b" " * 10_485_760, GOOD + b" " * (10_485_760 - len(GOOD)), engines=("legacy-2005",)),
    Case("BD-01", "baidu-too-large", GOOD + b" " * (10_485_760 - len(GOOD)), GOOD + b" " * (10_485_759 - len(GOOD)), engines=("baidu",)),
    Case("P-33", "gzip-corrupt", {"s.xml.gz": gz(GOOD)[:-9]}, {"s.xml.gz": gz(GOOD)}),
    Case("P-33", "gzip-corrupt", {"s.xml.gz": gz(GOOD)[:-8] + b"\0" * 8}, {"s.xml.gz": gz(GOOD)}),
    Case("P-33", "gzip-corrupt", {"s.xml.gz": b"PK\x03\x04" + b"\0" * 60}, {"s.xml.gz": GOOD}),
    Case("P-33", "gzip-multi-member", {"s.xml.gz": gz(GOOD[:90]) + gz(GOOD[90:])}, {"s.xml.gz": gz(GOOD)}, "warning"),
    Case("P-33", "gzip-trailing-garbage", {"s.xml.gz": gz(GOOD) + b"more"}, {"s.xml.gz": gz(GOOD)}, "warning"),
    Case("S3-07", "gzip-double", {"s.xml.gz": gz(gz(GOOD))}, {"s.xml.gz": gz(GOOD)}),
    Case("S3-26", "html-instead-of-xml", b"<!DOCTYPE html><html><body>404</body></html>", GOOD),
    Case("S3-26", "html-instead-of-xml", b"\n<!-- x -->\n<HTML lang=en><p>", GOOD),
    Case("P-35", "empty-sitemap", urlset(), GOOD),
    Case("P-35", "empty-file", b" \n", GOOD),
    Case("P-56", "schema-location", urlset(page(), attributes=f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{NS} {NS}/siteindex.xsd"'),
         urlset(page(), attributes=f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{NS} {NS}/sitemap.xsd"'), "warning"),
    Case("P-56", "schema-location", urlset(page(), attributes=' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="sitemap.xsd"'), GOOD, "warning"),
    Case("Y-01", "unsupported-format", b"url,lastmod\n/a,2024-01-01\n", GOOD),
    Case("P-50", "feed-not-universal", b"<rss version='2.0'><channel><link>https://shop.example/</link><item><link>https://shop.example/a</link></item></channel></rss>", GOOD, "warning"),
    Case("Y-05", "unsupported-format:feed", b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='https://shop.example/a'/></entry></feed>", GOOD, engines=("yandex",)),
    Case("P-49", "txt-line-not-url", {"a.txt": b"# mine\nhttps://shop.example/a\n"}, {"a.txt": b"https://shop.example/a\r\nhttps://shop.example/b\n"}),
    Case("P-49", "txt-line-not-url", {"a.txt": b"https://shop.example/a https://shop.example/b\n"}, {"a.txt": b"https://shop.example/a\n\n"}),
    Case("P-49", "txt-entity", {"a.txt": b"https://shop.example/?a=1&amp;b=2\n"}, {"a.txt": b"https://shop.example/?a=1&b=2\n"}),
    Case("P-49", "encoding", {"a.txt": b"https://shop.example/\xfc\n"}, {"a.txt.gz": gz(b"https://shop.example/a\n")}),
    Case("P-49", "empty-sitemap", {"a.txt": b"nothing\n"}, {"a.txt": b"https://shop.example/a"}),
    Case("P-49", "too-big-item", {"a.txt": b"https://shop.example/" + b"x" * 2_000_000}, {"a.txt": b"https://shop.example/a"}),
    Case("G-11", "txt-extension", {"a.list": b"https://shop.example/a\n"}, {"a.txt": b"https://shop.example/a\n"}, "warning"),
]  # fmt: skip

ENTRIES = [
    Case("P-03", "loc-missing", urlset("<url><lastmod>2024-01-01</lastmod></url>"), GOOD),
    Case("P-03", "loc-missing", urlset("<url><loc> </loc></url>"), GOOD),
    Case("P-03", "loc-duplicate-tag", rest("<loc>https://shop.example/b</loc>"), GOOD),
    Case("P-07", "duplicate-tag", rest("<lastmod>2024-01-01</lastmod><lastmod>2024-01-02</lastmod>"), lastmod("2024-01-01")),
    Case("P-18", "child-order", rest("<priority>0.5</priority><changefreq>daily</changefreq>"), rest("<changefreq>daily</changefreq><priority>0.5</priority>"), "warning"),
    Case("P-19", "unknown-tag", rest("<mobile/>"), GOOD),
    Case("P-19", "unknown-tag", urlset("<URL><LOC>https://shop.example/</LOC></URL>"), GOOD),
    Case("P-19", "unknown-tag", urlset("<url><loc><b>https://shop.example/</b></loc></url>"), GOOD),
    Case("Y-13", "unknown-tag", rest("<mobile/>"), GOOD, "warning", engines=("yandex",)),
    Case("P-58", "unknown-extension", rest('<m:mobile xmlns:m="urn:own"/>'), GOOD, "warning"),
    Case("P-19", "stray-text", urlset("<url>x<loc>https://shop.example/</loc></url>"), GOOD, "warning"),
    Case("P-19", "stray-text", urlset(page(), "between", page("https://shop.example/b")), GOOD, "warning"),
    Case("P-30", "too-many-urls", many(50_001), many(50_000)),
    *(Case("P-08", "lastmod-format", lastmod(value), lastmod(good))
      for value, good in zip(
          ["", "07.03.2024", "1997-7-16", "19970716", "2023-02-29", "1900-02-29", "2024-04-31", "1997-07-16T24:00:00Z", "1997-07-16 19:20:30Z", "-0044-03-15", "12005-01-01",
           "2024-01-01T10:00:60Z", "2024-13-01", "NaT", "2024-01-01T10:00:00z", "２０２４-01-01"],
          ["1997", "1997-07", "1997-07-16", "1997-07-16T19:20+01:00", "1997-07-16T19:20:30+01:00", "1997-07-16T19:20:30.45+01:00", "2024-02-29", "2000-02-29", "2024-01-01T10:00:00Z",
           "2024-01-01T00:00:00-12:00", "1997", "1997", "1997", "1997", "1997", "1997"], strict=True)),
    *(Case("P-09", "lastmod-timezone", lastmod(value), lastmod("2004-12-23T18:00:15+00:00"))
      for value in ["2004-12-23T18:00:15", "2004-12-23+03:00", "2004-12-23Z", "2004-12-23T18:00:15+0300"]),
    *(Case("P-08", "lastmod-xsd-incompatible", lastmod(value), lastmod("2005-01-01T10:00:00Z"), "warning")
      for value in ["2005", "2005-01", "2005-01-01T10:00Z"]),
    Case("P-10", "lastmod-uniform", many(100, "<lastmod>2024-06-01T00:00:03Z</lastmod>"), many(99, "<lastmod>2024-06-01T00:00:03Z</lastmod>"), "warning"),
    Case("P-10", "lastmod-before-1970", lastmod("1940-12-22"), lastmod("1970-01-01"), "warning"),
    Case("P-11", "lastmod-future", lastmod("2099-01-01"), lastmod("2024-06-16"), "warning"),
    Case("P-11", "lastmod-future", lastmod("2024-06-16T12:00:01Z"), lastmod("2024-06-16T14:59:59+03:00"), "warning"),
    Case("B-04", "lastmod-date-only", lastmod("2024-05-01"), lastmod("2024-05-01T08:30:00+00:00"), "warning", engines=("bing",)),
    *(Case("P-13", "changefreq-value", rest(f"<changefreq>{value}</changefreq>"), rest("<changefreq>monthly</changefreq>"))
      for value in ["Monthly", " monthly ", "biweekly", "", "her ay"]),
    Case("P-14", "changefreq-vs-lastmod", rest("<lastmod>2024-06-14</lastmod><changefreq>never</changefreq>"), rest("<lastmod>2024-06-01</lastmod><changefreq>never</changefreq>"), "warning"),
    *(Case("P-16", "priority-value", rest(f"<priority>{value}</priority>"), rest(f"<priority>{good}</priority>"))
      for value, good in [("1.1", "1.0"), ("-0.1", "0.0"), ("0,8", "0.8"), ("5e-1", "0.5"), ("NaN", "1"), ("", "0.55"), ("normal", ".5")]),
    *(Case("P-16", "priority-noncanonical", rest(f"<priority>{value}</priority>"), rest("<priority>0.5</priority>"), "warning")
      for value in [".5", "0.", "+0.5", "-0.0", " 0.5 "]),
    Case("P-17", "priority-uniform", many(20, "<priority>1.0</priority>"), many(20, "<priority>0.5</priority>"), "warning"),
    Case("P-17", "priority-uniform", many(20, "<priority>1.0</priority>"), many(19, "<priority>1.0</priority>", page("https://shop.example/z", "<priority>0.8</priority>")), "warning"),
    Case("Y-02", "yandex-value-over-100-bytes", lastmod(f"2024-01-01T10:00:00.{'1' * 90}Z"), lastmod("2024-01-01T10:00:00Z"), engines=("yandex",)),
    Case("P-53", "duplicate-loc", pages("https://shop.example/a", "https://shop.example/b", "https://shop.example/a"), GOOD, "warning"),
    Case("P-53", "duplicate-loc", {"a.xml": GOOD, "b.xml": pages("https://shop.example/a")}, {"a.xml": GOOD, "b.xml": pages("https://shop.example/A")}, "warning"),
]  # fmt: skip

LOCS = [
    *(Case("P-04", "loc-not-absolute", loc(value), GOOD) for value in ["/a", "//shop.example/a", "www.shop.example/a", "javascript:void(0)", "./a"]),
    Case("P-05", "loc-too-long", loc("https://shop.example/" + "x" * 2_027), loc("https://shop.example/" + "x" * 2_026)),
    Case("U-33", "loc-too-long", loc("https://shop.example/" + "ж" * 342), loc("https://shop.example/" + "ж" * 337)),
    Case("P-05", "loc-too-long", loc("https://shop.example/?" + "&amp;" * 2_026), loc("https://shop.example/?" + "&amp;" * 2_025)),
    Case("P-21", "loc-raw-quote", loc("https://shop.example/?n=O'Brien"), loc("https://shop.example/?n=O&apos;Brien"), "warning"),
    Case("P-22", "double-entity-escape", loc("https://shop.example/?a=1&amp;amp;b=2"), GOOD, "warning"),
    *(Case("P-26", "loc-not-encoded", loc(f"https://shop.example/{value}"), loc("https://shop.example/%C3%BCr%C3%BCn")) for value in ["ürün", "a b", "a\x7fb"]),
    Case("P-26", "loc-not-encoded", loc("https://пример.example/"), loc("https://xn--e1afmkfd.example/")),
    Case("Y-06", "loc-not-encoded", loc("https://shop.example/ü"), GOOD, "warning", engines=("yandex",)),
    *(Case("P-27", "loc-invalid-uri", loc(f"https://shop.example/{value}"), loc("https://shop.example/a%20b")) for value in ["a b", "%zz", "a|b", "[x]", "100%", 'a"b', "a#b#c"]),
    *(Case("P-28", "percent-not-utf8", loc(f"https://shop.example/{value}"), loc(f"https://shop.example/{good}"), "warning")
      for value, good in [("%FCmlat.html", "%C3%BCmlat.html"), ("%C3x", "%E2%82%AC"), ("%ED%A0%80", "%F0%9F%8C%9E"), ("%C0%80", "a%2Fb")]),
    Case("P-51", "session-id", loc("https://shop.example/a;jsessionid=1A2B"), GOOD, "warning"),
    Case("P-51", "session-id", loc("https://shop.example/a?x=1&amp;PHPSESSID=1"), loc("https://shop.example/side=1"), "warning"),
    Case("X-02", "loc-shorter-than-xsd", loc("http://x.co"), loc("http://a.bc/"), "warning"),
    *(Case("U-01", "url-scheme", loc(value), GOOD) for value in ["ftp://shop.example/", "mailto:a@b", "rtmp://shop.example/v"]),
    Case("U-01", "url-no-host", loc("https:///path"), GOOD),
    Case("U-02", "url-trimmed", loc("\n  https://shop.example/a\n"), GOOD, "warning"),
    Case("U-02", "url-inner-newline", loc("https://shop.example/a\nb"), GOOD),
    Case("U-03", "url-control-char", loc("https://shop.example/a\x7fb"), GOOD),
    Case("U-03", "percent-control", loc("https://shop.example/a%0Ab"), loc("https://shop.example/a%20b"), "warning"),
    Case("U-03", "url-replacement-char", loc("https://shop.example/\ufffd"), GOOD, "warning"),
    Case("U-04", "url-userinfo", loc("https://bob:pw@shop.example/"), loc("https://shop.example/@bob"), "error"),
    Case("U-05", "url-fragment-removed", loc("https://shop.example/a#x"), loc("https://shop.example/a%23x"), "warning"),
    *(Case("U-06", "url-port", loc(f"http://shop.example:{port}/"), loc("http://shop.example:8080/")) for port in ["99999", "0", "x"]),
    *(Case("U-06", "not-normalised", loc(value), GOOD, "warning") for value in ["https://shop.example:443/", "http://shop.example:/", "https://shop.example:0443/"]),
    Case("U-07", "url-backslash", loc("https://shop.example/a\\b"), GOOD),
    Case("U-08", "url-char-encoded", loc("https://shop.example/?f[0]=a|b"), loc("https://shop.example/?f%5B0%5D=a%7Cb"), "warning"),
    *(Case("U-10", "not-normalised", loc(f"https://shop.example/{value}"), loc("https://shop.example/~a%2Fb"), "warning") for value in ["%7Ebob", "%41", "%2D", "%30"]),
    Case("U-12", "not-normalised", loc("https://shop.example/%c3%BC"), loc("https://shop.example/%C3%BC"), "warning"),
    *(Case("U-14", "double-encoded", loc(f"https://shop.example/{value}"), loc("https://shop.example/100%25"), "warning") for value in ["%25C3%25BC", "a%2520b"]),
    Case("U-15", "stray-percent", loc("https://shop.example/100%"), loc("https://shop.example/100%25"), "warning"),
    Case("U-21", "not-normalised", loc("HTTPS://Shop.example/A"), loc("https://shop.example/A"), "warning"),
    Case("U-22", "host-dotted-i", loc("https://İstanbul.example/"), GOOD, "warning"),
    *(Case("U-23", "host-idna", loc(value), loc("https://xn--bcher-kva.example/")) for value in ["https://xn--a.example/", "https://-a.example/", "https://a!b.example/"]),
    *(Case("U-24", "host-label-length", loc(value), loc(f"https://{'a' * 63}.example/")) for value in [f"https://{'a' * 64}.example/", "https://a..example/"]),
    Case("U-24", "host-underscore", loc("https://my_shop.example/"), GOOD, "warning"),
    Case("U-25", "host-trailing-dot", loc("https://shop.example./"), GOOD, "warning"),
    *(Case("U-26", "host-ip-odd", loc(f"http://{value}/aaa"), loc("http://shop.example/")) for value in ["0x7f.1", "2130706433", "017700000001", "256.1.1.1"]),
    *(Case("U-26", "host-private", loc(f"http://{value}/aaa"), loc("http://8.8.8.8/aaa")) for value in ["10.0.0.5", "127.0.0.1", "[::1]", "localhost"]),
    Case("U-26", "host-ip", loc("http://8.8.8.8/aaa"), GOOD, "warning"),
    Case("U-27", "host-percent", loc("http://b%C3%BCcher.example/"), GOOD, "warning"),
    *(Case("U-28", "dot-segments", loc(f"https://shop.example/{value}"), loc("https://shop.example/a../c"), "warning") for value in ["a/../b", "./a", "%2e%2E/x", "a/."]),
    *(Case("U-29", "not-normalised", loc(value), loc("https://shop.example/?a"), "warning") for value in ["https://shop.example", "https://shop.example?a"]),
    Case("U-31", "empty-query", loc("https://shop.example/a?"), loc("https://shop.example/a?b"), "warning"),
    Case("U-40", "tracking-param-removed", loc("https://shop.example/?id=7&amp;utm_source=x"), loc("https://shop.example/?id=7&amp;source=x"), "warning"),
    Case("C-30", "loc-joined-twice", loc("https://shop.example/media/https://shop.example/media/a"), loc("https://shop.example/login?to=https://shop.example/a"), "warning"),
    Case("P-44", "foreign-host", pages("https://shop.example/a", "https://img.shop.example/a"), GOOD),
    Case("P-44", "foreign-scheme", pages("https://shop.example/a", "http://shop.example/b"), GOOD),
    Case("P-44", "foreign-port", pages("https://shop.example/a", "https://shop.example:8443/b"), pages("https://shop.example/a", "https://shop.example:443/b")),
    Case("S3-23", "foreign-host", GOOD, GOOD.replace(b"shop.example", b"bucket.s3.amazonaws.com"), base_url="https://bucket.s3.amazonaws.com/"),
    Case("P-45", "path-scope", pages("https://shop.example/image/a", "https://shop.example/catalogue/x"), pages("https://shop.example/catalog/a"), base_url="https://shop.example/catalog/"),
    Case("P-45", "path-scope:submitted", {"sitemap.xml": GOOD, "robots.txt": b"Sitemap: https://shop.example/catalog/sitemap.xml"}, {"sitemap.xml": GOOD, "robots.txt": b""}, "warning", base_url="https://shop.example/catalog/"),
    Case("Y-17", "yandex-path-too-long", loc("https://shop.example/" + "x" * 1_024), loc("https://shop.example/" + "x" * 1_023), engines=("yandex",)),
    Case("Y-17", "yandex-host-too-long", loc(f"https://{'a.' * 520}example/aaa"), GOOD, engines=("yandex",)),
    Case("Y-18", "yandex-url-over-1024", loc("https://shop.example/" + "x" * 1_004), loc("https://shop.example/" + "x" * 1_003), "warning", engines=("yandex",)),
    Case("BD-03", "baidu-loc-over-256-bytes", loc("https://shop.example/" + "x" * 236), loc("https://shop.example/" + "x" * 235), "warning", engines=("baidu",)),
]  # fmt: skip
SHARD = {"s1.xml": GOOD}
ONE = {"sitemap.xml": index(shard("s1.xml")), **SHARD}
INDEXES = [
    Case("P-34", "shards-without-index", {"a.xml": GOOD, "b.xml": GOOD}, ONE, "warning"),
    Case("P-36", "index-structure", index("<url><loc>https://shop.example/s1.xml</loc></url>"), ONE),
    Case("P-36", "index-structure", index(shard("s1.xml", "<changefreq>daily</changefreq>")), ONE),
    Case("X-07", "index-structure", index(), ONE),
    Case("P-36", "child-missing", {**ONE, "sitemap.xml": index(shard("s1.xml"), shard("gone.xml"))}, ONE),
    Case("P-37", "too-many-sitemaps", index(*(shard("s1.xml") for _ in range(50_001))), ONE),
    Case("P-37", "over-historic-1000", index(*(shard("s1.xml") for _ in range(1_001))), index(*(shard("s1.xml") for _ in range(1_000))), engines=("legacy-2005",)),
    Case("P-40", "index-foreign-host", {**ONE, "sitemap.xml": index(shard("s1.xml"), shard("s1.xml", root="https://cdn.shop.example/"))}, ONE),
    Case("P-41", "lastmod-format", index(shard("s1.xml", "<lastmod>yesterday</lastmod>")), ONE),
    Case("P-42", "index-lastmod-missing", {**ONE, "s2.xml": GOOD, "sitemap.xml": index(shard("s1.xml"), shard("s2.xml", ""))}, {**ONE, "sitemap.xml": index(shard("s1.xml", ""))}, "warning"),
    Case("P-43", "xml-parse", index(shard("sm.xml?part=1&v=2")), index(shard("sm.xml?part=1&amp;v=2"))),
    Case("P-43", "loc-not-encoded", index(shard("ü.xml")), index(shard("%C3%BC.xml"))),
    Case("G-06", "index-path-scope", {"index.xml": index(shard("s1.xml", root="https://shop.example/other/"))}, {"index.xml": index(shard("2024/s1.xml", root="https://shop.example/sm/"))}, base_url="https://shop.example/sm/"),
    Case("G-07", "nested-index", {"index.xml": index(shard("inner.xml")), "inner.xml": ONE["sitemap.xml"], "s1.xml": GOOD}, ONE),
    Case("BD-02", "baidu-index-unsupported", ONE["sitemap.xml"], GOOD, engines=("baidu",)),
    Case("G-08", "too-many-indexes", {f"{n}.xml": ONE["sitemap.xml"] for n in range(501)}, {f"{n}.xml": ONE["sitemap.xml"] for n in range(3)}, "warning"),
]  # fmt: skip
ROBOTS = [
    Case("P-48", "robots-sitemap-relative", {**ONE, "robots.txt": b"Sitemap: /sitemap.xml"}, {**ONE, "robots.txt": b"Sitemap: https://shop.example/sitemap.xml"}),
    Case("P-48", "robots-sitemap-missing", {**ONE, "robots.txt": b"User-agent: *\n"}, {**ONE, "robots.txt": b"sitemap: https://shop.example/sitemap.xml"}, "warning"),
    Case("Y-23", "robots-blocks-sitemap", {**ONE, "robots.txt": b"User-agent: *\nDisallow: /*.xml"}, {**ONE, "robots.txt": b"User-agent: *\nDisallow: /*.xml\nAllow: /sitemap.xml\nAllow: /s1.xml"}, base_url="https://shop.example/"),
    Case("Y-14", "robots-blocks-sitemap", {**ONE, "robots.txt": b"User-agent: *\nDisallow: /s1.xml"}, {**ONE, "robots.txt": b"User-agent: *\nDisallow: /s2.xml"}, base_url="https://shop.example/"),
    Case("Y-23", "robots-blocks-sitemap", {**ONE, "robots.txt": b"User-agent: YandexBot\nDisallow: /"}, {**ONE, "robots.txt": b"User-agent: bingbot\nDisallow: /"}, engines=("yandex",), base_url="https://shop.example/"),
    Case("G-14", "robots-too-large", {**ONE, "robots.txt": b"#" * 520_000}, {**ONE, "robots.txt": b"#" * 500_000}, "warning"),
    Case("Y-23", "robots-too-large", {**ONE, "robots.txt": b"Disallow: /a\n" * 2_049}, {**ONE, "robots.txt": b"Disallow: /a\n" * 2_048}, "warning", engines=("yandex",)),
    Case("NV-01", "robots-blocks-yeti", {**ONE, "robots.txt": b"User-agent: Yeti\nDisallow: /"}, {**ONE, "robots.txt": b"User-agent: *\nDisallow: /x"}, "warning", engines=("naver",), base_url="https://shop.example/"),
]  # fmt: skip
CASES = [*FILE, *ENTRIES, *LOCS, *INDEXES, *ROBOTS]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rule(case: Case, tmp_path: Path) -> None:
    """Each rule is told for a file that breaks it, at the book's level, and not for one that keeps it."""
    check(case, tmp_path)


def test_place_on_the_site(tmp_path: Path) -> None:
    """P-46: a sitemap in a folder of its site is told to be there; one in the root, or of unknown address, is not."""
    assert "not-at-root" in keys(said(tmp_path, GOOD, base_url="https://shop.example/static/"))
    assert "not-at-root" not in keys(said(tmp_path, GOOD, base_url="https://shop.example/"))
    assert "not-at-root" not in keys(said(tmp_path, GOOD))
