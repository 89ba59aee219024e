"""Files that mean harm: each a clear finding, soon, in bounded memory, without a look at anything else (P-25, P-33, S3-08)."""

# ruff: noqa: E501 - one file, one line

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.shared import ROOT
from tests.unit.validating import EXTENSIONS, NS, gz, page, pages, urlset

pytestmark = pytest.mark.slow

MAX_GROWTH_MIB = 50
HANG_SECONDS = 30
"""Far above the second that is asked for, so that a busy machine fails nothing; `benchmarks/` measures."""
GOOD = pages("https://shop.example/a")
HEAD = f'<?xml version="1.0"?><urlset xmlns="{NS}">'.encode()
MIB = 1_048_576


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


LAUGHS = "[" + '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)) + "]"
QUADRATIC = f'[<!ENTITY a "{"A" * 50_000}">]'
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "entity-bomb.xml": (lambda: doctype(LAUGHS, "&a9;"), "doctype"),
    "quadratic-bomb.xml": (lambda: doctype(QUADRATIC, "&a;" * 5_000), "doctype"),
    "external-file.xml": (lambda: doctype('[<!ENTITY x SYSTEM "file:///etc/passwd">]'), "doctype"),
    "external-http.xml": (lambda: doctype('[<!ENTITY x SYSTEM "http://127.0.0.1:9/">]'), "doctype"),
    "external-dtd.xml": (lambda: doctype('SYSTEM "http://127.0.0.1:9/dtd"', "https://shop.example/"), "doctype"),
    "public-dtd.xml": (lambda: doctype('PUBLIC "-//W3C//DTD" "http://127.0.0.1:9/dtd"', "https://shop.example/"), "doctype"),
    "parameter-entity.xml": (lambda: doctype('[<!ENTITY % p SYSTEM "http://127.0.0.1:9/pe"> %p;]', "https://shop.example/"), "doctype"),
    "internal-entity.xml": (lambda: doctype('[<!ENTITY x "https://evil.example/">]'), "doctype"),
    "undefined-entity.xml": (lambda: pages("https://shop.example/&nbsp;"), "xml-parse"),
    "xinclude.xml": (lambda: urlset('<url><loc><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/></loc></url>'), "unknown-extension"),
    "deep.xml": (lambda: b"<urlset>" + b"<a>" * 500_000, "too-deep"),
    "deep-in-entry.xml": (lambda: HEAD + b"<url>" + b"<x>" * 200_000, "too-deep"),
    "huge-attribute.xml": (lambda: HEAD + b'<url x="' + b"a" * 100 * MIB + b'"/></urlset>', "too-big-item"),
    "huge-root-attribute.xml": (lambda: b'<urlset x="' + b"a" * 100 * MIB, "too-big-item"),
    "many-attributes.xml": (lambda: HEAD + b"<url " + b" ".join(b'a%d="1"' % n for n in range(400_000)) + b"/></urlset>", "too-big-item"),
    "huge-text.xml": (lambda: HEAD + b"<url><loc>" + b"h" * 60 * MIB + b"</loc></url></urlset>", "too-big-item"),
    "huge-comment.xml": (lambda: HEAD + b"<!--" + b"c" * 60 * MIB + b"--></urlset>", "too-big-item"),
    "huge-prolog-comment.xml": (lambda: b"<!--" + b"c" * 60 * MIB + b"-->" + GOOD, "too-big-item"),
    "huge-cdata.xml": (lambda: HEAD + b"<url><loc><![CDATA[" + b"c" * 60 * MIB, "too-big-item"),
    "huge-name.xml": (lambda: b"<" + b"n" * 60 * MIB, "too-big-item"),
    "huge-entry.xml": (lambda: HEAD + b"<url>" + b"<a/>" * 12 * MIB, "too-big-item"),
    "many-images.xml": (lambda: urlset(page(rest="<image:image/>" * 20_000), attributes=EXTENSIONS), "too-many-images"),
    "tiny-entries.xml": (lambda: HEAD + b"<url/>" * 8 * MIB, "too-many-urls"),
    "many-names.xml": (lambda: HEAD + b"<url>" + b"".join(b"<n%d/>" % n for n in range(50_000)) + b"</url></urlset>", "unknown-tag"),
    "many-namespaces.xml": (lambda: HEAD + b"".join(b'<url xmlns:n%d="u%d"><n%d:x/></url>' % (n, n, n) for n in range(20_000)) + b"</urlset>", "unknown-extension"),
    "many-hosts.xml": (lambda: pages(*(f"https://h{n}.example/" for n in range(20_000))), "foreign-host"),
    "gzip-1000-fold.xml.gz": (lambda: bomb(100), "too-large"),
    "gzip-1000-fold-inside.xml.gz": (lambda: bomb(100, start=HEAD), "too-large"),
    "gzip-of-zeros.xml.gz": (lambda: bomb(100, filler=b"\0"), "unsupported-format"),
    "gzip-nested.xml.gz": (lambda: bomb(100, layers=2), "gzip-double"),
    "gzip-thrice.xml.gz": (lambda: gz(gz(gz(GOOD))), "gzip-double"),
    "gzip-cut.xml.gz": (lambda: gz(GOOD)[:40], "gzip-corrupt"),
    "gzip-header-only.xml.gz": (lambda: gz(GOOD)[:5], "gzip-corrupt"),
    "gzip-wrong-sum.xml.gz": (lambda: gz(GOOD)[:-6] + b"\0" * 6, "gzip-corrupt"),
    "gzip-flipped.xml.gz": (lambda: gz(GOOD)[:20] + b"\xff\xff\xff\xff" + gz(GOOD)[24:], "gzip-corrupt"),
    "gzip-many-members.xml.gz": (lambda: b"".join(gz(HEAD if n == 0 else page().encode()) for n in range(20_000)), "gzip-multi-member"),
    "gzip-garbage.xml.gz": (lambda: gz(GOOD) + b"x" * 1_000, "gzip-trailing-garbage"),
    "zip.xml.gz": (lambda: b"PK\x03\x04" + b"\0" * 100, "gzip-corrupt"),
    "utf-16.xml": (lambda: GOOD.decode().encode("utf-16"), "encoding"),
    "utf-32.xml": (lambda: GOOD.decode().encode("utf-32"), "encoding"),
    "declares-utf-16.xml": (lambda: GOOD.replace(b"UTF-8", b"UTF-16"), "encoding"),
    "declares-zip.xml": (lambda: GOOD.replace(b"UTF-8", b"zip"), "encoding"),
    "invalid-utf-8.xml": (lambda: GOOD.replace(b"/a", b"/\xc3\x28"), "encoding"),
    "nul.xml": (lambda: GOOD.replace(b"/a", b"/\0"), "xml-parse"),
    "white.xml": (lambda: b" \n" * 30 * MIB, "too-large"),
    "binary.xml": (lambda: bytes(range(256)) * 4_000, "unsupported-format"),
    "one-line.txt": (lambda: b"https://shop.example/" + b"a" * 60 * MIB, "too-big-item"),
    "no-urls.txt": (lambda: b"x\n" * 1_000_000, "txt-line-not-url"),
    "html.xml": (lambda: b"<!doctype html><html><body>404</body></html>", "html-instead-of-xml"),
    "empty.xml": (lambda: b"", "empty-file"),
    "loop.xml": (lambda: f'<sitemapindex xmlns="{NS}"><sitemap><loc>https://shop.example/loop.xml</loc></sitemap></sitemapindex>'.encode(), "nested-index"),
    "climbing.xml": (lambda: f'<sitemapindex xmlns="{NS}"><sitemap><loc>https://shop.example/../../../etc/passwd</loc></sitemap></sitemapindex>'.encode(), "child-missing"),
}  # fmt: skip

