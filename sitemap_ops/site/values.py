"""The kinds of single values a site file has, each checked by one small function."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, Strict

from sitemap_ops.languages import hreflang_fault, hreflang_spelling
from sitemap_ops.site.faults import nearest, not_a, one_of, wrong
from sitemap_ops.site.places import web_origin
from sitemap_ops.site.schedule import schedule
from sitemap_ops.tags import (
    CLUSTER,
    IMAGE_TAGS,
    LANGUAGE,
    VIDEO_LOCATIONS,
    VIDEO_REQUIRED,
    VIDEO_TAGS,
    news_column,
    news_language,
)

CHANGEFREQS = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_INDEX_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.xml(\.gz)?")
_DISTRIBUTION = re.compile(r"E[A-Z0-9]{5,30}")
_LOC_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<column>[^{}]+)\}|(?P<stray>[{}])")
_NUMBER = re.compile(r"[0-9]*[.,]?[0-9]+")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_BEYOND_ASCII = "éğЯאあ中가€"


def _slug(text: str) -> str:
    if not _SLUG.fullmatch(text):
        guess = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:100]
        advice = f"write '{guess}'" if guess else "write a name such as 'products'"
        raise not_a(f"a name of lower-case letters, digits, '-' and '_' that starts with a letter or digit: {advice}.")
    return text


def _index_name(text: str) -> str:
    if not _INDEX_NAME.fullmatch(text):
        raise not_a("a file name that ends in .xml or .xml.gz: write 'sitemap.xml'; the folder belongs to target.")
    return text


def _conn_id(text: str) -> str:
    if "://" in text:
        raise wrong(
            "is an address, not the id of a connection: make an Airflow connection"
            " (or, outside Airflow, an environment variable SITEMAP_OPS_CONN_<ID>) of it, and name its id here."
        )
    if not text or re.search(r"\s", text):
        raise not_a("the id of a connection: write it without spaces.")
    return text


def _distribution(text: str) -> str:
    if not _DISTRIBUTION.fullmatch(text):
        raise not_a("a CloudFront distribution's id: write it as CloudFront shows it, such as E2QWRUHAPOMQZL.")
    return text


def _column(text: str) -> str:
    if not text.strip():
        raise not_a("a column's name: it is empty.")
    return text


def _lastmod(text: str) -> str:
    if re.fullmatch(r"\d{4}-\d{2}.*", text, re.DOTALL):
        raise not_a("a column's name: lastmod comes from the rows, one date for all pages tells engines nothing.")
    return _column(text)


def _loc(text: str) -> str:
    tokens = list(_LOC_TOKEN.finditer(text))
    if any(token["stray"] for token in tokens):
        raise not_a("a template: close each {column}, and write {{ or }} for a brace.")
    if re.match(r"/|https?://", text) and not placeholders(text):
        raise not_a("a column's name or a template: put in the column that tells rows apart, as in '/p/{slug}'.")
    return _column(text)


def placeholders(loc: str) -> tuple[str, ...]:
    """The columns that a loc names in braces; none where it is itself a column's name."""
    return tuple(token["column"] for token in _LOC_TOKEN.finditer(loc) if token["column"])


def _changefreq(text: str) -> str:
    return text.lower() if text.lower() in CHANGEFREQS else _column(text)


def _priority(value: Any) -> float | str:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return _column(value)
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        number = float(str(value).replace(",", "."))
        if 0 <= number <= 1:
            return number
    raise not_a("a number from 0 to 1: write one such as 0.8, or a column's name.")


def _share(value: Any) -> float:
    match value:
        case bool():
            percent = None
        case int() | float() if 0 <= value <= 1:
            return float(value)
        case int() | float() if value <= 100:
            percent = value
        case str() if written := re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]+)?|100) ?%", value):
            percent = float(written[1])
        case _:
            percent = None
    if percent is None or percent < 0:
        raise not_a("a share from 0 to 1: for 20 % write 0.2.")
    raise not_a(f"a share from 0 to 1: for {percent:g} % write {percent / 100:g}.")


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise not_a("a number above 0: write one such as 5 or 0.5, without quotes.")
    return float(value)


