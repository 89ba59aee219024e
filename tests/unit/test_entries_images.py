"""The image extension: where images come from, which are written, and what is said about the others."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from lxml import etree

from sitemap_ops.columns import column
from sitemap_ops.entries import Extension, parse_images
from sitemap_ops.urls import UrlPolicy
from tests.unit.extending import HOME, POLICY, file_of, images_of, notes, series, table, texts

NS = "{http://www.google.com/schemas/sitemap-image/1.1}"
CDN = "https://cdn.example.net"


def parsed(*values: Any) -> Extension:
    return images_of(pd.DataFrame({"images": series(values)}))


def shown(extension: Extension, name: str = "image_texts") -> list[list[dict[str, str | None]]]:
    """The images of each row as an XML parser reads them."""
    fragments = extension.columns[name].rename(name)
    root = etree.fromstring(file_of(fragments))
    return [
        [{child.tag.removeprefix(NS): child.text for child in image} for image in url.iter(f"{NS}image")]
        for url in root
    ]


def locs(*values: Any) -> list[list[str | None]]:
    return [[image["loc"] for image in row] for row in shown(parsed(*values))]


def test_one_url_a_row():
    """G-20: a column of URLs makes one image a row; rows without have no fragment."""
    extension = parsed("/a.jpg", None, "", " \t", "NULL", f"{CDN}/b.jpg")
    assert texts(extension.columns["images"]) == [
        f"<image:image><image:loc>{HOME}/a.jpg</image:loc></image:image>",
        *[None] * 4,
        f"<image:image><image:loc>{CDN}/b.jpg</image:loc></image:image>",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/1.jpg\n/2.jpg\r\n\r\n /3.jpg ", ["/1.jpg", "/2.jpg", "/3.jpg"]),
        (f"{HOME}/1.jpg, {HOME}/2.jpg", ["/1.jpg", "/2.jpg"]),
        (f"{HOME}/1.jpg {HOME}/2.jpg;\t{HOME}/3.jpg", ["/1.jpg", "/2.jpg", "/3.jpg"]),
        (f"{HOME}/1.jpg|{HOME}/2.jpg | HTTPS://www.shop.example/3.jpg", ["/1.jpg", "/2.jpg", "/3.jpg"]),
        ("/w_200,h_100/1.jpg", ["/w_200,h_100/1.jpg"]),
        ("/a b|c.jpg", ["/a%20b%7Cc.jpg"]),
        ('["/1.jpg", "/2.jpg"]', ["/1.jpg", "/2.jpg"]),
        ('[{"loc": "/1.jpg"}, "/2.jpg", null, "", {}]', ["/1.jpg", "/2.jpg"]),
        ('{"loc": "/1.jpg"}', ["/1.jpg"]),
        ('"/1.jpg"', ["/1.jpg"]),
        (["/1.jpg", None, "", "/2.jpg"], ["/1.jpg", "/2.jpg"]),
        (['{"loc": "/1.jpg"}', "/2.jpg", '["/3.jpg"]'], ["/1.jpg", "/2.jpg", "/3.jpg"]),
        ([{"loc": "/1.jpg"}, {"loc": "/2.jpg"}], ["/1.jpg", "/2.jpg"]),
        ({"loc": "/1.jpg"}, ["/1.jpg"]),
        ("[]", []),
        ([], []),
    ],
)
def test_forms_of_a_value(value: Any, expected: list[str]):
    """Issue 3: text, JSON, Arrow lists and structures, in this column's row and in no other."""
    assert locs(None, value, None) == [[], [f"{HOME}{path}" for path in expected], []]


def test_forms_beside_each_other():
    """Rows of all forms in one column keep their order, and each its own images."""
    values = ["/1", '["/2", "/3"]', None, "/4\n/5", '{"loc": "/6"}', "/7"]
    expected = [["/1"], ["/2", "/3"], [], ["/4", "/5"], ["/6"], ["/7"]]
    assert locs(*values) == [[HOME + path for path in row] for row in expected]


