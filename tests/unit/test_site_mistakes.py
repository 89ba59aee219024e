"""Issue 2 item 2: every mistake in a site file is one clear sentence with file, line, key and what to write instead."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.unit.test_site_errors import SECTIONS, TOP, mistakes


class Mistake(NamedTuple):
    """A file with one mistake, and how its sentence has to start and what it has to advise."""

    text: str
    start: str
    advice: str


def top(line: str, start: str, advice: str) -> Mistake:
    """A wrong line 4, at the top level."""
    return Mistake(TOP + line + "\n" + SECTIONS, f"line 4: {start}", advice)


def section(line: str, start: str, advice: str) -> Mistake:
    """A wrong line 7, in the section."""
    return Mistake(TOP + SECTIONS + f"    {line}\n", f"line 7: sections[0].{start}", advice)


def source(keys: str, start: str, advice: str) -> Mistake:
    """A wrong source, on line 6."""
    return Mistake(
        TOP + SECTIONS.replace("type: csv, path: pages.csv", keys), f"line 6: sections[0].source{start}", advice
    )


def base_url(value: str, start: str, advice: str) -> Mistake:
    """A wrong base_url, on line 2."""
    return Mistake(TOP.replace("https://www.example.com/", value) + SECTIONS, f"line 2: base_url {start}", advice)


def target(value: str, start: str, advice: str) -> Mistake:
    """A wrong target, on line 3."""
    return Mistake(TOP.replace("public", value) + SECTIONS, f"line 3: target {start}", advice)


MISTAKES = {
    # keys
    "typo": section("changfreq: weekly", "changfreq is not a known key", "did you mean changefreq?"),
    "typo-at-top": top("shedule: null", "shedule is not a known key", "did you mean schedule?"),
    "hyphen": top("Files-URL: https://a.example/", "Files-URL is not a known key", "did you mean files_url?"),
    "typo-below": top("urls: {drop_param: []}", "urls.drop_param is not a known key", "did you mean drop_params?"),
    "typo-in-source": source("type: csv, pth: a.csv", ".pth is not a known key", "did you mean path?"),
    "key-of-another-place": top("charset: utf-8", "charset is not a known key here", "it belongs at urls.charset."),
    "key-of-another-source": source(
        "type: csv, path: a, query: q", ".query is not", "belongs at sections[].source.query."
    ),
    "unlike-any": top("foo: 1", "foo is not a known key", "the keys here are site, base_url, files_url, target"),
    "odd-key": top('"a\\nb": 1', "['a\\nb'] is not a known key", "the keys here are"),
    "twice": top("target: other", "target is given twice, first on line 3", "keep one."),
    "missing": Mistake(TOP, "line 1: sections is missing", "write the parts of the inventory, a list that starts with"),
    "missing-typo": Mistake(
        TOP.replace("base_url", "base_ulr") + SECTIONS, "line 2: base_ulr is not a known key", "did you mean base_url?"
    ),
    "missing-in-source": source("type: sql, conn_id: db", ".query is missing", "write the SELECT to read, such as"),
    "empty-required": Mistake(
        TOP.replace("shop", "") + SECTIONS, "line 1: site is missing", "write a short name such as shop"
    ),
    "list-as-key": top("? [a]\n: b", "the file has a list or a mapping as a key", "a key is one word."),
    # kinds of values
    "number-for-text": Mistake(
        TOP.replace("shop", "2024") + SECTIONS, "line 1: site is 2024, not text", "put it in quotes."
    ),
    "mapping-for-text": section(
        "loc: {slug}", "loc is a mapping, not text", "put text that starts with a bracket in quotes."
    ),
    "text-for-list": top("formats: xml", "formats is 'xml', not a list", "write ['xml']."),
    "mapping-for-list": Mistake(
        TOP + "sections: {a: b}\n", "line 4: sections is a mapping, not a list", "start each of"
    ),
    "text-for-mapping": top("guards: strict", "guards is 'strict', not a mapping", "write its keys below it, indented"),
    "text-for-source": Mistake(
        TOP + SECTIONS.replace("{type: csv, path: pages.csv}", "pages.csv"),
        "line 6: sections[0].source is 'pages.csv', not a mapping",
        "write its keys below it",
    ),
    "empty-list": top("formats: []", "formats is an empty list", "name one at least."),
    "no-sections": Mistake(TOP + "sections: []\n", "line 4: sections is an empty list", "name one at least."),
    "text-for-number": top("guards: {min_urls: '5'}", "guards.min_urls is '5', not a whole number", "without quotes."),
    "fraction": top("guards: {min_urls: 1.5}", "guards.min_urls is 1.5, not a whole number", "write it in digits"),
    "negative": top("guards: {min_urls: -1}", "guards.min_urls is -1, less than 0", "write 0 or more."),
    "percent": top("guards: {max_drop: 20}", "guards.max_drop is 20, not a share from 0 to 1", "for 20 % write 0.2."),
    "percent-sign": top("guards: {max_drop: 5%}", "guards.max_drop is '5%', not a share", "for 5 % write 0.05."),
    "yes": top("allow_empty: yes", "allow_empty is 'yes', not true or false", "write one of these, without quotes."),
    "distribution": top(
        "cloudfront: d111111abcdef8.cloudfront.net",
        "cloudfront is 'd111111abcdef8.cloudfront.net', not a CloudFront distribution's id",
        "such as E2QWRUHAPOMQZL.",
    ),
    "choice": top("names: imutable", "names is 'imutable', not stable or immutable", "did you mean immutable?"),
    "choice-unlike-any": top("coarse_dates: month", "coarse_dates is 'month', not drop or keep", "write one of these."),
    "engine": top("engines: [gogle]", "engines[0] is 'gogle', not google, bing,", "did you mean google?"),
    # single values
    "name": Mistake(
        TOP.replace("shop", "My Shop") + SECTIONS, "line 1: site is 'My Shop', not a name of", "write 'my-shop'."
    ),
    "index-folder": top(
        "index: maps/sitemap.xml", "index is 'maps/sitemap.xml', not a file name", "write 'sitemap.xml'"
    ),
    "index-ending": top("index: sitemap.txt", "index is 'sitemap.txt', not a file name", "ends in .xml or .xml.gz"),
    "preset": top("schedule: dayly", "schedule is 'dayly', not a schedule", "did you mean '@daily'?"),
    "cron-hour": top(
        "schedule: 0 25 * * *", "schedule is '0 25 * * *', not a cron expression, by its hour", "write 0 to 23"
    ),
    "cron-fields": top("schedule: 0 3 * *", "schedule is '0 3 * *', not a schedule", "write five cron fields such as"),
    "charset": top(
        "urls: {charset: utf-16}", "urls.charset is 'utf-16', not a charset", "write utf-8, or the server's"
    ),
    "host": top(
        "urls: {hosts: [m.example.com]}",
        "urls.hosts[0] is 'm.example.com', not",
        "did you mean 'https://m.example.com/'?",
    ),
    "host-with-path": top("urls: {hosts: ['https://a.example/x']}", "urls.hosts[0] is", "write 'https://a.example'."),
    "parameter": top(
        "urls: {drop_params: ['a=b']}", "urls.drop_params[0] is 'a=b', not a query parameter", "such as gclid"
    ),
    "glob": top(
        "urls: {exclude: [cart/**]}", "urls.exclude[0] is 'cart/**', not a pattern", "start a glob with '/' or '*'"
    ),
    "hreflang": section(
        "alternates: {tr: a, en_US: b}", "alternates.en_US is no hreflang code (write hyphens", "such as tr, en-GB or"
    ),
    "hreflang-twice": section("alternates: {en-gb: a, en-GB: b}", "alternates.en-GB is given twice", "keep one."),
    "hreflang-cluster": section(
        "alternates: {cluster: a, en: b}", "alternates.cluster needs language beside it", "name these two columns, or"
    ),
    "hreflang-list": section(
        "alternates: [tr, en]", "alternates is a list, not a column's name", "write one column, or"
    ),
    "image-tag": section("images: {loc: a, titel: b}", "images.titel is not a known key", "did you mean title?"),
    "image-tag-unlike-any": section(
        "images: {loc: a, alt: b}", "images.alt is not a known key", "the keys here are loc,"
    ),
    "images-without-loc": section("images: {title: a}", "images has no loc", "name the column that holds it."),
    "video-tag": section(
        "videos: {thumbnail: t, title: t, description: d}", "videos.thumbnail is not a known key", "thumbnail_loc?"
    ),
    "video-without-title": section("videos: {thumbnail_loc: t}", "videos has no title", "name the column"),
    "video-without-location": section(
        "videos: {thumbnail_loc: t, title: t, description: d}", "videos has no content_loc or player_loc", "name the"
    ),
    "video-column": section("videos: []", "videos is an empty list, not a column's name", "write one column, or"),
    "news-language": section(
        "news: {name: Shop, language: en-US, title: t, published: p}",
        "news.language is 'en-US', not a language",
        "did you mean en?",
    ),
    "news-country": section(
        "news: {name: Shop, language: jp, title: t, published: p}", "news.language is 'jp', not a", "a code such as tr"
    ),
    "news-parentheses": section(
        "news: {name: Shop (beta), language: en, title: t, published: p}",
        "news.name is 'Shop (beta)', not the name as it stands",
        "leave out what is in parentheses.",
    ),
    "news-braces": section(
        "news: {name: 'The {city} Post', language: en, title: t, published: p}",
        "news.name is 'The {city} Post', not a name or {column}",
        "braces stand around",
    ),
    "news-empty-name": section(
        "news: {name: ' ', language: en, title: t, published: p}", "news.name is ' ', not the publication's", "empty"
    ),
    "regex": top(
        "urls: {include: ['re:(']}", "urls.include[0] is 're:(', not a regular expression", "mend what follows 're:'."
    ),
    "lastmod": section(
        "lastmod: 2024-01-01", "lastmod is '2024-01-01', not a column's name", "lastmod comes from the rows"
    ),
    "zone": section("lastmod_timezone: Europe/Istambul", "lastmod_timezone is", "did you mean 'Europe/Istanbul'?"),
    "zone-offset": section(
        "lastmod_timezone: +03:00", "lastmod_timezone is '+03:00', not", "such as 'Europe/Istanbul'"
    ),
    "priority": section(
        "priority: 8", "priority is 8, not a number from 0 to 1", "write one such as 0.8, or a column's name."
    ),
    "loc-constant": section(
        "loc: /p/slug", "loc is '/p/slug', not a column's name or a template", "as in '/p/{slug}'."
    ),
    "loc-brace": section("loc: '/p/{slug'", "loc is '/p/{slug', not a template", "close each {column}"),
    "empty-column": section("status: ' '", "status is ' ', not a column's name", "it is empty."),
    "source-type": source(
        "type: cvs, path: a", ".type is 'cvs', not csv, sql, parquet or sitemap", "did you mean csv?"
    ),
    "no-source-type": source("path: a.csv", ".type is missing", "write csv, sql, parquet or sitemap."),
    "source-type-typo": source("typ: csv, path: a", ".typ is not a known key", "did you mean type?"),
    "encoding": source(
        "type: csv, path: a, encoding: latin5x", ".encoding is 'latin5x', not a character encoding", "such as"
    ),
    "tab": source(
        "type: csv, path: a, delimiter: tab",
        ".delimiter is 'tab', not a single character",
        'write "\\t" in double quotes.',
    ),
    "delimiter": source(
        "type: csv, path: a, delimiter: ';;'", ".delimiter is ';;', not a single ASCII character", 'write ","'
    ),
    "source-address": source(
        "type: csv, path: 'https://a.example/a.csv'", ".path is", "use a local path or s3://bucket/key."
    ),
    "parameters": source(
        "type: sql, conn_id: db, query: q, params: {a: [1]}", ".params.a is a list, not one value", "write"
    ),
    "pages-without-key": source(
        "type: sql, conn_id: db, query: q, page_rows: 9", ".page_rows has no effect without key", "name a"
    ),
    "parts-without-key": source(
        "type: sql, conn_id: db, query: q, split: 9", ".split has no effect without key", "name a unique, indexed"
    ),
    "no-parts": source("type: sql, conn_id: db, query: q, key: id, split: 0", ".split", "1"),
    # addresses and places
    "no-scheme": base_url(
        "www.example.com", "is 'www.example.com', not an absolute", "did you mean 'https://www.example.com/'?"
    ),
    "scheme-typo": base_url(
        "htps://a.example/", "is 'htps://a.example/', not an absolute", "did you mean 'https://a.example/'?"
    ),
    "path-alone": base_url("/shop/", "is '/shop/', not an absolute http or https address", "write it as https://"),
    "no-slash": base_url(
        "https://a.example/shop", "is 'https://a.example/shop', not", "write 'https://a.example/shop/'."
    ),
    "query": base_url("https://a.example/?b", "is 'https://a.example/?b', not an address without query", "leave out"),
    "space": base_url("https://a b.example/", "is 'https://a b.example/', not an address", "remove spaces"),
    "port": base_url(
        "https://a.example:99999/", "is 'https://a.example:99999/', not an address", "check its host and port"
    ),
    "ipv6": base_url("'https://[::1/'", "is 'https://[::1/', not an address", "check its host"),
    "host-letters": base_url(
        "https://a..example/", "is 'https://a..example/', not an address with a valid host", "write it as"
    ),
    "unencoded": base_url("https://a.example/ü/", "is 'https://a.example/ü/', not percent-encoded", "as '/%C3%BC/'."),
    "files-url-file": top(
        "files_url: https://a.example/m/sitemap.xml", "files_url is", "write 'https://a.example/m/'."
    ),
    "one-slash": target("s3:/bucket/", "is 's3:/bucket/', not an S3 address", "write it as s3://bucket/prefix/"),
    "bucket": target(
        "s3:///maps/", "is 's3:///maps/', not an S3 address with a valid bucket name", "write it as s3://bucket/"
    ),
    "other-store": target(
        "gs://bucket/", "is 'gs://bucket/', not a place this can write to", "use s3://bucket/prefix/ or a"
    ),
    "s3a": target("s3a://bucket/", "is 's3a://bucket/', not a place", "s3a:// and s3n:// are written s3:// here"),
    "relative-file-url": target("file://maps/", "is 'file://maps/', not a file address", "write file:///folder/"),
    "no-state": Mistake(
        TOP.replace("public", "s3://bucket/") + SECTIONS,
        "line 1: state is missing",
        "such as s3://shop-private/sitemap-ops/.",
    ),
    "state-in-target": top("state: public/state", "state lies in target", "give state a place apart."),
    "target-in-state": top("state: .", "state holds target", "give state a place apart."),
    "work-is-target": top("work: ./public/", "work is the same place as target", "give work a place apart."),
    "default-state-in-target": target(".", "is missing", "name another.")._replace(start="line 1: state is missing"),
    "work-in-state": top("state: private\nwork: private/work", "work", "")._replace(
        start="line 5: work lies in state", advice="give work a place apart."
    ),
    "same-names": Mistake(
        TOP + SECTIONS + SECTIONS.removeprefix("sections:\n"), "line 7: sections[1].name is 'pages'", "its own name."
    ),
    # environment
    "unset": target(
        "${NOPE}/maps", "needs the environment variable NOPE, which is not set", "or give a default as ${NOPE:-"
    ),
    "nameless": target("'${}'", "has '${' that names no variable", "write ${NAME}, or $${ for a literal '${'."),
    # YAML
    "indented-by-tab": Mistake(TOP + "guards:\n\tmin_urls: 1\n", "line 5: a tab can't indent YAML", "use spaces."),
    "at": Mistake(TOP + "schedule: @daily\n", "line 4: text can't start with '@'", "put it in quotes."),
    "star": Mistake(TOP + "urls: {drop_params: [*_id]}\n", "line 4: this is not YAML", "in quotes.")._replace(
        start="line 4: '*' and '&' mark what is to be repeated"
    ),
    "colon": Mistake(
        TOP + "robots: a: b\n", "line 4: a ': ' stands where no key can be", "put text that holds ': ' in quotes"
    ),
    "quote": Mistake(TOP + "index: 'a.xml\n", "line ", "close it."),
    "brace": Mistake(
        TOP + "index: {a}-b\n", "line 4: this is not YAML", "put text that starts with a bracket in quotes."
    ),
    "control": Mistake(TOP + "index: a\x07\n", "line 4: the control character U+0007", "remove it."),
    "second-document": Mistake(
        TOP + SECTIONS + "---\na: b\n", "line 7: a second document starts here", "holds one site."
    ),
    "tag": top("index: !!python/name:os.system x", "index has the YAML tag", "remove it"),
    "list": Mistake("- site: shop\n", "line 1: a site file is a mapping", "start it with 'site: <name>'."),
    "merge-of-text": top("<<: 5", "the file has a '<<' that merges no mapping", "give it an alias"),
    "deep": Mistake(
        TOP + "a: " + "[" * 50 + "]" * 50, "line 4: the file has more than 20,000 values or 20 levels", "write it"
    ),
    "very-deep": Mistake(TOP + "a: " + "[" * 200_000, "line 4: the nesting is too deep", "20 levels at most."),
    "recursive": Mistake(
        TOP + "urls: &a {x: *a}\n", "line 4: the file has more than 20,000 values or 20 levels", "aliases."
    ),
    "laughs": Mistake(
        "".join(f"a{n + 1}: &a{n + 1} [{','.join([f'*a{n}'] * 9)}]\n" if n else "a1: &a1 [x]\n" for n in range(12)),
        "line ",
        "counting what aliases repeat",
    ),
    "merged-laughs": Mistake(
        "a1: &a1 {x: y}\n"
        + "".join(f"a{n + 1}: &a{n + 1} {{<<: [{','.join([f'*a{n}'] * 9)}]}}\n" for n in range(1, 12)),
        "line ",
        "counting what aliases repeat",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_one_mistake_is_one_sentence(tmp_path, monkeypatch, mistake):
    """The sentence starts with file and line, names the key, and ends with advice; pydantic is not heard."""
    monkeypatch.delenv("NOPE", raising=False)
    (said,) = mistakes(tmp_path, mistake.text)
    assert said.startswith(f"shop.yaml {mistake.start}")
    assert mistake.advice in said
    assert said.endswith((".", "?"))
    assert ": " in said.partition(": ")[2], "no advice after a colon"
    assert not any(word in said for word in ("Input", "pydantic", "validat", "Value error", "Extra", "Field required"))