def _connections(count: int) -> int:
    if count > 64:
        raise not_a("64 or less: more at once would be an attack on the site.")
    return count


def _timezone(text: str) -> str:
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(text)
    except (ValueError, OSError, LookupError):
        guess = nearest(text, available_timezones())
        advice = f"did you mean '{guess}'?" if guess else "write one such as 'Europe/Istanbul' or 'UTC'."
        raise not_a(f"the name of a time zone: {advice}") from None
    return text


def _encoding(text: str) -> str:
    try:
        codec = codecs.lookup(text)
    except (LookupError, ValueError):
        codec = None
    if codec is None or not codec._is_text_encoding or codec.name in ("idna", "punycode", "undefined"):
        raise not_a("a character encoding: write one such as utf-8, iso-8859-9 or windows-1254.")
    return codec.name


def _charset(text: str) -> str:
    name = _encoding(text)
    try:
        fits = _ASCII.encode(name) == _ASCII.encode("ascii") and all(
            encoded[0] > 0x7F for letter in _BEYOND_ASCII if (encoded := letter.encode(name, "ignore"))
        )
    except (UnicodeError, ValueError):
        fits = False
    if not fits:
        raise not_a("a charset of URLs, which has to extend ASCII: write utf-8, or the server's iso-8859-9, say.")
    return name


def _delimiter(text: str) -> str:
    if text in ("tab", "\\t"):
        raise not_a('a single character: for a tab write "\\t" in double quotes.')
    if len(text) != 1 or not text.isascii() or text in '"\r\n':
        raise not_a('a single ASCII character: write ",", ";", "|" or "\\t".')
    return text


def _parameter_glob(text: str) -> str:
    if not text or re.search(r"[\s&=#/]", text):
        raise not_a("a query parameter's name: write it alone, such as gclid or utm_*.")
    return text


def _url_pattern(text: str) -> str:
    if text.startswith("re:"):
        try:
            re.compile(text[3:])
        except re.error as error:
            raise not_a(f"a regular expression ({error}): mend what follows 're:'.") from None
        except (OverflowError, RecursionError):
            raise not_a("a regular expression this can use: make it smaller.") from None
    elif not text.startswith(("/", "*")):
        raise not_a(
            "a pattern over path and query: start a glob with '/' or '*', as in '/cart/**',"
            " and a regular expression with 're:'."
        )
    return text


def _scalar(value: Any) -> str | int | float | bool | None:
    if not isinstance(value, str | int | float | None):
        raise not_a("one value: write text, a number, true, false or null.")
    return value


def _alternates(value: Any) -> dict[str, str] | str:
    """One column, hreflang codes to columns, or CLUSTER and LANGUAGE to columns; codes in their usual spelling."""
    columns = _columns_of(value)
    if isinstance(columns, str) or columns.keys() == {CLUSTER, LANGUAGE}:
        return columns
    by_code: dict[str, str] = {}
    for code, column in columns.items():
        if code in (CLUSTER, LANGUAGE):
            other = LANGUAGE if code == CLUSTER else CLUSTER
            raise wrong(
                f"needs {other} beside it and nothing else: name these two columns, or one for each code.", at=(code,)
            )
        if fault := hreflang_fault(code):
            raise wrong(f"is no hreflang code ({fault}): write one such as tr, en-GB or x-default.", at=(code,))
        if hreflang_spelling(code) in by_code:
            raise wrong("is given twice, in other letters: keep one.", at=(code,))
        by_code[hreflang_spelling(code)] = column
    return by_code


def _columns_of(value: Any) -> dict[str, str] | str:
    """One column, or a mapping of names to columns."""
    if isinstance(value, str):
        return _column(value)
    if isinstance(value, dict) and value and all(isinstance(column, str) for column in value.values()):
        return {name: _column(column) for name, column in value.items()}
    raise not_a("a column's name or a mapping: write one column, or {name: column} for each.")


