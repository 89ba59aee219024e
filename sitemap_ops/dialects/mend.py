"""What is nearly XML as XML: bytes in, bytes out, of sitemaps that were written, translated or pasted by hand.

Knows only what sitemaps suffer from. What it leaves broken, the parser behind it reports with its line; so line feeds
stay where they are. Every pattern is bounded, so that no text takes longer than its length.
"""

from __future__ import annotations

import html.entities
import re
from collections import Counter
from collections.abc import Iterator

from sitemap_ops.reading.elements import NAMESPACES
from sitemap_ops.reading.sax import MAX_TOKEN_BYTES
from sitemap_ops.reading.stop import Stop

KNOWN_TAGS = {
    *("urlset", "sitemapindex", "sitemap", "url", "loc", "lastmod", "changefreq", "priority"),
    *("rss", "channel", "item", "link", "feed", "entry", "updated"),
}
USUAL_PREFIXES = {ours.rstrip(":"): uri for uri, ours in NAMESPACES.items() if ours} | {
    "xsi": "http://www.w3.org/2001/XMLSchema-instance"
}
REPLACEMENT = "\ufffd"
MAX_PREFIXES = 100
"""Undeclared ones of a file: no sitemap has a tenth of them."""
MAX_SECTIONS = 250_000
"""Comments, instructions and intricate CDATA of a file: five for each page that a sitemap may hold."""
MAX_REFERENCES = 400_000
"""References to other characters than XML's five and plain numbers: eight for each page."""
FEW = 100

_OPENING = re.compile(rb"<(?:!--|!\[CDATA\[|\s{0,8}\?)")
_INTRICATE = re.compile(rb"<!\[CDATA\[[^<>&\]]*+(?!\]\]>)")
_CLOSING = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_UNUSUAL_TAG = re.compile(r"<(?!/?(?:url|loc|lastmod|changefreq|priority|sitemap)>)")
"""Most have none: then there is nothing to mend about tags."""
_SPACED_TAG = re.compile(r"<(?:\s{1,8}(/?)\s{0,8}|(/)\s{1,8})(?=[A-Za-z_])")
_CAPITAL_TAG = re.compile(r"(</?(?:[A-Za-z_][\w.-]{0,40}:)?)([a-z]{0,16}[A-Z][A-Za-z]{0,16})(?=[\s/>])")
_NAMED = r"#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,8}|[A-Za-z][A-Za-z0-9]{1,31}"
_BARE_AMPERSAND = re.compile(rf"&(?!(?:{_NAMED});)")
_PLAIN_NUMBER = (
    r"#(?:3[2-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-4][0-9]{4})"
    r"|#x(?:[2-9A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}|[1-9A-Ca-c][0-9A-Fa-f]{3})"
)
"""Numbers of characters that any XML reader takes; not all."""
_OTHER_REFERENCE = re.compile(rf"&(?!(?:amp|lt|gt|quot|apos|{_PLAIN_NUMBER});)({_NAMED});")
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r")
_CONTROL = re.compile("[" + re.escape(_CONTROLS.decode()) + "\ufffe\uffff]")
_TAG_PREFIX = re.compile(r"(</?)([A-Za-z_][\w.-]{0,64}):(?=[A-Za-z_])")
_DECLARED_PREFIX = re.compile(r"xmlns:([A-Za-z_][\w.-]{0,64})\s?=")
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]{0,128})((?:[\s/][^>]*)?)>")
_ATTRIBUTES = re.compile(r"(?:\s+[\w.:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*/?")
_DECLARATION = re.compile(r"""xmlns(?::([A-Za-z_][\w.-]*))?\s*=\s*(?:"([^"]*)"|'([^']*)'|[‘-‟′″]?([^\s"'‘-‟′″]*))""")


def mend(chunks: Iterator[bytes], repairs: Counter[str]) -> Iterator[bytes]:
    """The same document, as nearly well-formed as it can be made, without comments, CDATA and processing instructions.

    chunks: UTF-8 as far as it is; from the first `<` on. repairs: counts by code: `xml-declaration`, `leading-text`,
    `root-tag`, `tag-space` and `tag-case` (P-24), `undeclared-prefix`, `bare-ampersand` (P-21), `html-entity`,
    `control-character` (P-23) and `not-utf-8` (P-20). A character that can't be kept becomes U+FFFD, by which a later
    judgement knows the value. Raises Stop: `doctype` (P-25), `too-big-item`.
    """
    references = _References(repairs)
    pieces = (references.resolve(_characters(piece, repairs)) for piece in _pieces(chunks, repairs))
    start, prefixes = _root(pieces, repairs)
    yield start.encode("utf-8")
    for piece in pieces:
        yield prefixes.bound(piece).encode("utf-8")


