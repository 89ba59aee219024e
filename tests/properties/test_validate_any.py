"""No file makes the validator raise: whatever it holds becomes a finding."""

from __future__ import annotations

import gzip
import json
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_ops.engines import PROFILES
from sitemap_ops.validate.document import Known, judge
from sitemap_ops.validate.findings import Validation
from sitemap_ops.validate.output import to_json, to_junit, to_table
from tests.unit.test_validate_extensions import CLUSTER, IMAGE, article, video
from tests.unit.validating import NOW, extended, index, pages, shard

SEEDS = [
    pages("https://shop.example/a", "https://shop.example/b?x=1&amp;y=2"),
    index(shard("a.xml"), shard("b.xml")),
    CLUSTER,
    video(),
    extended(IMAGE, article()),
    "https://shop.example/a\nhttps://shop.example/\ufffe\uffff\x0b\x85\n".encode(),
    b"<rss version='2.0'><channel><item><link>https://shop.example/a</link></item></channel></rss>",
]
NAMES = st.sampled_from(["sitemap.xml", "sitemap.xml.gz", "urls.txt", "feed"])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with some of its bytes replaced, dropped, doubled or put elsewhere."""
    body = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(body)))
        end = draw(st.integers(start, min(len(body), start + 60)))
        piece = draw(st.one_of(st.binary(max_size=12), st.just(body[start:end] * 2), st.text(max_size=6).map(_utf8)))
        body = body[:start] + piece + body[end:]
    return gzip.compress(body) if draw(st.integers(0, 4)) == 0 else body


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@settings(max_examples=250, deadline=None)
@given(damaged(), NAMES, st.sampled_from([None, "https://shop.example/sub/sitemap.xml"]), st.integers(1, 200))
def test_a_damaged_file_is_told_of(body: bytes, name: str, url: str | None, piece: int) -> None:
    """Any bytes, given in pieces of any size, end in findings that can be shown in every form."""
    known = Known(NOW, name=name, url=url, engines=tuple(PROFILES))
    judged = judge(name, (body[at : at + piece] for at in range(0, len(body), piece)), known)
    validation = Validation(name, tuple(PROFILES))
    validation.take(judged.record)
    json.loads(to_json(validation))
    to_table(validation)
    ElementTree.fromstring(to_junit(validation))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_as_a_url(values: list[str]) -> None:
    """Any Unicode as a loc: judged, whatever it is."""
    escaped = [value.replace("&", "&amp;").replace("<", "&lt;") for value in values]
    body = b"".join(_utf8(f"<url><loc>https://{value}</loc></url>") for value in escaped)
    judge(
        "s", iter([b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + body + b"</urlset>"]), Known(NOW)
    )