def _tagged(value: Any, tags: tuple[str, ...], required: tuple[str, ...]) -> dict[str, str] | str:
    """One column, or a mapping of tags to columns."""
    columns = _columns_of(value)
    if isinstance(columns, str):
        return columns
    for tag in columns:
        if tag not in tags:
            guess = nearest(tag, tags)
            advice = f"did you mean {guess}?" if guess else f"the keys here are {', '.join(tags)}."
            raise wrong(f"is not a known key: {advice}", at=(tag,))
    for tag in required:
        if tag not in columns:
            raise wrong(f"has no {tag}: name the column that holds it.")
    return columns


def _images(value: Any) -> dict[str, str] | str:
    return _tagged(value, IMAGE_TAGS, ("loc",))


def _videos(value: Any) -> dict[str, str] | str:
    columns = _tagged(value, VIDEO_TAGS, VIDEO_REQUIRED)
    if isinstance(columns, dict) and not columns.keys() & set(VIDEO_LOCATIONS):
        raise wrong(f"has no {one_of(VIDEO_LOCATIONS)}: name the column that holds it.")
    return columns


def _news_name(text: str) -> str:
    if not text.strip():
        raise not_a("the publication's name: it is empty.")
    if news_column(text) is None and re.search(r"[{}]", text):
        raise not_a("a name or {column}: braces stand around a whole column's name.")
    if re.search(r"[()]", text):
        raise not_a("the name as it stands on the articles: leave out what is in parentheses.")
    return text


def _news_language(text: str) -> str:
    if news_column(text) is None and news_language(text) != text:
        guess = news_language(text)
        raise not_a(
            "a language that Google News knows: "
            + (f"did you mean {guess}?" if guess else "write a code such as tr, zh-cn or zh-tw, or {column}.")
        )
    return text


def _some(items: tuple[Any, ...]) -> tuple[Any, ...]:
    if not items:
        raise wrong("is an empty list: name one at least.")
    return items


Slug = Annotated[str, AfterValidator(_slug)]
IndexName = Annotated[str, AfterValidator(_index_name)]
Distribution = Annotated[str, AfterValidator(_distribution)]
ConnId = Annotated[str, AfterValidator(_conn_id)]
Column = Annotated[str, AfterValidator(_column)]
Lastmod = Annotated[str, AfterValidator(_lastmod)]
Loc = Annotated[str, AfterValidator(_loc)]
Changefreq = Annotated[str, AfterValidator(_changefreq)]
Priority = Annotated[float | str, PlainValidator(_priority)]
Share = Annotated[float, PlainValidator(_share)]
Positive = Annotated[float, PlainValidator(_positive)]
TimeZone = Annotated[str, AfterValidator(_timezone)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Charset = Annotated[str, AfterValidator(_charset)]
Delimiter = Annotated[str, AfterValidator(_delimiter)]
Origin = Annotated[str, AfterValidator(web_origin)]
ParameterGlob = Annotated[str, AfterValidator(_parameter_glob)]
UrlPattern = Annotated[str, AfterValidator(_url_pattern)]
Scalar = Annotated[str | int | float | bool | None, PlainValidator(_scalar)]
Alternates = Annotated[dict[str, str] | str, PlainValidator(_alternates)]
Images = Annotated[dict[str, str] | str, PlainValidator(_images)]
Videos = Annotated[dict[str, str] | str, PlainValidator(_videos)]
NewsName = Annotated[str, AfterValidator(_news_name)]
NewsLanguage = Annotated[str, AfterValidator(_news_language)]
Schedule = Annotated[str, AfterValidator(schedule)]
Some = AfterValidator(_some)
"""For a list that has to hold something; Field(min_length=1) would complain of wrong items as missing ones."""
Count = Annotated[int, Strict()]
Concurrency = Annotated[int, Strict(), Field(ge=1), AfterValidator(_connections)]
Flag = Annotated[bool, Strict()]