def _pieces(chunks: Iterator[bytes], repairs: Counter[str]) -> Iterator[bytes]:
    """The document without its sections, in pieces that cut none of its tags and references."""
    held = b""
    sections = 0
    for chunk in chunks:
        held, whole, found = _without_sections(_unwrapped(held + chunk), repairs)
        sections += found
        if sections > MAX_SECTIONS:
            raise Stop("too-big-item", message=f"There are more than {MAX_SECTIONS:,} comments and the like.")
        cut = len(held) if held.isspace() else held.rfind(b">", 0, whole) + 1
        yield held[:cut]
        held = held[cut:]
        if len(held) > MAX_TOKEN_BYTES:
            raise Stop("too-big-item")
    yield held


def _unwrapped(text: bytes) -> bytes:
    """CDATA that holds neither markup nor & unwrapped at once: it may stand around each of a million values."""
    start, end = b"<![CDATA[", b"]]>"
    last = text.rfind(start)
    if last < 0:
        return text
    cut = last if text.find(end, last) < 0 else len(text)
    if text.count(start, 0, cut) != text.count(end, 0, cut) or _INTRICATE.search(text, 0, cut):
        return text
    return text[:cut].replace(start, b"").replace(end, b"") + text[cut:]


def _without_sections(text: bytes, repairs: Counter[str]) -> tuple[bytes, int, int]:
    """Comments and processing instructions as their line feeds, CDATA as escaped text; where one begins that is not
    closed yet, or the end; and how many there were."""
    parts: list[bytes] = []
    done = 0
    while opening := _OPENING.search(text, done):
        closing = _CLOSING.get(opening[0], b">")
        end = text.find(closing, opening.end())
        if end < 0:
            break
        inside = text[opening.end() : end]
        if opening[0] == b"<![CDATA[":
            inside = inside.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
        else:
            repairs["xml-declaration"] += closing == b">" and not (inside.endswith(b"?") and opening[0] == b"<?")
            inside = b"\n" * inside.count(b"\n")
        parts += [text[done : opening.start()], inside]
        done = end + len(closing)
    whole = sum(map(len, parts)) + ((opening.start() if opening else len(text)) - done)
    return b"".join([*parts, text[done:]]), whole, len(parts) // 2


def _characters(piece: bytes, repairs: Counter[str]) -> str:
    """Bytes that are no UTF-8 or no XML replaced, ampersands escaped, tags spelled as the protocol has them."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        text = piece.decode("utf-8", "replace")
        repairs["not-utf-8"] += text.count(REPLACEMENT) - piece.count(REPLACEMENT.encode())
    if len(piece.translate(None, _CONTROLS)) < len(piece) or b"\xef\xbf" in piece:
        text, controls = _CONTROL.subn(REPLACEMENT, text)
        repairs["control-character"] += controls
    if _UNUSUAL_TAG.search(text):
        text, spaced = _SPACED_TAG.subn(lambda match: "</" if match[1] or match[2] else "<", text)
        repairs["tag-space"] += spaced
        text = _CAPITAL_TAG.sub(lambda match: _lower(match, repairs), text)
    text, bare = _BARE_AMPERSAND.subn("&amp;", text)
    repairs["bare-ampersand"] += bare
    return text


def _lower(match: re.Match[str], repairs: Counter[str]) -> str:
    name = match[2].lower()
    if name not in KNOWN_TAGS:
        return match[0]
    repairs["tag-case"] += 1
    return match[1] + name


class _References:
    """What becomes of references that are none of XML's own five, and of no usual number."""

    def __init__(self, repairs: Counter[str]) -> None:
        self._repairs = repairs
        self._found = 0

    def resolve(self, text: str) -> str:
        found = Counter(_OTHER_REFERENCE.findall(text))
        self._found += found.total()
        if self._found > MAX_REFERENCES:
            raise Stop("too-big-item", message=f"There are more than {MAX_REFERENCES:,} references to characters.")
        meant = {name: self._meaning(name, count) for name, count in found.items()}
        if len(meant) <= FEW:
            for name, meaning in meant.items():
                text = text.replace(f"&{name};", meaning)
            return text
        return _OTHER_REFERENCE.sub(lambda match: meant[match[1]], text)

    def _meaning(self, name: str, count: int) -> str:
        if name.startswith("#"):
            number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
            if _is_character(number):
                return f"&#x{number:x};"
            self._repairs["control-character"] += count
            return REPLACEMENT
        meaning = html.entities.html5.get(name + ";")
        self._repairs["bare-ampersand" if meaning is None else "html-entity"] += count
        if meaning is None:
            return f"&amp;{name};"
        return meaning.replace("&", "&amp;").replace("<", "&lt;")