def test_object_columns_hold_anything():
    """Python objects, as frameworks hand them over, are read by what they are; mixed lists are no trouble."""
    values = pd.Series([["/1", {"loc": "/2"}], "/3", float("nan"), None, 5, {"loc": "/4"}], dtype=object)
    extension = images_of(pd.DataFrame({"images": values}))
    assert [[image["loc"] for image in row] for row in shown(extension)] == [
        [f"{HOME}/1", f"{HOME}/2"],
        [f"{HOME}/3"],
        [],
        [],
        [f"{HOME}/5"],
        [f"{HOME}/4"],
    ]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_kinds_of_text(kind: pa.DataType):
    """Any of Arrow's texts gives the same."""
    values = pa.array(["/1", None], pa.string()).cast(kind)
    extension = images_of(pd.DataFrame({"images": column(values)}))
    assert texts(extension.columns["images"])[0] == f"<image:image><image:loc>{HOME}/1</image:loc></image:image>"


def test_index_is_kept():
    """Fragments stand at the rows' own index; notes are positions."""
    rows = table({"images": [None, "mailto:x"]}).set_axis([7, 9])
    extension = images_of(rows)
    assert extension.columns.index.tolist() == [7, 9]
    assert notes(extension) == {"image-loc": [1]}


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("/steckrüben.jpg", f"{HOME}/steckr%C3%BCben.jpg"),
        ("/jp/新.jpg", f"{HOME}/jp/%E6%96%B0.jpg"),
        ("проверка.jpg", f"{HOME}/%D0%BF%D1%80%D0%BE%D0%B2%D0%B5%D1%80%D0%BA%D0%B0.jpg"),
        ("HTTPS://CDN.Example.net:443/a.jpg#top", f"{CDN}/a.jpg"),
        ("//cdn.example.net/a%c3%bc.jpg", f"{CDN}/a%C3%BC.jpg"),
        ("https://faß.example/a.jpg", "https://xn--fa-hia.example/a.jpg"),
    ],
)
def test_urls_are_canonical(value: str, url: str):
    """C-40: image:loc is encoded, resolved and normalised as loc is."""
    extension = parsed(value)
    assert shown(extension) == [[{"loc": url}]]
    assert notes(extension)["image-normalised"] == [0]


def test_five_characters_are_escaped():
    """C-32, P-21: in URLs and texts alike; a parser gets back what was meant."""
    odd = 'Tom & "Jerry\'s" <b>'
    extension = parsed(json.dumps([{"loc": "/a'b?x=1&y=2", "title": odd}]))
    fragment = texts(extension.columns["image_texts"])[0]
    assert fragment is not None
    assert "<image:loc>https://www.shop.example/a&apos;b?x=1&amp;y=2</image:loc>" in fragment
    assert "<image:title>Tom &amp; &quot;Jerry&apos;s&quot; &lt;b&gt;</image:title>" in fragment
    assert shown(extension) == [[{"loc": f"{HOME}/a'b?x=1&y=2", "title": odd}]]


def test_apostrophes_cut_nothing():
    """C-45: `We're live` stays whole."""
    assert shown(parsed('{"loc": "/1", "caption": "We\'re live"}')) == [[{"loc": f"{HOME}/1", "caption": "We're live"}]]


@pytest.mark.parametrize(
    ("written", "read", "code"),
    [
        ("sun \U0001f31e", "sun \U0001f31e", None),
        (r"sun \ud83c\udf1e", "sun \U0001f31e", None),
        (r"half \ud83c", "half \ufffd", "text-replacement-char"),
        (r"a\u0000b\u001bc\u000bd\ufffee\uffff", "abcde", "text-control-char"),
        (r"two\r\nlines\tand\u0085more", "two lines and more", None),
        (r"\u0001", None, "text-control-char"),
        (" padded\u200b ", "padded", None),
        ("Null", "Null", None),
        ("\\\\N", None, None),
    ],
)
def test_texts_hold_only_what_xml_can(written: str, read: str | None, code: str | None):
    """C-42, C-43, P-23: emoji as code points, half characters and controls counted; no text stops a shard."""
    extension = parsed('{"loc": "/1", "title": "' + written + '"}')
    assert shown(extension)[0][0].get("title") == read
    assert {found for found in notes(extension) if found.startswith("text-")} == ({code} if code else set())
    assert not re.search(r"&#|\\u", str(extension.columns["image_texts"][0]))


