"""Files that mean harm, and what one process makes of them: its words, its time, its memory, and what else it touched."""

# ruff: noqa: E501 - one file, one line

from __future__ import annotations

import gzip
import io
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.services.shared import ROOT
from tests.unit.validating import EXTENSIONS, NS, gz, page, pages, urlset

GOOD = pages("https://shop.example/a")
HEAD = f'<?xml version="1.0"?><urlset xmlns="{NS}">'.encode()
TAIL = b"</urlset>"
INDEX = f'<sitemapindex xmlns="{NS}">'.encode()
MIB = 1_048_576
WEB, DISK = b"http://127.0.0.1:9/", b"file:///etc/passwd"
"""What files name that nobody may ask: `write` puts a canary's address and path for these."""
SECRET = "s3cr3t-of-the-disk"


def doctype(internal: str, value: str = "&x;") -> bytes:
    return f'<?xml version="1.0"?><!DOCTYPE urlset {internal}><urlset xmlns="{NS}"><url><loc>{value}</loc></url></urlset>'.encode()


def bomb(mib: int, layers: int = 1, start: bytes = b"", filler: bytes = b" ") -> bytes:
    """gzip of so many MiB of one character: about 1,000-fold a layer."""
    body = io.BytesIO()
    with gzip.GzipFile(fileobj=body, mode="wb", mtime=0) as file:
        file.write(start)
        for _ in range(mib):
            file.write(filler * MIB)
    packed = body.getvalue()
    for _ in range(layers - 1):
        packed = gz(packed)
    return packed


def locs(*texts: bytes) -> bytes:
    """Entries that have a loc and nothing else; the text as it stands in the file."""
    return HEAD + b"".join(b"<url><loc>%b</loc></url>" % text for text in texts) + TAIL


