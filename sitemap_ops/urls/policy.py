"""What a site asks of its URLs, beyond what the policy does for every site."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from sitemap_ops.errors import UsageError
from sitemap_ops.urls.authority import Admission, Authority, parse_authority
from sitemap_ops.urls.charsets import UTF_8, codec_name

TrailingSlash = Literal["keep", "add", "remove"]
REGEX_PREFIX = "re:"

_WEB = re.compile(r"(https?://[^/?#\\\s]+)([^\\\s]*)", re.IGNORECASE)


@dataclass(frozen=True)
class UrlPolicy:
    """The options of DESIGN 5. Values are checked when it is made: UsageError says which one is wrong and what to do.

    base: absolute http(s) URL that relative locs resolve against (RFC 3986 section 5); also the site's own origin.
    hosts: further `scheme://host[:port]` that rows may have. With neither base nor hosts every host is admitted.
    any_host: every host is admitted beside these, as for images and videos, which may lie anywhere (G-22).
    charset: in which the server reads non-ASCII characters of path and query (P-28).
    drop_params: names of query parameters to drop, or globs with `*`; case-sensitive (U-40, U-41).
    trailing_slash: "add" leaves paths alone whose last segment has an extension; "remove" leaves "/" alone.
    exclude, include: patterns over path and query, tried in this order; the first that matches decides. What none
        matches is kept, unless there are include patterns. A glob (`*` within a segment, `**` across segments) matches
        the whole of path and query, an expression after `re:` any part of its encoded form.
    robots: the text of a robots.txt; what it disallows Googlebot is refused.
    """

    base: str | None = None
    hosts: tuple[str, ...] = ()
    any_host: bool = False
    charset: str = UTF_8
    drop_params: tuple[str, ...] = ()
    trailing_slash: TrailingSlash = "keep"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    robots: str | None = None

    def __post_init__(self) -> None:
        for name in ("hosts", "drop_params", "include", "exclude"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "charset", codec_name(self.charset))
        if self.trailing_slash not in get_args(TrailingSlash):
            raise UsageError(f"trailing_slash can't be {self.trailing_slash!r}: write keep, add or remove.")
        for host in self.hosts:
            if _own_address(host)[1] not in ("", "/"):
                raise UsageError(f"{host!r} is more than a host: write scheme://host or scheme://host:port.")
        if self.base is not None:
            _own_address(self.base)
        for pattern in (*self.include, *self.exclude):
            _check_pattern(pattern)
        for name in self.drop_params:
            if not name or re.search(r"[&=#\s]", name):
                raise UsageError(f"{name!r} is no query parameter's name: write it alone, such as gclid or utm_*.")

    @property
    def admission(self) -> Admission:
        """The site's own origins, and whether there may be others."""
        own = (_own_address(url)[0] for url in ((self.base,) if self.base else ()) + self.hosts)
        return Admission(own, any_host=self.any_host)


def _own_address(url: str) -> tuple[Authority, str]:
    """Authority of an address that the site names as its own, and what follows it."""
    match = _WEB.fullmatch(url)
    if not match:
        shown = repr(url) if "@" not in url else "One address"
        raise UsageError(f"{shown} is no absolute http or https address: write it as https://www.example.com/.")
    authority = parse_authority(match[1])
    if authority.reason == "url-userinfo":
        raise UsageError("An address of the site holds a user name or password: leave it out.")
    if authority.reason not in (None, "host-private"):
        raise UsageError(f"{url!r} has no usable host ({authority.reason}): write it as https://www.example.com/.")
    return authority, match[2]


def _check_pattern(pattern: str) -> None:
    if not pattern.startswith(REGEX_PREFIX):
        if not pattern.startswith(("/", "*")):
            raise UsageError(
                f"{pattern!r} matches no path: start a glob with '/' or '*', as in '/cart/**', and a regular"
                " expression with 're:'."
            )
        return
    try:
        re.compile(pattern.removeprefix(REGEX_PREFIX))
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"{pattern!r} holds no regular expression: {error}.") from None