def test_half_characters_of_objects():
    """C-42: halves that stand side by side in a Python text are one character; a URL with half of one is refused."""
    values = pd.Series(["/\ud83c\udf1e", "/\ud83c", [{"loc": "/1", "title": "\ud83c"}]], dtype=object)
    extension = images_of(pd.DataFrame({"images": values}))
    assert [len(row) for row in shown(extension)] == [1, 0, 1]
    assert notes(extension)["image-loc"] == [1]
    assert notes(extension)["text-replacement-char"] == [2]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ('["/1.jpg"', "image-json"),
        ("[1, true]", "image-json"),
        ("[[]]", "image-json"),
        ("[" * 100_000, "image-json"),
        ("{https://a.example/1.jpg,https://a.example/2.jpg}", "image-json"),
        ('{"title": "x"}', "image-loc-missing"),
        ('{"loc": {"a": "b"}, "title": "x"}', "image-loc"),
        ("mailto:x@shop.example", "image-loc"),
        ("https://user:secret@shop.example/1.jpg", "image-loc"),
        ("https://localhost/1.jpg", "image-loc"),
        ("/" + "x" * 2_048, "image-loc"),
        ("/a\x01b.jpg", "image-loc"),
        ("ftp://shop.example/1.jpg", "image-loc"),
    ],
)
def test_what_is_no_image(value: str, code: str):
    """C-43: it is left out and counted, and its neighbours are not touched."""
    extension = parsed("/0.jpg", value, "/2.jpg")
    assert [len(row) for row in shown(extension)] == [1, 0, 1]
    assert notes(extension)[code] == [1]


def test_unknown_names_are_counted():
    """G-20: a name of the JSON that is no tag is not written."""
    extension = parsed('[{"loc": "/1", "alt": "x"}]', '[{"loc": "/1", "alt": null}]')
    assert shown(extension) == [[{"loc": f"{HOME}/1"}]] * 2
    assert notes(extension)["image-unknown-tag"] == [0]


def test_each_image_once():
    """The same picture, in whatever spelling, is in an entry once; other entries have their own."""
    extension = parsed(f"/1.jpg\n/2.jpg\n{HOME}/1.jpg\n/2.jpg#x", "/1.jpg")
    assert [[image["loc"] for image in row] for row in shown(extension)] == [
        [f"{HOME}/1.jpg", f"{HOME}/2.jpg"],
        [f"{HOME}/1.jpg"],
    ]
    assert notes(extension)["image-duplicate"] == [0]


def test_a_thousand_images():
    """G-21: 1,000 stay; of 1,001 the last goes, and the row is counted."""
    many = [json.dumps([f"/{number}" for number in range(count)]) for count in (1_000, 1_001)]
    extension = parsed(*many)
    assert [len(row) for row in shown(extension)] == [1_000, 1_000]
    assert notes(extension)["too-many-images"] == [1]
    assert shown(extension)[1][-1] == {"loc": f"{HOME}/999"}


def test_other_hosts_are_kept_and_counted():
    """G-22: an image may be on a CDN; that is a note. The site's further hosts are its own."""
    extension = parsed("/1", f"{CDN}/1", "http://www.shop.example:8080/1", "https://static.shop.example/1")
    assert [len(row) for row in shown(extension)] == [1] * 4
    assert notes(extension)["image-foreign-host"] == [1, 3]
    policy = UrlPolicy(base=f"{HOME}/", hosts=("https://static.shop.example",))
    rows = table({"images": [f"{CDN}/1", "https://static.shop.example/1"]})
    assert notes(images_of(rows, policy=policy))["image-foreign-host"] == [0]


def test_pages_options_are_not_for_images():
    """DESIGN 5: parameters, slashes and patterns of the site file are about pages; base and charset hold."""
    policy = UrlPolicy(
        base=f"{HOME}/shop/", drop_params=("v",), trailing_slash="add", exclude=("/img/**",), charset="iso-8859-1"
    )
    extension = images_of(table({"images": ["/img/1?v=2", "ü", "新"]}), policy=policy)
    assert shown(extension) == [[{"loc": f"{HOME}/img/1?v=2"}], [{"loc": f"{HOME}/shop/%FC"}], []]
    assert notes(extension)["image-loc"] == [2]


def test_a_private_site_shows_its_own_images():
    """A site on localhost has its images there; other private hosts are refused, however many name them."""
    policy = UrlPolicy(base="http://localhost:8080/")
    extension = images_of(table({"images": ["/1", *["http://127.0.0.1/1"] * 9]}), policy=policy)
    assert [len(row) for row in shown(extension)] == [1, *[0] * 9]


