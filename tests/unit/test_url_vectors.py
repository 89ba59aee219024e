"""Public test vectors for URLs and hosts, each agreed with or explained by a rule.

Where this policy and a vector differ, `test_urls_differences.json` says under which rule, and what we make of it
instead; an entry that no longer differs fails too. The counts are printed (`pytest -s`).
"""

from __future__ import annotations

import csv
import json
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic_core import Url, ValidationError

from sitemap_ops.errors import UsageError
from sitemap_ops.urls import UrlPolicy, canonicalize
from sitemap_ops.urls.authority import parse_authority
from sitemap_ops.urls.hosts import parse_host
from tests.services.shared import shared

DIFFERENCES = Path(__file__).with_name("test_urls_differences.json")
UNRESERVED = string.ascii_letters + string.digits + "-._~"
LEGAL = set(UNRESERVED + "!$&'()*+,;=:@/?")

Outcome = tuple[str, str | None, bool]
"""A vector's name, what we make of it (a loc, or a reason), and whether that agrees."""


@cache
def table() -> dict[str, dict[str, dict[str, str]]]:
    return json.loads(DIFFERENCES.read_text(encoding="utf-8"))


def judge(file: str, outcomes: Iterator[Outcome]) -> None:
    """Every outcome agrees or is in the file's table with exactly what we make of it, and the table has no other."""
    explained = table().get(file, {})
    tried, differing = 0, {}
    for name, ours, agrees in outcomes:
        tried += 1
        if not agrees:
            differing[name] = ours
    failed = {name: ours for name, ours in differing.items() if explained.get(name, {}).get("ours") != ours}
    agreed = tried - len(differing)
    print(f"\n{file}: tried {tried}, agreed {agreed}, explained {len(differing) - len(failed)}, failed {len(failed)}")
    assert not failed
    assert set(explained) == set(differing), "an entry of the table differs no longer"
    assert all(re.fullmatch(r"[UP]-\d\d|DESIGN 5", entry["rule"]) for entry in explained.values())


def vectors(file: str) -> list[dict[str, Any]]:
    cases = json.loads(shared("vectors", file).read_text(encoding="utf-8"))
    return [case for case in cases if isinstance(case, dict)]


def canonical(asked: list[tuple[str, UrlPolicy | None]]) -> list[tuple[str | None, str | None]]:
    """loc and reason of each value under its policy, all of one policy at once; (None, None) where there is none."""
    results: list[tuple[str | None, str | None]] = [(None, None)] * len(asked)
    for policy in {policy for _, policy in asked if policy}:
        rows = [i for i, (_, own) in enumerate(asked) if own == policy]
        frame = canonicalize(pd.Series([asked[i][0] for i in rows], dtype=object), policy).astype(object)
        for i, loc, reason in zip(rows, frame["loc"], frame["reason"], strict=True):
            results[i] = (None, reason) if pd.isna(loc) else (loc, None)
    return results


def policy_or_none(**options: Any) -> UrlPolicy | None:
    try:
        return UrlPolicy(**options)
    except UsageError:
        return None


def same_resource(loc: str, href: str) -> bool:
    """Whether a loc is a vector's href, and a WHATWG parser reads both as the same, apart from the fragment and after
    the normalisations that the policy names: of triplets (U-10, U-12, U-15) and of what RFC 3986 forbids (U-08).
    """
    href = href.partition("#")[0]
    origin = re.match("https?://[^/]*", href)[0]
    return loc == origin + normalised(href[len(origin) :]) and (not reads(href) or resource(loc) == resource(href))


def reads(url: str) -> bool:
    """Whether rust-url reads it: all but hosts such as `xn--a`, which the standard admits since 2025."""
    try:
        return bool(Url(url))
    except ValidationError:
        assert "xn--" in url
        return False


def resource(url: str) -> tuple[str, str | None, int | None, str]:
    """What rust-url (in pydantic-core), an independent WHATWG parser, reads."""
    parsed = Url(url)
    rest = (parsed.path or "") + ("?" if "?" in url.partition("#")[0] else "") + (parsed.query or "")
    return parsed.scheme, parsed.host, parsed.port, normalised(rest)


