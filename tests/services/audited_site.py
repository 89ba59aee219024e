"""A site of any size on loopback, with seeded faults in its pages and files: what an audit has to find, and no more.

    python -m tests.services.audited_site URLS REPEAT SLOW_SECONDS

It prints its port and serves until it is killed; a process of its own, so that it does not share the auditor's
interpreter. Every page is made when it is asked for, by its number alone.
"""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

from tests.services.shared import ROOT

HOST = "www.shop.example"
SHARD_URLS = 10_000
HTML = "text/html; charset=utf-8"

Answer = tuple[int, dict[str, str], bytes]


def _page(head: str = "", body: str = "<p>A page.") -> bytes:
    return f"<!DOCTYPE html><html><head><title>x</title>{head}</head><body>{body}</body></html>".encode()


def _html(head: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, {"Content-Type": HTML, **named}, _page(head)


_HUGE = _page(body="x" * (3 << 20))


def _redirect(status: int, to: str) -> Callable[[str], Answer]:
    return lambda root: (status, {"Location": to.format(root=root)}, b"")


FAULTS: dict[str, tuple[list[str], Callable[[str], Answer]]] = {
    "404": (["page-status"], lambda root: (404, {"Content-Type": HTML}, _page())),
    "410": (["page-status"], lambda root: (410, {"Content-Type": HTML}, b"")),
    "500": (["page-status"], lambda root: (500, {}, b"oops")),
    "301": (["loc-redirects"], _redirect(301, "{root}new")),
    "302": (["loc-redirects"], _redirect(302, "/new?a=1")),
    "307": (["loc-redirects"], _redirect(307, "https://elsewhere.example/")),
    "308": (["loc-redirects"], _redirect(308, "new/")),
    "noindex header": (["noindex"], lambda root: _html(X_Robots_Tag="noarchive, NoIndex")),
    "noindex header for googlebot": (["noindex"], lambda root: _html(X_Robots_Tag="otherbot: all, googlebot: none")),
    "noindex meta": (["noindex"], lambda root: _html('<META NAME="Robots" CONTENT="follow,NOINDEX">')),
    "noindex meta for googlebot": (["noindex"], lambda root: _html("<meta content=noindex name=googlebot>")),
    "canonical elsewhere": (["non-canonical"], lambda root: _html(f'<link rel="canonical" href="{root}p/other">')),
    "canonical in a header": (["non-canonical"], lambda root: _html(Link=f'<{root}p/other>; rel="canonical"')),
    "two canonicals": (
        ["non-canonical"],
        lambda root: _html('<link rel=canonical href="?"><link rel=canonical href="/b">'),
    ),
    "forbidden by robots.txt": (["robots-disallowed"], lambda root: _html()),
    "compressed twice": (
        ["gzip-double"],
        lambda root: (200, {"Content-Type": HTML, "Content-Encoding": "gzip"}, gzip.compress(gzip.compress(_page()))),
    ),
    "wrong type": (["page-type"], lambda root: (200, {"Content-Type": "application/octet-stream"}, _page())),
    "text instead of HTML": (["page-type"], lambda root: (200, {"Content-Type": "text/plain"}, _page())),
    "no type": (["page-type"], lambda root: (200, {}, _page())),
    "slow": (["page-slow"], lambda root: _html()),
    "huge": (["page-too-large"], lambda root: (200, {"Content-Type": HTML}, _HUGE)),
    "huge when unpacked": (
        ["page-too-large"],
        lambda root: (200, {"Content-Type": HTML, "Content-Encoding": "gzip"}, gzip.compress(_HUGE)),
    ),
    "cut short": (["page-unreachable"], lambda root: (200, {"Content-Type": HTML, "Content-Length": "9999"}, _page())),
    "noindex and canonical elsewhere": (
        ["noindex", "non-canonical"],
        lambda root: _html(f'<meta name="robots" content="none"><link rel="canonical" href="{root}">'),
    ),
}  # fmt: skip
"""What is wrong with a page: the codes that it has to be found by, and the answer."""

HARMLESS: list[Callable[[str, str], Answer]] = [
    lambda root, own: _html(f'<link rel="canonical" href="{own}">'),
    lambda root, own: _html(f'<base href="{root}p/"><link rel="Canonical" href="{own.rpartition("/")[2]}#top">'),
    lambda root, own: _html(Link=f'<{root}style.css>; rel=preload, <{own}>; rel="canonical"'),
    lambda root, own: _html(f'<link rel="alternate" href="{root}p/other"><link rel="next" href="/p/2">'),
    lambda root, own: _html(X_Robots_Tag="otherbot: noindex, max-snippet:-1", Cache_Control="no-store"),
    lambda root, own: _html('<meta name="robots" content="max-image-preview:none, noarchive">'),
    lambda root, own: _html('<meta name="otherbot" content="noindex"><meta name="description" content="noindex">'),
    lambda root, own: (200, {"Content-Type": HTML, "Content-Encoding": "gzip"}, gzip.compress(_page())),
    lambda root, own: (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7 ..."),
    lambda root, own: (200, {"Content-Type": "text/plain"}, b"plain text that says noindex and <link rel=canonical>"),
    lambda root, own: (200, {"Content-Type": HTML}, _page(body="x" * 1_000_000)),
    lambda root, own: (200, {"Content-Type": "application/xhtml+xml"}, _page()),
]
"""Answers that look a little like faults and are none."""


@dataclass(frozen=True)
class Site:
    """urls: pages listed and readable. repeat: of each fault, spread evenly over the numbers."""

    urls: int
    repeat: int

    def fault(self, number: int) -> str | None:
        stride = self.urls // (len(FAULTS) * self.repeat)
        which, rest = divmod(number, stride)
        return None if rest != stride // 2 or which >= len(FAULTS) * self.repeat else list(FAULTS)[which % len(FAULTS)]

    def path(self, number: int) -> str:
        folder = "private" if self.fault(number) == "forbidden by robots.txt" else "p"
        return f"/{folder}/{number}"

    def shards(self) -> list[range]:
        return [range(start, min(start + SHARD_URLS, self.urls)) for start in range(0, self.urls, SHARD_URLS)]

    def expected(self, root: str) -> dict[tuple[str, str], int]:
        """What is to be found: how often each code is in each place."""
        found: Counter[tuple[str, str]] = Counter()
        for number in range(self.urls):
            for code in FAULTS[fault][0] if (fault := self.fault(number)) else ():
                found[f"{root}{self.path(number)[1:]}", code] += 1
        found[f"{root}shop-double.xml.gz", "gzip-double"] += 1
        found[f"{root}shop-moved.xml.gz", "http-status"] += 1
        found[f"{root}shop-gone.xml.gz", "http-status"] += 1
        found[f"{root}robots.txt", "robots-blocks-sitemap"] += 1
        return dict(found)


ROBOTS = """\
User-agent: *
Disallow: /shop-moved
Disallow: /nothing

User-agent: Googlebot
Disallow: /private/

User-agent: YandexBot
Allow: /

User-agent: otherbot
Disallow: /

Sitemap: {root}sitemap.xml
"""


class Server:
    def __init__(self, site: Site, slow: float, port: int) -> None:
        self._site, self._slow, self._root = site, slow, f"http://{HOST}:{port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                path = request.split(b" ", 2)[1].decode()
                if path.startswith("/p/") and self._fault(path) == "slow":
                    await asyncio.sleep(self._slow)
                status, headers, body = self.answer(path)
                head = "".join(
                    f"{name}: {value}\r\n" for name, value in {"Content-Length": str(len(body)), **headers}.items()
                )
                writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
                await writer.drain()
                if headers.get("Content-Length"):
                    break
        writer.close()

    def _fault(self, path: str) -> str | None:
        number = path.rpartition("/")[2]
        return self._site.fault(int(number)) if number.isdigit() else None

    def answer(self, path: str) -> Answer:
        if path.startswith(("/p/", "/private/")) and path.rpartition("/")[2].isdigit():
            number = int(path.rpartition("/")[2])
            if fault := self._site.fault(number):
                return FAULTS[fault][1](self._root)
            return HARMLESS[number % len(HARMLESS)](self._root, self._root + path[1:])
        return self._file(path)

    def _file(self, path: str) -> Answer:
        if path == "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, ROBOTS.format(root=self._root).encode()
        if path == "/shop-moved.xml.gz":
            return 301, {"Location": "/shop-0.xml.gz"}, b""
        if path == "/sitemap.xml":
            return self._sitemap("application/xml; charset=utf-8", _index(self._site, self._root))
        if path == "/shop-double.xml.gz":
            return self._sitemap("application/gzip", gzip.compress(gzip.compress(_shard(self._site, 0, self._root))))
        if path.startswith("/shop-") and path[6:7].isdigit():
            shard = _shard(self._site, int(path.removeprefix("/shop-").partition(".")[0]), self._root)
            return self._sitemap("application/gzip", gzip.compress(shard))
        return 404, {"Content-Type": HTML}, _page()

    def _sitemap(self, content_type: str, body: bytes) -> Answer:
        return 200, {"Content-Type": content_type, "Cache-Control": "max-age=300"}, body


@cache
def _index(site: Site, root: str) -> bytes:
    names = [*map(str, range(len(site.shards()))), "double", "moved", "gone"]
    entries = "".join(
        f"<sitemap><loc>{root}shop-{name}.xml.gz</loc><lastmod>2026-01-02T03:04:05Z</lastmod></sitemap>"
        for name in names
    )
    return f'<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="{_NS}">{entries}</sitemapindex>'.encode()


def _shard(site: Site, number: int, root: str) -> bytes:
    entries = "".join(f"<url><loc>{root}{site.path(each)[1:]}</loc></url>\n" for each in site.shards()[number])
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{_NS}">{entries}</urlset>'.encode()


_NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


async def _main(urls: int, repeat: int, slow: float) -> None:
    site = Site(urls, repeat)
    handler: list[Server] = []
    server = await asyncio.start_server(lambda reader, writer: handler[0].serve(reader, writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    handler.append(Server(site, slow, port))
    print(port, flush=True)
    await server.serve_forever()


@contextmanager
def audited_site(site: Site, slow: float) -> Iterator[int]:
    """The site in a process of its own; gives the port on loopback."""
    command = [sys.executable, "-m", "tests.services.audited_site", str(site.urls), str(site.repeat), str(slow)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