LAUGHS = "[" + '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)) + "]"
QUADRATIC = f'[<!ENTITY a "{"A" * 50_000}">]'
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    # What a DOCTYPE can do, and what else looks elsewhere (P-25)
    "entity-bomb.xml": (lambda: doctype(LAUGHS, "&a9;"), "doctype"),
    "quadratic-bomb.xml": (lambda: doctype(QUADRATIC, "&a;" * 5_000), "doctype"),
    "external-file.xml": (lambda: doctype(f'[<!ENTITY x SYSTEM "{DISK.decode()}">]'), "doctype"),
    "external-http.xml": (lambda: doctype(f'[<!ENTITY x SYSTEM "{WEB.decode()}">]'), "doctype"),
    "external-dtd.xml": (lambda: doctype(f'SYSTEM "{WEB.decode()}dtd"', "https://shop.example/"), "doctype"),
    "public-dtd.xml": (lambda: doctype(f'PUBLIC "-//W3C//DTD" "{WEB.decode()}dtd"', "https://shop.example/"), "doctype"),
    "parameter-entity.xml": (lambda: doctype(f'[<!ENTITY % p SYSTEM "{WEB.decode()}pe"> %p;]', "https://shop.example/"), "doctype"),
    "internal-entity.xml": (lambda: doctype('[<!ENTITY x "https://evil.example/">]'), "doctype"),
    "undefined-entity.xml": (lambda: pages("https://shop.example/&nbsp;"), "xml-parse"),
    "xinclude.xml": (lambda: urlset(f'<url><loc><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{DISK.decode()}" parse="text"/></loc></url>'), "unknown-extension"),
    "schema-location.xml": (lambda: urlset(page(), attributes=f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{NS} {WEB.decode()}other.xsd"'), "schema-location"),
    "stylesheet.xml": (lambda: b'<?xml-stylesheet type="text/xsl" href="' + WEB + b'x.xsl"?>' + pages("/a").partition(b"\n")[2], "loc-not-absolute"),
    # Depth, width and length
    "deep.xml": (lambda: b"<urlset>" + b"<a>" * 500_000, "too-deep"),
    "deep-in-entry.xml": (lambda: HEAD + b"<url>" + b"<x>" * 200_000, "too-deep"),
    "deep-again-and-again.xml": (lambda: HEAD + (b"<url>" + b"<a>" * 29 + b"</a>" * 29 + b"</url>") * 60_000 + TAIL, "too-big-item"),
    "huge-attribute.xml": (lambda: HEAD + b'<url x="' + b"a" * 100 * MIB + b'"/></urlset>', "too-big-item"),
    "huge-root-attribute.xml": (lambda: b'<urlset x="' + b"a" * 100 * MIB, "too-big-item"),
    "many-attributes.xml": (lambda: HEAD + b"<url " + b" ".join(b'a%d="1"' % n for n in range(400_000)) + b"/></urlset>", "too-big-item"),
    "many-wide-tags.xml": (lambda: HEAD + b"".join(b"<url " + b" ".join(b'a%d="1"' % n for n in range(90_000)) + b"/>" for _ in range(10)) + TAIL, "too-big-item"),
    "huge-text.xml": (lambda: HEAD + b"<url><loc>" + b"h" * 60 * MIB + b"</loc></url></urlset>", "too-big-item"),
    "many-huge-texts.xml": (lambda: locs(*["\U0001f600".encode() + b"a" * 1_000_000] * 40), "too-big-item"),
    "huge-comment.xml": (lambda: HEAD + b"<!--" + b"c" * 60 * MIB + b"--></urlset>", "too-big-item"),
    "huge-prolog-comment.xml": (lambda: b"<!--" + b"c" * 60 * MIB + b"-->" + GOOD, "too-big-item"),
    "huge-cdata.xml": (lambda: HEAD + b"<url><loc><![CDATA[" + b"c" * 60 * MIB, "too-big-item"),
    "huge-name.xml": (lambda: b"<" + b"n" * 60 * MIB, "too-big-item"),
    "huge-namespaces.xml": (lambda: HEAD + b"".join(b'<url xmlns="%b%d"><loc/></url>' % (b"u" * 900_000, n) for n in range(20)) + TAIL, "too-big-item"),
    "huge-entry.xml": (lambda: HEAD + b"<url>" + b"<a/>" * 12 * MIB, "too-big-item"),
    "many-images.xml": (lambda: urlset(page(rest="<image:image/>" * 20_000), attributes=EXTENSIONS), "too-many-images"),
    "tiny-entries.xml": (lambda: HEAD + b"<url/>" * 8 * MIB, "too-many-urls"),
    "feed-of-nothing.xml": (lambda: b"<rss><channel>" + b"<x/>" * 3 * MIB, "too-many-urls"),
    "feed-without-end.xml": (lambda: b"<rss><channel>" + b"<item><link>https://shop.example/</link></item>" * 300_000, "too-many-urls"),
    "many-names.xml": (lambda: HEAD + b"<url>" + b"".join(b"<n%d/>" % n for n in range(50_000)) + b"</url></urlset>", "too-big-item"),
    "many-namespaces.xml": (lambda: HEAD + b"".join(b'<url xmlns:n%d="u%d"><n%d:x/></url>' % (n, n, n) for n in range(20_000)) + b"</urlset>", "too-big-item"),
    "many-prefixes-of-one.xml": (lambda: HEAD + b"".join(b'<url xmlns:n%d="u"><loc>https://shop.example/</loc></url>' % n for n in range(90_000)) + TAIL, "too-big-item"),
    "many-hosts.xml": (lambda: pages(*(f"https://h{n}.example/" for n in range(20_000))), "foreign-host"),
    "many-odd-hosts.xml": (lambda: pages(*(f"https://{'ü' * 40}{n}.example/" for n in range(40_000))), "foreign-host"),
    "many-users.xml": (lambda: pages(*(f"https://{n}@{'x@' * 200}/" for n in range(20_000))), "url-userinfo"),
    "odd-dates.xml": (lambda: urlset(*(page(f"https://shop.example/{n}", f"<lastmod>2026-12-01T{n:010}</lastmod>") for n in range(90_000))), "lastmod-format"),
    # Patterns that cost more than their length
    "comments-before-the-root.xml": (lambda: b"<!---->" * 580 + GOOD, "xml-parse"),
    "quotes.xml": (lambda: HEAD + b"<url><loc>" + b'"' * 900_000 + b"</loc></url>" + TAIL, "loc-too-long"),
    "angles.xml": (lambda: HEAD + b"<url><loc>" + b">" * 900_000 + b"</loc></url>" + TAIL, "loc-too-long"),
    "small-comments.xml": (lambda: HEAD + b"<!---->" * 2 * MIB + TAIL, "empty-sitemap"),
    "small-instructions.xml": (lambda: HEAD + b"<?a?>" * 2 * MIB + TAIL, "empty-sitemap"),
    "small-cdata.xml": (lambda: HEAD + b"<![CDATA[&]]>" * MIB + TAIL, "stray-text"),
    "character-references.xml": (lambda: locs(*[b"&#65;" * 2_400] * 800), "loc-not-absolute"),
    "no-characters.xml": (lambda: locs(*[b"&#55356;" * 1_500] * 800), "xml-parse"),
    "html-references.xml": (lambda: locs(*[b"&nbsp;" * 2_000] * 800), "xml-parse"),
    "any-references.xml": (lambda: locs(*[b"".join(b"&#%d;" % n for n in range(60_000, 61_200))] * 800), "loc-too-long"),
    "percents.xml": (lambda: locs(*[b"https://shop.example/" + b"%" * 12_000] * 1_500), "loc-too-long"),
    "dots.xml": (lambda: locs(*[b"https://shop.example" + b"/.." * 1_200] * 5_000), "dot-segments"),
    # gzip (P-33, S3-08)
    "gzip-1000-fold.xml.gz": (lambda: bomb(100), "too-large"),
    "gzip-1000-fold-inside.xml.gz": (lambda: bomb(100, start=HEAD), "too-large"),
    "gzip-1000-fold-urls.xml.gz": (lambda: gz(HEAD + page().encode() * 300_000), "too-many-urls"),
    "gzip-of-zeros.xml.gz": (lambda: bomb(100, filler=b"\0"), "unsupported-format"),
    "gzip-nested.xml.gz": (lambda: bomb(100, layers=2), "gzip-double"),
    "gzip-thrice.xml.gz": (lambda: gz(gz(gz(GOOD))), "gzip-double"),
    "gzip-cut.xml.gz": (lambda: gz(GOOD)[:40], "gzip-corrupt"),
    "gzip-header-only.xml.gz": (lambda: gz(GOOD)[:5], "gzip-corrupt"),
    "gzip-endless-name.xml.gz": (lambda: b"\x1f\x8b\x08\x08\0\0\0\0\0\x03" + b"n" * 20 * MIB, "gzip-corrupt"),
    "gzip-wrong-sum.xml.gz": (lambda: gz(GOOD)[:-6] + b"\0" * 6, "gzip-corrupt"),
    "gzip-flipped.xml.gz": (lambda: gz(GOOD)[:20] + b"\xff\xff\xff\xff" + gz(GOOD)[24:], "gzip-corrupt"),
    "gzip-many-members.xml.gz": (lambda: b"".join(gz(HEAD if n == 0 else page().encode()) for n in range(20_000)), "gzip-multi-member"),
    "gzip-empty-members.xml.gz": (lambda: gz(b"") * 1_000_000, "gzip-corrupt"),
    "gzip-garbage.xml.gz": (lambda: gz(GOOD) + b"x" * 1_000, "gzip-trailing-garbage"),
    "zip.xml.gz": (lambda: b"PK\x03\x04" + b"\0" * 100, "gzip-corrupt"),
    # Encodings (P-20)
    "utf-16.xml": (lambda: GOOD.decode().encode("utf-16"), "encoding"),
    "utf-32.xml": (lambda: GOOD.decode().encode("utf-32"), "encoding"),
    "declares-utf-16.xml": (lambda: GOOD.replace(b"UTF-8", b"UTF-16"), "encoding"),
    "declares-utf-7.xml": (lambda: GOOD.replace(b"UTF-8", b"UTF-7"), "encoding"),
    "declares-zip.xml": (lambda: GOOD.replace(b"UTF-8", b"zip"), "encoding"),
    "declares-latin.xml": (lambda: GOOD.replace(b"UTF-8", b"ISO-8859-9").replace(b"/a", "/ş".encode()), "encoding"),
    "invalid-utf-8.xml": (lambda: GOOD.replace(b"/a", b"/\xc3\x28"), "encoding"),
    "nul.xml": (lambda: GOOD.replace(b"/a", b"/\0"), "xml-parse"),
    # Other things than sitemaps
    "white.xml": (lambda: b" \n" * 30 * MIB, "too-large"),
    "white-inside.xml": (lambda: HEAD + b" \n" * 24 * MIB + TAIL, "empty-sitemap"),
    "binary.xml": (lambda: bytes(range(256)) * 4_000, "unsupported-format"),
    "one-line.txt": (lambda: b"https://shop.example/" + b"a" * 60 * MIB, "too-big-item"),
    "long-lines.txt": (lambda: (b"https://shop.example/" + b"a" * 100_000 + b"\n") * 300, "too-big-item"),
    "no-urls.txt": (lambda: b"x\n" * 10_000_000, "unsupported-format"),
    "no-lines.txt": (lambda: b"https://shop.example/?a&amp;b" + b"\n" * 20 * MIB, "txt-entity"),
    "html.xml": (lambda: b"<!doctype html><html><body>404</body></html>", "html-instead-of-xml"),
    "empty.xml": (lambda: b"", "empty-file"),
    "loop.xml": (lambda: INDEX + b"<sitemap><loc>https://shop.example/loop.xml</loc></sitemap></sitemapindex>", "nested-index"),
    "climbing.xml": (lambda: INDEX + b"<sitemap><loc>https://shop.example/../../../etc/passwd</loc></sitemap></sitemapindex>", "child-missing"),
    "of-nothing.xml": (lambda: INDEX + b"".join(b"<sitemap><loc>https://shop.example/a/b/c/d/%d.xml</loc></sitemap>" % n for n in range(50_000)) + b"</sitemapindex>", "child-missing"),
}  # fmt: skip
"""By name: what makes the file, and the code of a finding that `validate` has to have."""

UNFINISHED: dict[str, Callable[[], bytes]] = {
    "many-cdata.xml": lambda: HEAD + b"<![CDATA[" * 5 * MIB,
    "many-comments.xml": lambda: HEAD + b"<!--" * 10 * MIB,
    "many-instructions.xml": lambda: HEAD + b"<?" * 20 * MIB,
    "many-spaced.xml": lambda: HEAD + b"< " * 20 * MIB,
    "many-tags.xml": lambda: HEAD + b"<a" * 20 * MIB,
    "one-capital-name.xml": lambda: HEAD + b"<" + b"A" * 40 * MIB,
    "many-references.xml": lambda: HEAD + b"<url><loc>" + b"&" * MIB + b"</loc></url></urlset>",
    "many-prefixes.xml": lambda: HEAD + b"".join(b"<p%d:a/>" % n for n in range(100_000)),
    "prolog.xml": lambda: b"<!" * 20 * MIB,
    "many-roots.xml": lambda: b"<urlset " * 5 * MIB,
    "cdata-bomb.xml.gz": lambda: gz(HEAD + b"<url><loc><![CDATA[" + b"&" * 40 * MIB),
}
"""Beginnings without an end, and what grows when it is mended: 40 MiB of each, about as much as is ever read."""

READ = {
    "schema-location.xml": 1,
    "stylesheet.xml": 1,
    "many-images.xml": 1,
    "many-hosts.xml": 20_000,
    "many-odd-hosts.xml": 40_000,
    "many-users.xml": 20_000,
    "odd-dates.xml": 90_000,
    "comments-before-the-root.xml": 1,
    "quotes.xml": 1,
    "angles.xml": 1,
    "character-references.xml": 800,
    "percents.xml": 1_500,
    "dots.xml": 5_000,
    "gzip-garbage.xml.gz": 1,
    "invalid-utf-8.xml": 1,
    "undefined-entity.xml": 1,
    "nul.xml": 1,
    "utf-16.xml": 1,
    "utf-32.xml": 1,
    "declares-utf-16.xml": 1,
    "declares-latin.xml": 1,
    "no-lines.txt": 1,
}
"""The files that hold URLs all the same, and how many `import` reads; from the others nothing is imported."""

CHILD = """
import json, os, re, sys, time
from pathlib import Path

command, folder, secret, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:]

if command == "validate":
    from sitemap_ops.validate import validate

    def said(name):
        found = validate(folder / name)
        codes = sorted(code for _, code in found.counts)
        return {"codes": codes, "urls": found.urls, "told": "".join(map(str, found.findings))}
else:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.errors import SitemapOpsError
    from sitemap_ops.importing import import_sitemap

    def said(name):
        try:
            urls = import_sitemap(str(folder / name), folder / "out.csv", EnvironmentConnections()).urls
            return {"codes": [], "urls": urls, "told": ""}
        except SitemapOpsError as error:
            return {"codes": [], "urls": None, "told": str(error)}

def guard(event, arguments):
    if event.startswith("socket.") or (event == "open" and arguments[0] == secret):
        raise AssertionError(f"{event} {arguments}")

def memory(name):
    # Not ru_maxrss, which a child has from its parent.
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

said("warm-up.xml.gz")
said("warm-up.txt")
sys.addaudithook(guard)
for name in names:
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start, used = memory("VmRSS"), time.perf_counter(), time.process_time()
    outcome = said(name)
    outcome |= {"seconds": time.perf_counter() - start, "cpu": time.process_time() - used}
    print(json.dumps({"name": name, "growth": memory("VmHWM") - before, **outcome}), flush=True)
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a file: codes and text of findings, or of the error; MiB of growth; wall and CPU seconds."""

    name: str
    codes: list[str]
    urls: int | None
    told: str
    growth: float
    seconds: float
    cpu: float


def outcomes(command: str, files: Iterable[tuple[str, Callable[[], bytes]]], folder: Path) -> list[Outcome]:
    """Have one process, after a warm-up, `validate` or `import` each file.

    It fails where a socket is made or asked, or the secret file is opened; a canary listens where the files point to.
    """
    if not Path("/proc/self/clear_refs").exists():
        raise NotImplementedError("Memory is measured by Linux's /proc.")
    secret = folder / "secret"
    secret.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        web = b"http://127.0.0.1:%d/" % canary.getsockname()[1]
        names = []
        for name, make in files:
            body = make()
            if len(body) < 10_000:
                body = body.replace(WEB, web).replace(DISK, secret.as_uri().encode())
            (folder / name).write_bytes(body)
            names.append(name)
        (folder / "warm-up.xml.gz").write_bytes(gz(GOOD))
        (folder / "warm-up.txt").write_bytes(b"https://shop.example/\n")
        call = [sys.executable, "-c", CHILD, command, str(folder), str(secret), *names]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr[-2_000:]
        try:
            raise AssertionError(f"{canary.accept()[1]} asked for what a file names")
        except BlockingIOError:
            pass
    return [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]
