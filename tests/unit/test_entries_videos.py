"""The video extension: which videos are written, in what form each tag is, and what is said about the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml import etree

from sitemap_ops.entries import Extension
from sitemap_ops.entries.video_values import duration
from sitemap_ops.tags import VIDEO_TAGS
from tests.unit.extending import HOME, file_of, notes, series, table, texts, videos_of

NS = "{http://www.google.com/schemas/sitemap-video/1.1}"
VIDEO = {
    "thumbnail_loc": "/t.jpg",
    "title": "A film",
    "description": "What happens in it.",
    "content_loc": "https://cdn.example.net/v.mp4",
}


def video(**changes: Any) -> str:
    """A whole video as JSON, changed; None takes a tag away."""
    return json.dumps({tag: value for tag, value in (VIDEO | changes).items() if value is not None})


def parsed(*values: Any, **options: Any) -> Extension:
    return videos_of(table({"videos": []}).reindex(range(len(values))).assign(videos=series(values)), **options)


def shown(extension: Extension) -> list[list[dict[str, str | None]]]:
    """The videos of each row as an XML parser reads them; attributes as `tag_attribute`, repeated tags with commas."""
    root = etree.fromstring(file_of(extension.columns["videos"]))
    rows = []
    for url in root:
        rows.append([])
        for element in url.iter(f"{NS}video"):
            tags: dict[str, str | None] = {}
            for child in element:
                tag = child.tag.removeprefix(NS)
                tags[tag] = f"{tags[tag]},{child.text}" if tag in tags else child.text
                tags |= {f"{tag}_{name}": value for name, value in child.attrib.items()}
            rows[-1].append(tags)
    return rows


def one(**changes: Any) -> tuple[dict[str, str | None] | None, set[str]]:
    """The video that a whole one with changes becomes, and the codes of its row; a good neighbour is not touched."""
    extension = parsed(video(), video(**changes), None)
    first, changed, none = shown(extension)
    assert (len(first), none) == (1, [])
    codes = {code for code, rows in notes(extension).items() if 1 in rows}
    assert all(rows == [1] for code, rows in notes(extension).items() if code != "video-normalised")
    return (changed[0] if changed else None), codes - {"video-normalised"}


def each(tag: str, values: list[Any], **others: Any) -> list[tuple[str | None, set[str]]]:
    """What each value of a tag is written as, and the codes of its row; all are rows of one column."""
    extension = parsed(*(video(**({tag: value} | others)) for value in values))
    codes = notes(extension)
    codes.pop("video-normalised", None)
    written = [row[0].get(tag) for row in shown(extension)]
    return [(text, {code for code, rows in codes.items() if at in rows}) for at, text in enumerate(written)]


def test_a_whole_video():
    """G-24: the four tags are enough; URLs are absolute and encoded (C-40), texts escaped (C-32)."""
    extension = parsed(video(title="Tom & 'Jerry' <1>", content_loc="https://cdn.example.net/ü.mp4?a=1&b=2"))
    assert texts(extension.columns["videos"]) == [
        f"<video:video><video:thumbnail_loc>{HOME}/t.jpg</video:thumbnail_loc>"
        "<video:title>Tom &amp; &apos;Jerry&apos; &lt;1&gt;</video:title>"
        "<video:description>What happens in it.</video:description>"
        "<video:content_loc>https://cdn.example.net/%C3%BC.mp4?a=1&amp;b=2</video:content_loc></video:video>"
    ]
    assert notes(extension) == {"video-normalised": [0]}


@pytest.mark.parametrize("tag", ["thumbnail_loc", "title", "description", "content_loc"])
@pytest.mark.parametrize("value", [None, "", " \u200b", "\x00"])
def test_a_required_tag_is_missing(tag: str, value: str | None):
    """G-24, C-81: the video goes, its row is counted, and keeps its place."""
    found, codes = one(**{tag: value})
    assert found is None
    assert "video-missing-tag" in codes


def test_content_or_player():
    """G-24: one of both locations is enough."""
    found, codes = one(content_loc=None, player_loc="https://player.example/1")
    assert found is not None and found["player_loc"] == "https://player.example/1" and not codes
    found, codes = one(content_loc="mailto:x", player_loc="/embed/1")
    assert found is not None and "content_loc" not in found
    assert codes == {"video-loc"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (json.dumps([VIDEO, VIDEO | {"content_loc": "/2.mp4"}]), 2),
        (json.dumps([VIDEO, VIDEO]), 1),
        ({**VIDEO}, 1),
        ([{**VIDEO}, {**VIDEO, "content_loc": "/2.mp4"}], 2),
        ([video(), video(content_loc="/2.mp4")], 2),
        ("", 0),
        ("null", 0),
        ("[]", 0),
        ([], 0),
    ],
)
def test_forms_of_a_value(value: Any, written: int):
    """Issue 3: an object or a list of them, as JSON or as a structure of Arrow; the same video once."""
    assert [len(row) for row in shown(parsed(None, value))] == [0, written]


def test_the_same_video_twice_is_counted():
    """One of two equal videos is written."""
    assert notes(parsed(json.dumps([VIDEO, VIDEO])))["video-duplicate"] == [0]


@pytest.mark.parametrize("value", ["https://cdn.example.net/v.mp4", '"x"', "[1]", "{", "[" * 100_000, '{"a":' * 9_999])
def test_what_can_not_be_read(value: str):
    """A URL alone, or broken JSON, is no video: counted."""
    extension = parsed(value)
    assert texts(extension.columns["videos"]) == [None]
    assert notes(extension)["video-json"] == [0]


@pytest.mark.parametrize("tag", ["content_loc", "player_loc"])
def test_a_location_that_is_the_page(tag: str):
    """G-25: it goes; with another one the video stays."""
    for page in ("/p/1", f"{HOME.upper()}/p/1#video"):
        alone, codes = one(**({"content_loc": None} | {tag: page}))
        assert alone is None
        assert codes >= {"video-loc-equals-page", "video-missing-tag"}
        both, codes = one(**({"content_loc": "/v.mp4", "player_loc": "/embed"} | {tag: page}))
        assert both is not None and tag not in both
        assert codes == {"video-loc-equals-page"}


@pytest.mark.parametrize(
    ("url", "written", "code"),
    [
        ("ftp://media.example/ü.mp4", "ftp://media.example/%C3%BC.mp4", None),
        ("FTP://media.example/v.mp4", "ftp://media.example/v.mp4", None),
        ("http://media.example:8080/v.mp4", "http://media.example:8080/v.mp4", None),
        ("rtmp://media.example/v", None, "video-loc-scheme"),
        ("ftp://user:secret@media.example/v", None, "video-loc-scheme"),
        ("//localhost/v", None, "video-loc"),
    ],
)
def test_schemes(url: str, written: str | None, code: str | None):
    """G-32: HTTP and FTP; a stream of another kind is left out."""
    found, codes = one(content_loc=url, player_loc="/embed")
    assert found is not None and found.get("content_loc") == written
    assert codes == ({code} if code else set())


@pytest.mark.parametrize(
    ("tag", "most", "code"),
    [
        ("title", 100, "video-title-over-100"),
        ("description", 2_048, "video-description-too-long"),
        ("uploader", 255, "video-uploader"),
    ],
)
def test_lengths(tag: str, most: int, code: str):
    """G-26, G-27, C-81: characters, not bytes; what fits stays, what is longer is cut between letters.

    No letter loses its accent, no emoji its parts, no blank is left at the end; a pile of marks is cut all the same.
    """
    fitting = [letter * most for letter in ("x", "ж", "\U0001f31e")]
    assert each(tag, fitting) == [(text, set()) for text in fitting]
    start = "x" * (most - 1)
    ends = {
        "xy": "x",
        "e\u0301": "",
        "\U0001f44d\U0001f3fd": "",
        "\U0001f469\u200d\U0001f4bb": "",
        "\U0001f31e!": "\U0001f31e",
        " y": "",
    }
    cut = [(start + kept, {code}) for kept in ends.values()]
    assert each(tag, [start + end for end in ends]) == cut
    assert each(tag, ["x" + "\u0301" * most]) == [("x" + "\u0301" * (most - 1), {code})]


VIDEO_AS_WRITTEN = VIDEO | {"thumbnail_loc": f"{HOME}/t.jpg"}


DURATIONS: list[tuple[Any, str | None]] = [
    *((600, "600"), ("600", "600"), (" 600 ", "600"), ("600.0", "600"), (599.5, "600"), ("90 s", "90"), ("1,4", "1")),
    *(("PT10M", "600"), ("PT1H2M3S", "3723"), ("P0DT0H10M0S", "600"), ("pt10m0.4s", "600"), ("PT8H", "28800")),
    *(("10:30", "630"), ("1:02:03", "3723"), ("00:10:00.000", "600"), ("0 days 00:10:30", "630"), ("90:00", "5400")),
    *((1, "1"), (28_800, "28800")),
    *((0, None), (0.4, None), (28_801, None), (-1, None), ("PT", None), ("P", None), ("P1Y", None), ("P1M", None)),
    *(("1:60", None), ("1:99:00", None), ("ten", None), ("1e3", None), ("1.000.000", None), ("PT9H", None)),
    *(("9" * 400, None), (True, None), ("١٠", None)),
]


def test_durations():
    """G-27, C-81: ISO 8601, clocks and fractions become whole seconds from 1 to 28,800; what is none goes."""
    expected = [(seconds, set() if seconds else {"video-duration"}) for _, seconds in DURATIONS]
    assert each("duration", [value for value, _ in DURATIONS]) == expected


def test_a_written_duration_is_kept():
    """What is written reads as itself, and is nothing to speak of."""
    assert all(duration(str(second)) == str(second) for second in (1, 59, 600, 28_800))
    assert notes(parsed(video(thumbnail_loc=f"{HOME}/t.jpg", duration="600"))) == {}


YES, NO = (True, "true", "1", 1, "YES", "y", "t", "1.0"), (False, "False", "0", 0, "No", "f")


@pytest.mark.parametrize("tag", ["live", "family_friendly", "requires_subscription"])
def test_flags(tag: str):
    """G-28, C-81: booleans of any spelling are yes and no; what is neither goes and is counted."""
    expected = [*[("yes", set())] * len(YES), *[("no", set())] * len(NO), *[(None, {"video-flag"})] * 3]
    assert each(tag, [*YES, *NO, "maybe", 2, "-1"]) == expected


@pytest.mark.parametrize(
    ("tag", "good", "bad"),
    [
        (
            "rating",
            {"4.5": "4.5", 5: "5", "0": "0", "4,25": "4.25", 3.0: "3.0", "05.0": "5.0"},
            ["5.1", "-1", "good", "4/5"],
        ),
        ("view_count", {0: "0", "007": "7", 10.0: "10"}, ["1,000", -1, 1.5, "many", 10**20]),
    ],
)
def test_numbers(tag: str, good: dict[Any, str], bad: list[Any]):
    """G-27: numbers in range, with a point; what is none goes and is counted."""
    expected = [(written, set()) for written in good.values()]
    code = f"video-{tag.replace('_', '-')}"
    assert each(tag, [*good, *bad]) == [*expected, *[(None, {code})] * len(bad)]


DATES = {
    "2024-06-01": "2024-06-01",
    "2024-06-01T10:00:00+03:00": "2024-06-01T10:00:00+03:00",
    "2024-06-01 10:00:00.5Z": "2024-06-01T10:00:00Z",
    "2031-01-01T00:00:00Z": "2031-01-01T00:00:00Z",
    "2024-06-01 10:00": "2024-06-01",
    "01.06.2024": None,
    "2024-06": None,
    "0000-00-00": None,
}


@pytest.mark.parametrize("tag", ["publication_date", "expiration_date"])
def test_dates(tag: str):
    """G-28: read like lastmod, but of the future too; what is none goes."""
    expected = [(written, set() if written else {"video-date"}) for written in DATES.values()]
    assert each(tag, list(DATES)) == expected


def test_naive_times_are_in_the_sections_zone():
    """C-58: the zone that the site file names holds for videos too."""
    (row,) = shown(parsed(video(publication_date="2024-06-01 10:00"), timezone="Europe/Istanbul"))
    assert row[0]["publication_date"] == "2024-06-01T10:00:00+03:00"


@pytest.mark.parametrize(
    ("tag", "value", "relationship", "written"),
    [
        ("restriction", "TR DE", "allow", ("TR DE", "allow")),
        ("restriction", "tr,de; at", "DENY", ("TR DE AT", "deny")),
        ("restriction", ["TR", "TR", "uk"], "allow", ("TR GB", "allow")),
        ("restriction", "Turkey", "allow", None),
        ("restriction", "TR XX", "allow", None),
        ("restriction", "TR", None, None),
        ("restriction", "TR", "no", None),
        ("restriction", None, "allow", None),
        ("platform", "web tv", "deny", ("web tv", "deny")),
        ("platform", ["Web", "mobile"], "allow", ("web mobile", "allow")),
        ("platform", "desktop", "allow", None),
        ("platform", "web", "", None),
    ],
)
def test_restrictions_and_platforms(tag: str, value: Any, relationship: str | None, written: tuple[str, str] | None):
    """G-29: a list of codes with blanks, and what it does; half of it means nothing, so it goes and is counted."""
    found, codes = one(**{tag: value, f"{tag}_relationship": relationship})
    assert found is not None
    assert (found.get(tag), found.get(f"{tag}_relationship")) == (written or (None, None))
    assert codes == (set() if written else {f"video-{tag}"})


@pytest.mark.parametrize(
    ("info", "written"),
    [
        ("/users/1", f"{HOME}/users/1"),
        ("https://shop.example/u", "https://shop.example/u"),
        ("https://blog.shop.example/u", "https://blog.shop.example/u"),
        ("https://other.example/u", None),
        ("https://notshop.example/u", None),
        ("mailto:x", None),
    ],
)
def test_an_uploaders_page_is_on_the_pages_domain(info: str, written: str | None):
    """G-27: an address elsewhere goes, the name stays."""
    found, codes = one(uploader="U & I", uploader_info=info)
    assert found is not None
    assert (found["uploader"], found.get("uploader_info")) == ("U & I", written)
    assert bool(codes) == (written is None)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (["a", "b", "a", "", None], "a,b"),
        ("steak, meat,steak", "steak,meat"),
        ("steak\nmeat", "steak,meat"),
        ('["a, b"]', "a, b"),
        ("[not json", "[not json"),
        ([1, 2.5], "1,2.5"),
    ],
)
def test_keywords(value: Any, written: str):
    """G-27: one tag for each word, once."""
    found, codes = one(tag=value)
    assert found is not None and found["tag"] == written
    assert not codes


def test_thirty_two_keywords():
    """G-27: 32 stay; of 33 the last goes and is counted, whatever else was said twice."""
    words = [str(number) for number in range(33)]
    assert one(tag=words[:32]) == (VIDEO_AS_WRITTEN | {"tag": ",".join(words[:32])}, set())
    assert one(tag=["0", *words]) == (VIDEO_AS_WRITTEN | {"tag": ",".join(words[:32])}, {"video-too-many-tags"})


class TestDeprecated:
    """G-31, C-85: what Google stopped reading in 2022."""

    OLD = {"category": "Cooking", "gallery_loc": "/gallery", "price": "1,99", "price_currency": "eur"}  # noqa: RUF012

    def test_not_written_by_default(self):
        """They are counted, and cost no bytes."""
        assert one(**self.OLD) == (VIDEO_AS_WRITTEN, {"deprecated-tag"})

    def test_written_on_demand(self):
        """With `deprecated_tags`, as the schema has them."""
        (row,) = shown(parsed(video(**self.OLD), old=True))
        written = {"category": "Cooking", "gallery_loc": f"{HOME}/gallery", "price": "1.99", "price_currency": "EUR"}
        assert row == [VIDEO_AS_WRITTEN | written]

    @pytest.mark.parametrize(
        ("tag", "value", "code"),
        [
            ("category", "x" * 257, "video-category-over-256"),
            ("price", "free", "video-price"),
            ("price_currency", None, "video-price"),
            ("gallery_loc", "mailto:x", "video-loc"),
        ],
    )
    def test_wrong_ones(self, tag: str, value: str | None, code: str):
        """What can't be used goes here too."""
        extension = parsed(video(**(self.OLD | {tag: value})), old=True)
        assert notes(extension)[code] == [0]

    def test_what_is_never_written(self):
        """Tags that Google's pages no longer name are counted as unknown."""
        assert one(tvshow={"show_title": "x"}, id="1") == (VIDEO_AS_WRITTEN, {"video-unknown-tag"})