class TestTexts:
    """G-23, Y-21, C-85: the four tags that Yandex reads and Google dropped."""

    FULL = json.dumps(
        [
            {"title": "T", "license": "/l", "caption": "C", "loc": "/1", "geo_location": "Limerick, Ireland"},
            "/2",
        ]
    )

    def test_loc_alone_by_default(self):
        """C-85: the column for engines that read `loc` alone has nothing else."""
        assert shown(parsed(self.FULL), "images") == [[{"loc": f"{HOME}/1"}, {"loc": f"{HOME}/2"}]]

    def test_all_in_the_schemas_order(self):
        """X-06: loc, caption, geo_location, title, license, whatever their order was; images without texts too."""
        (row,) = shown(parsed(self.FULL))
        assert list(row[0]) == ["loc", "caption", "geo_location", "title", "license"]
        assert row[0]["license"] == f"{HOME}/l"
        assert row[1] == {"loc": f"{HOME}/2"}

    def test_not_made_unless_wanted(self):
        """Sites whose sets have no use for texts do not pay for them; that there are some is counted."""
        extension = parse_images(table({"images": [self.FULL, "/1"]}), "images", POLICY, texts=False)
        assert texts(extension.columns["image_texts"]) == [None, None]
        assert notes(extension)["deprecated-tag"] == [0]

    @pytest.mark.parametrize(("tag", "most"), [("caption", 384), ("title", 384), ("geo_location", 256)])
    def test_bytes(self, tag: str, most: int):
        """Y-21: as many bytes as Yandex reads stay; more are cut, at the end of a letter."""
        values = [json.dumps({"loc": "/1", tag: text}) for text in ("x" * most, "x" * (most + 1), "ж" * most)]
        extension = parsed(*values)
        sizes = [len((row[0][tag] or "").encode()) for row in shown(extension)]
        assert sizes == [most, most, most]
        assert notes(extension)["yandex-image-bytes"] == [1, 2]
        assert shown(extension)[2][0][tag] == "ж" * (most // 2)

    def test_a_license_is_a_url(self):
        """Y-21: half a URL names nothing, so that one that is too long is left out, like one that is none."""
        values = [
            json.dumps({"loc": "/1", "license": text}) for text in ("/cc by", "/" + "x" * 300, "mailto:x", "", None)
        ]
        extension = parsed(*values)
        assert [row[0].get("license") for row in shown(extension)] == [f"{HOME}/cc%20by", *[None] * 4]
        assert (notes(extension)["yandex-image-bytes"], notes(extension)["image-license"]) == ([1], [2])

    def test_columns(self):
        """Issue 3: a column for each tag; blank ones say nothing."""
        rows = table({"loc": ["/1", "/2", None], "alt": ["One", "", "x"], "where": [None, "Rome", "x"]})
        extension = images_of(rows, {"loc": "loc", "title": "alt", "geo_location": "where"})
        assert shown(extension) == [
            [{"loc": f"{HOME}/1", "title": "One"}],
            [{"loc": f"{HOME}/2", "geo_location": "Rome"}],
            [],
        ]
        assert notes(extension)["deprecated-tag"] == [0, 1]

    def test_one_text_or_one_for_each(self):
        """A text is all images' of its row; of a list each image has the one at its own place, gaps counted."""
        rows = table(
            {
                "loc": ["/1\n/2", '["/1", "", "/3"]', '["/1", "/2"]', '[{"loc": "/1", "title": "own"}, "/2"]'],
                "alt": ["both", '["a", "b", "c"]', '["a"]', "[Sale] both"],
            }
        )
        titles = [
            [image.get("title") for image in row] for row in shown(images_of(rows, {"loc": "loc", "title": "alt"}))
        ]
        assert titles == [["both", "both"], ["a", "c"], ["a", None], ["own", "[Sale] both"]]

    def test_lists_of_arrow(self):
        """`text[]` columns for URLs and texts go together."""
        rows = table({"loc": [["/1", "/2"], None, ["/3"]], "alt": [["a", None], None, None]})
        titles = [
            [image.get("title") for image in row] for row in shown(images_of(rows, {"loc": "loc", "title": "alt"}))
        ]
        assert titles == [["a", None], [], [None]]
