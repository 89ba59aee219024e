"""What can be said about an entry's optional values: stable codes, the rule book's where it has one.

A note never rejects a row: at worst it costs the row a tag (`DROPPED`), or a part of an extension. The report counts
rows by these codes.
"""

from __future__ import annotations

NOTES: dict[str, str] = {
    "lastmod-format": "not a date or time that can mean only one thing (P-07, P-08)",
    "lastmod-zero": "a zero date, such as 0000-00-00, which databases write for none",
    "lastmod-coarse": "a year or a month, which the published schema rejects (P-08)",
    "lastmod-before-1970": "before 1970-01-01, which Google calls invalid (C-61)",
    "lastmod-future": "later than the run by more than a day, which can't be true (P-11)",
    "lastmod-timezone": "a time without a zone, or a zone without a time: published as the date alone (P-09)",
    "lastmod-normalised": "rewritten in one of the two forms that every reader accepts (P-08)",
    "changefreq-value": "none of the seven values (P-13)",
    "changefreq-translated": "a translation, such as 'her ay', put back into English (P-15)",
    "changefreq-normalised": "one of the seven in other letters or with blanks: rewritten (P-13)",
    "priority-value": "not a number from 0.0 to 1.0 (P-16)",
    "priority-comma": "a decimal comma, which can only mean the point (P-15)",
    "priority-noncanonical": "rewritten with one decimal (P-16)",
    "text-control-char": "characters that XML can't hold taken out of a title or another text (P-23, C-43)",
    "text-replacement-char": "U+FFFD in a text: half a character, or one that was decoded wrongly (C-42)",
    "deprecated-tag": "tags that Google stopped reading in 2022: in the sets that ask for them (G-23, G-31, C-85)",
    "image-json": "JSON that can't be read, or is no list of URLs or of objects",
    "image-unknown-tag": "a name in an image's JSON that is no tag (G-20)",
    "image-loc-missing": "an image without a URL (G-20)",
    "image-loc": "an image's URL that the URL policy refuses: without the image",
    "image-license": "a license's URL that the URL policy refuses: without it",
    "image-normalised": "an image's URL rewritten, as a loc is (C-40)",
    "image-foreign-host": "an image on another host: verify that host in the engines' consoles too (G-22)",
    "image-duplicate": "the same image twice: published once",
    "too-many-images": "more than 1,000 images: the first 1,000 (G-21)",
    "yandex-image-bytes": "an image's text cut to what Yandex reads (Y-21)",
    "video-json": "JSON that can't be read, or is no object and no list of objects",
    "video-unknown-tag": "a name in a video's JSON that is no tag, or one that is never written (G-24)",
    "video-missing-tag": "a video without one of its required tags: left out (G-24, C-81)",
    "video-loc": "a video's URL that the URL policy refuses: without it",
    "video-loc-scheme": "a video's URL of another scheme than HTTP and FTP: without it (G-32)",
    "video-loc-equals-page": "a video's location that is its page: without it (G-25)",
    "video-title-over-100": "a title cut to the schema's 100 characters (G-26)",
    "video-description-too-long": "a description cut to 2,048 characters (G-26, C-81)",
    "video-category-over-256": "a category cut to the schema's 256 characters",
    "video-duration": "no duration from 1 second to 8 hours: without it (G-27, C-81)",
    "video-rating": "no rating from 0 to 5: without it (G-27)",
    "video-view-count": "no whole number of views: without it (G-27)",
    "video-too-many-tags": "more than 32 keywords: the first 32 (G-27)",
    "video-uploader": "an uploader cut to 255 characters, or without an address on another domain (G-27)",
    "video-date": "a date as lastmod may not be one: without it (G-28)",
    "video-flag": "neither yes nor no: without it (G-28)",
    "video-restriction": "no list of countries, or neither allow nor deny: without it (G-29)",
    "video-platform": "no list of web, mobile, tv, or neither allow nor deny: without it (G-29)",
    "video-price": "no price with a currency: without it (G-31)",
    "video-duplicate": "the same video twice: published once",
    "video-normalised": "a video's value rewritten in the form that its tag takes (C-81)",
    "news-too-old": "published more than 48 hours before the run: an entry like others (G-41, C-77)",
    "news-missing-tag": "an article without name, language, time or title: no news (G-40)",
    "news-date": "a time of publication as lastmod may not be one: no news (G-45)",
    "news-date-only": "a time of publication without a zone: counted and published as its date (P-09)",
    "news-language": "no language code: no news (G-44)",
    "news-language-normalised": "a language code rewritten, such as `en-US` to `en` (G-44)",
    "news-name-parentheses": "parentheses in the publication's name, taken off its end (G-45)",
}
"""Code -> its meaning in one line."""

DROPPED: frozenset[str] = frozenset(
    {
        "lastmod-format",
        "lastmod-zero",
        "lastmod-coarse",
        "lastmod-before-1970",
        "lastmod-future",
        "changefreq-value",
        "priority-value",
    }
)
"""Of lastmod, changefreq and priority the codes that say: this row has no such tag. With their others it is there."""