def normalised(rest: str) -> str:
    def spell(match: re.Match[str]) -> str:
        if len(match[0]) == 3:
            char = chr(int(match[0][1:], 16))
            return char if char in UNRESERVED else match[0].upper()
        return match[0] if match[0] in LEGAL else "".join(f"%{octet:02X}" for octet in match[0].encode())

    return re.sub("%[0-9A-Fa-f]{2}|.", spell, rest, flags=re.DOTALL)


def web_cases(file: str) -> Iterator[Outcome]:
    """urltestdata.json's form: http(s) URLs that are valid, and everything that fails."""
    names, hrefs, asked = [], [], []
    for case in vectors(file):
        fails = case.get("failure", False)
        href = "" if fails else case.get("href") or str(Url(case["input"]))
        if case.get("relativeTo") or not (fails or href.startswith(("http:", "https:"))):
            continue
        base = case.get("base") or ""
        web_base = base if base.startswith(("http:", "https:")) else None
        hosts = () if fails or web_base is None else (own_origin(href),)
        names.append(json.dumps([case["input"], base] if base else case["input"]))
        hrefs.append(href)
        asked.append((case["input"], policy_or_none(base=web_base, hosts=hosts)))
    for name, href, (loc, reason) in zip(names, hrefs, canonical(asked), strict=True):
        if not href:
            yield name, loc, loc is None
        else:
            yield name, loc or reason or "base refused", loc is not None and same_resource(loc, href)


def own_origin(href: str) -> str:
    origin = parse_authority(re.match(r"https?://[^/?#]*", re.sub("//[^/]*@", "//", href))[0]).origin
    return origin if origin != "://" else "https://unused.example"


@pytest.mark.parametrize("file", ["urltestdata.json", "ada_extra_urltestdata.json", "verifydnslength_tests.json"])
def test_urls_are_what_browsers_read(file: str) -> None:
    """T-01: a valid http(s) URL becomes a loc that a WHATWG parser reads as the same resource; a failure is refused."""
    judge(file, web_cases(file))


@pytest.mark.parametrize("file", ["toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json"])
def test_hosts_are_those_of_uts_46(file: str) -> None:
    """T-02, T-03: the host's A-labels are the expected ones, or it is refused as expected."""

    def outcomes() -> Iterator[Outcome]:
        for case in vectors(file):
            host = parse_host(case["input"])
            ours = None if host.reason else host.name
            yield json.dumps(case["input"]), ours or host.reason, ours == case["output"]

    judge(file, outcomes())


def test_queries_are_percent_encoded_in_the_charset() -> None:
    """T-02: percent-encoding.json, for each charset in which URLs can be encoded."""

    def outcomes() -> Iterator[Outcome]:
        cases = [
            (case["input"], charset, output)
            for case in vectors("percent-encoding.json")
            for charset, output in case["output"].items()
        ]
        asked = [(f"https://h.example/?{text}", policy_or_none(charset=charset)) for text, charset, _ in cases]
        for (text, charset, output), (loc, reason) in zip(cases, canonical(asked), strict=True):
            ours = loc or reason or "charset refused"
            yield json.dumps([text, charset]), ours, loc == "https://h.example/?" + normalised(output)

    judge("percent-encoding.json", outcomes())


def test_crawlers_normalise_alike() -> None:
    """T-04: crawler-commons' weird URLs and invalid URLs."""

    def outcomes() -> Iterator[Outcome]:
        weird = rows("crawler-commons-weirdToNormalizedUrls.csv")
        invalid = [(url, None) for url, _ in rows("crawler-commons-invalidUrls.csv")]
        cases = [*weird, *invalid]
        results = canonical([(url, UrlPolicy()) for url, _ in cases])
        for (url, wanted), (loc, reason) in zip(cases, results, strict=True):
            yield json.dumps(url), loc or reason, loc == wanted

    judge("crawler-commons", outcomes())


def rows(file: str) -> Iterator[tuple[str, str]]:
    text = shared("vectors", file).read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    for row in csv.reader(lines):
        yield row[0], row[-1].strip()


def test_the_parsers_disagree_where_they_should() -> None:
    """The comparison itself can fail: another path, port or triplet is another resource; an odd fragment is not."""
    assert resource("https://a.example/%7Eb?x=[#y") == resource("https://A.example:443/~b?x=%5B")
    for other in ("https://a.example/~B", "https://a.example:8443/~b", "https://a.example/%2Fb", "http://a.example/~b"):
        assert resource(other) != resource("https://a.example/~b")
    with pytest.raises(ValidationError):
        resource("https://")