def test_columns():
    """Issue 3: one column a tag, of any type; a row without one of the three URLs has no video, whatever its title."""
    rows = table(
        {
            "thumb": ["/t.jpg", None, "/t.jpg", "NULL"],
            "name": ["Film", "Page", "Film", "Page"],
            "file": ["/v.mp4", "", None, None],
            "seconds": [61.0, None, 5.0, None],
            "keywords": [["a", "b"], None, [], None],
            "free": ["false", None, "true", None],
        }
    )
    spec = {
        "thumbnail_loc": "thumb",
        "title": "name",
        "description": "name",
        "content_loc": "file",
        "duration": "seconds",
        "tag": "keywords",
        "requires_subscription": "free",
    }
    extension = videos_of(rows, spec)
    first, *others = shown(extension)
    assert others == [[]] * 3
    assert first == [
        {
            "thumbnail_loc": f"{HOME}/t.jpg",
            "title": "Film",
            "description": "Film",
            "content_loc": f"{HOME}/v.mp4",
            "duration": "61",
            "tag": "a,b",
            "requires_subscription": "no",
        }
    ]
    assert notes(extension) == {"video-missing-tag": [2], "video-normalised": [0, 2]}


def test_all_tags_have_a_place():
    """X-06: a video with every tag is written in the schema's order."""
    full = {
        **{tag: "/x" for tag in VIDEO_TAGS if tag.endswith(("_loc", "info"))},
        **{tag: "2024-06-01" for tag in VIDEO_TAGS if tag.endswith("_date")},
        "title": "T",
        "description": "D",
        "duration": 1,
        "rating": 5,
        "view_count": 1,
        "tag": ["a"],
        "live": True,
        "family_friendly": True,
        "requires_subscription": False,
        "uploader": "U",
        "category": "C",
        "restriction": "TR",
        "restriction_relationship": "allow",
        "platform": "web",
        "platform_relationship": "deny",
        "price": "1",
        "price_currency": "EUR",
    }
    assert set(full) == set(VIDEO_TAGS)
    extension = parsed(json.dumps(full), old=True)
    assert set(notes(extension)) == {"video-normalised", "deprecated-tag"}
    assert list(shown(extension)[0][0]) == [
        *(
            "thumbnail_loc",
            "title",
            "description",
            "content_loc",
            "player_loc",
            "duration",
            "expiration_date",
            "rating",
        ),
        *("view_count", "publication_date", "tag", "category", "family_friendly", "restriction"),
        *("restriction_relationship", "gallery_loc", "price", "price_currency", "requires_subscription", "uploader"),
        *("uploader_info", "platform", "platform_relationship", "live"),
    ]


def test_rows_that_were_refused_have_no_page():
    """A row without a canonical loc has nothing to be compared with, and raises nothing."""
    from sitemap_ops.entries import parse_videos
    from tests.unit.extending import POLICY

    rows = table({"videos": [video(uploader="U", uploader_info="/u")]})
    extension = parse_videos(
        rows, "videos", series([None]).astype("string[pyarrow]"), POLICY, timezone=None, deprecated=False
    )
    assert notes(extension)["video-uploader"] == [0]
