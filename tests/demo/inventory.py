"""A shop's inventory as real ones are: mostly clean, with every kind of mess in it. Made by code, always the same.

Products come from a table, pages from a CSV file that a content system exported. Some pages are products once more,
spelled otherwise, so that duplicates cross sections.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

PRODUCTS = 90_000
PAGES = 15_000

BASE = "https://www.demo-shop.example"
START = datetime(2026, 1, 1, tzinfo=UTC)

COLUMNS = ("id", "category", "slug", "updated_at", "changefreq", "priority")
TABLE = """
    DROP TABLE IF EXISTS product;
    CREATE TABLE product (
        id bigint, category text, slug text, updated_at timestamptz, changefreq text, priority text
    )
"""

CATEGORIES = ("shoes", "bags", "coats", "ayakkabı", "обувь", "靴", "sale/winter")
WORDS = ("red", "blue", "wool", "leather", "light", "classic", "city", "trail", "slim", "wide", "kids", "duo")

SLUGS: tuple[Callable[[str], str], ...] = (
    lambda slug: f"  {slug} ",
    lambda slug: slug.replace("-", " "),
    lambda slug: f"çilek-şekeri-ıİ-{slug}",
    lambda slug: f"красные-сапоги-{slug}",
    lambda slug: f"革靴-{slug}",
    lambda slug: f"cafe\u0301-{slug}",
    lambda slug: f"caf%C3%A9-{slug}",
    lambda slug: f"caf%25C3%25A9-{slug}",
    lambda slug: f"100%-wool-{slug}",
    lambda slug: f"100%zz-{slug}",
    lambda slug: f'o\'clock-"{slug}"',
    lambda slug: f"{slug}-<b>&amp;-{{x}}",
    lambda slug: f"{slug}?size=42#top",
    lambda slug: f"../{slug}",
    lambda slug: f"{slug}\u200b",
    lambda slug: f"{slug}\x07",
    lambda slug: f"{slug}\ufffd",
    lambda slug: f"{slug}-{'long-' * 420}",
    lambda slug: "NA",
    lambda slug: "null",
    lambda slug: "123.0",
)
"""What becomes of a product's slug in the rows that are not clean."""

LOCS: tuple[Callable[[str], str], ...] = (
    lambda path: f"{BASE}{path}#section-2",
    lambda path: f"{BASE}{path}?utm_source=mail&utm_medium=x&size=42",
    lambda path: f"{BASE}{path}?gclid=abc",
    lambda path: f"HTTPS://WWW.Demo-Shop.EXAMPLE:443{path}",
    lambda path: f"https://demo-shop.example{path}",
    lambda path: f"http://www.demo-shop.example{path}",
    lambda path: f"https://cdn.elsewhere.example{path}",
    lambda path: f"https://editor:hunter2@www.demo-shop.example{path}",
    lambda path: f"https://www.demo-shop.example:8443{path}",
    lambda path: f"ftp://www.demo-shop.example{path}",
    lambda path: f"javascript:open('{path}')",
    lambda path: f"mailto:shop{path}",
    lambda path: f"//www.demo-shop.example{path}",
    lambda path: f"www.demo-shop.example{path}",
    lambda path: f"{path}/./a/../b",
    lambda path: f"{path}\\windows",
    lambda path: f"\u00a0{path}\t",
    lambda path: f"{path}\nsecond line",
    lambda path: f"{path}?q=a b+c|d^e",
    lambda path: f"/cart{path}",
    lambda path: "https:///no-host",
    lambda path: "",
)
"""What becomes of a page's URL in the rows that are not clean."""

LASTMODS = (
    "2026-02-03", "2026-02-03T04:05:06Z", "2026-02-03T04:05:06+03:00", "2026-02-03T04:05:06.123456789Z",
    "2026-02-03 04:05:06", "2026-02-03T04:05Z", "20260203", "2026-02", "2026", "03.02.2026", "02/03/2026",
    "Tue, 03 Feb 2026 04:05:06 GMT", "1770091506", "0000-00-00 00:00:00", "1969-12-31", "2099-01-01",
    "2026-02-30", "yesterday", "NULL", " 2026-02-03 ", "",
)  # fmt: skip
CHANGEFREQS = ("weekly", "Daily", "her hafta", "haftalık", "ежедневно", "sometimes", "MONTHLY ", "")
PRIORITIES = ("0.5", "0,8", "1", "0.85", "1.5", "-1", "high", "")


def products(count: int = PRODUCTS) -> Iterator[tuple[Any, ...]]:
    """Rows of the table `product`, COLUMNS; about one in forty is messy, and a few have no id."""
    for number in range(1, count + 1):
        slug = _slug(number)
        if number % 40 == 0:
            slug = SLUGS[number // 40 % len(SLUGS)](slug)
        yield (
            None if number % 997 == 0 else number,
            CATEGORIES[number % 7],
            slug,
            None if number % 50 == 0 else START + timedelta(minutes=number * 7919 % 400_000),
            CHANGEFREQS[number % 8] if number % 20 == 0 else "weekly",
            PRIORITIES[number % 8] if number % 30 == 0 else "0.6",
        )


def _slug(number: int) -> str:
    return f"{WORDS[number % 12]}-{WORDS[number // 12 % 12]}-{WORDS[number // 144 % 12]}"


def pages(count: int = PAGES) -> Iterator[tuple[str, ...]]:
    """Rows url, modified, freq, prio; one in ten is messy, one in fifty is a product spelled otherwise."""
    for number in range(1, count + 1):
        if number % 50 == 1:
            product = f"{CATEGORIES[number % 7]}/{_slug(number)}-{number}"
            url = f"HTTPS://WWW.Demo-Shop.EXAMPLE:443/./{product}?utm_source=mail#top"
        else:
            path = f"/pages/{WORDS[number % 12]}/{number}"
            url = LOCS[number // 10 % len(LOCS)](path) if number % 10 == 0 else path
        yield url, LASTMODS[number % 21], CHANGEFREQS[number % 8], PRIORITIES[number % 8]


def load_products(database: str, count: int = PRODUCTS) -> None:
    """Make the table anew, from whatever an earlier, perhaps interrupted, run left of it."""
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(TABLE)
        with cursor.copy(f"COPY product ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for row in products(count):
                copy.write_row(row)


def write_pages(path: Path, count: int = PAGES) -> None:
    """The CSV file; some of its lines have a field too many or too few."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)
        out.writerow(("url", "modified", "freq", "prio"))
        for number, row in enumerate(pages(count), 1):
            if number % 700 == 0:
                out.writerow(row[: 2 + number % 4 * 2])
            else:
                out.writerow(row)
