"""What is said about the robots.txt beside a sitemap: does it name it, or forbid it (P-48, G-14, Y-23)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sitemap_ops.engines import profile
from sitemap_ops.reading.record import Record
from sitemap_ops.reading.robots import Robots

MAX_BYTES = 512_000
MAX_YANDEX_RULES = 2_048
_RULE = re.compile(r"\s*(?:dis)?allow\s*:", re.IGNORECASE)


def judge_robots(
    robots: Robots, url: str, kind: str | None, engines: Sequence[str], others: Iterable[str] = ()
) -> Record:
    """url: of the sitemap that was asked for (its name where the URL is not known). kind: what it turned out to be.

    others: URLs of the files that it lists, which must not be forbidden either.
    """
    record = Record(robots.location, engines)
    listed = robots.sitemaps()
    for line, value in listed:
        if not re.match(r"(?i)https?://[^/]", value):
            record.add("robots-sitemap-relative", value=value, line=line)
    if not robots.names(url) and not (listed and kind != "index"):
        record.add("robots-sitemap-missing", value=url)
    text = robots.text or ""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        record.add("robots-too-large")
    if "yandex" in engines and sum(map(bool, map(_RULE.match, text.splitlines()))) > MAX_YANDEX_RULES:
        record.add("robots-too-large", message="robots.txt has more than the 2,048 rules that Yandex reads.")
    if robots.text is not None and "://" in url:
        _blocks(robots.text, [url, *others], engines, record)
    return record


def _blocks(text: str, urls: Sequence[str], engines: Sequence[str], record: Record) -> None:
    from protego import Protego

    rules = Protego.parse(text)
    for url in urls:
        for name in engines or ("core",):
            robot = profile(name).robot
            if not rules.can_fetch(url, robot):
                who = "every robot" if robot == "*" else robot
                record.add("robots-blocks-sitemap", value=url, message=f"robots.txt forbids the sitemap to {who}.")
    if not rules.can_fetch(re.sub(r"^(\w+://[^/?#]*).*", r"\1/", urls[0]), "Yeti"):
        record.add("robots-blocks-yeti")