def _is_character(number: int) -> bool:
    """XML 1.0, production 2."""
    return (
        number in (0x9, 0xA, 0xD)
        or 0x20 <= number < 0xD800
        or 0xE000 <= number < 0xFFFE
        or 0x10000 <= number <= 0x10FFFF
    )


def _root(pieces: Iterator[str], repairs: Counter[str]) -> tuple[str, _Prefixes]:
    """The document from its root to the end of the piece that this is in.

    Of the root's attributes only the declarations of namespaces are kept: nothing else in them is read.
    """
    held = ""
    for piece in pieces:
        held += piece
        root = _ROOT.search(held)
        if "<!" in held[: root.start() if root else None]:
            raise Stop("doctype", line=1 + held.count("\n", 0, held.index("<!")))
        if root:
            break
        if len(held) > MAX_TOKEN_BYTES:
            raise Stop("too-big-item")
    else:
        return held, _Prefixes({}, repairs)
    before, after = held[: root.start()], held[root.end() :]
    repairs["leading-text"] += bool(before.strip())
    repairs["root-tag"] += _ATTRIBUTES.fullmatch(root[2]) is None
    declared = _declarations(root[2])
    prefixes = _Prefixes(declared, repairs)
    prefixes.note(f"<{root[1]}>{after}")
    names = {f"xmlns:{prefix}".rstrip(":"): uri for prefix, uri in (prefixes.to_bind | declared).items()}
    attributes = "".join(f' {name}="{uri}"' for name, uri in names.items())
    end = "/>" if root[2].endswith("/") else ">"
    return "\n" * held.count("\n", 0, root.end()) + f"<{root[1]}{attributes}{end}{after}", prefixes


def _declarations(attributes: str) -> dict[str, str]:
    """Namespaces by prefix, "" for the default one; with curly quotes, or none, too."""
    found: dict[str, str] = {}
    for prefix, double, single, bare in _DECLARATION.findall(attributes):
        uri = (double or single or bare.rstrip("/")).replace("<", "&lt;").replace('"', "&quot;")
        if prefix not in ("xml", "xmlns") and (uri or not prefix):
            found.setdefault(prefix, uri)
    return found


class _Prefixes:
    """Which prefixes of tags are declared, and what becomes of the others (C-49).

    Those that are usual, or occur soon, are declared at the root. One that turns up later is made part of the name.
    """

    def __init__(self, declared: dict[str, str], repairs: Counter[str]) -> None:
        self.to_bind = {prefix: uri for prefix, uri in USUAL_PREFIXES.items() if prefix not in declared}
        self._declared = set(declared)
        self._told: set[str] = set()
        self._repairs = repairs

    def note(self, text: str) -> None:
        """Have what occurs in the root's piece declared at the root."""
        for prefix in self._undeclared(text):
            self.to_bind.setdefault(prefix, "undeclared:" + prefix)

    def bound(self, piece: str) -> str:
        """The piece without prefixes that no root declares."""
        unbound = self._undeclared(piece) - self.to_bind.keys() if _UNUSUAL_TAG.search(piece) else None
        if not unbound:
            return piece
        return _TAG_PREFIX.sub(lambda tag: tag[1] + tag[2] + ("." if tag[2] in unbound else ":"), piece)

    def _undeclared(self, text: str) -> set[str]:
        self._declared.update(_DECLARED_PREFIX.findall(text))
        found = {prefix for _, prefix in _TAG_PREFIX.findall(text)} - self._declared - {"xml", "xmlns"}
        self._repairs["undeclared-prefix"] += len(found - self._told)
        self._told |= found
        if len(self._told) > MAX_PREFIXES:
            raise Stop("xml-parse", message=f"More than {MAX_PREFIXES} prefixes of its tags are not declared.")
        return found