CHILD = """
import json, re, socket, sys, time
from pathlib import Path
from sitemap_ops.validate import validate

def refuse(*_, **__):
    raise AssertionError("the network was used")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse

def memory(name):
    # Not ru_maxrss, which a child has from its parent.
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

folder = Path(sys.argv[1])
validate(folder / "warm-up.xml.gz")
validate(folder / "warm-up.txt")
for name in sys.argv[2:]:
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = memory("VmRSS"), time.perf_counter()
    found = validate(folder / name)
    seconds, growth = time.perf_counter() - start, memory("VmHWM") - before
    print(json.dumps({"name": name, "seconds": seconds, "growth": growth, "codes": sorted(code for _, code in found.counts),
                      "shown": sum(len(str(one)) for one in found.findings)}), flush=True)
"""


@dataclass(frozen=True)
class Seen:
    seconds: float
    growth: float
    codes: list[str]
    shown: int


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Seen]]:
    """What one process makes of each file, and how far its memory grows for it."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is measured by Linux's /proc")
    folder = tmp_path_factory.mktemp("hostile")
    for name, (body, _) in FILES.items():
        (folder / name).write_bytes(body())
    (folder / "warm-up.xml.gz").write_bytes(gz(GOOD))
    (folder / "warm-up.txt").write_bytes(b"https://shop.example/\n")
    arguments = [sys.executable, "-c", CHILD, str(folder), *FILES]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2_000:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    yield {row.pop("name"): Seen(**row) for row in rows}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file(name: str, results: dict[str, Seen]) -> None:
    """Issue 3: a clear finding, within bounds of time and memory, and a report that stays small."""
    seen = results[name]
    assert FILES[name][1] in seen.codes
    assert seen.growth < MAX_GROWTH_MIB
    assert seen.seconds < HANG_SECONDS
    assert seen.shown < 100_000


def test_no_entity_is_looked_at(results: dict[str, Seen]) -> None:
    """P-25: a DOCTYPE ends the reading, so that nothing is said about what follows it."""
    assert results["external-file.xml"].codes == ["doctype"]
