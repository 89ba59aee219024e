"""A policy made ready for columns, once for all chunks of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import pyarrow as pa

from sitemap_ops.errors import UsageError
from sitemap_ops.urls.authority import Admission
from sitemap_ops.urls.charsets import encode_rows
from sitemap_ops.urls.clean import clean_patterns
from sitemap_ops.urls.filters import PathPatterns, Robots
from sitemap_ops.urls.octets import percent_encode
from sitemap_ops.urls.params import ParamDropper
from sitemap_ops.urls.policy import TrailingSlash, UrlPolicy


@dataclass(frozen=True)
class Base:
    """A canonical base URL: what stands before a relative reference of each kind (RFC 3986 section 5.2.2)."""

    scheme: str
    origin: str
    folder: str
    path: str
    url: str

    @property
    def by_kind(self) -> tuple[str, ...]:
        """What stands before a reference, by its kind (`references`); nothing before one with its own authority."""
        return ("", "", self.origin, self.folder, self.path, self.url)


@dataclass(frozen=True)
class Rules:
    """What the steps of `canonical` need of a policy. The patterns are None where no row can be clean."""

    base: Base | None
    admission: Admission
    charset: str
    clean: str | None
    clean_relative: str | None
    drop: ParamDropper | None
    trailing_slash: TrailingSlash
    exclude: PathPatterns
    include: PathPatterns
    robots: Robots | None


def compile_rules(policy: UrlPolicy, base: str | None) -> Rules:
    """The rules of a policy; `base` is its base in canonical form. Raises UsageError for what can't be encoded."""
    encode = partial(_encoded, charset=policy.charset)
    admission = policy.admission
    own_base = _base(base) if base is not None else None
    clean, clean_relative = clean_patterns(admission.plain, policy.trailing_slash, map(encode, policy.drop_params))
    return Rules(
        base=own_base,
        admission=admission,
        charset=policy.charset,
        clean=clean if admission.plain else None,
        clean_relative=clean_relative if own_base is not None else None,
        drop=ParamDropper(policy.drop_params, encode) if policy.drop_params else None,
        trailing_slash=policy.trailing_slash,
        exclude=PathPatterns(policy.exclude, encode),
        include=PathPatterns(policy.include, encode),
        robots=Robots(policy.robots) if policy.robots is not None else None,
    )


def _base(url: str) -> Base:
    path = url.partition("?")[0]
    scheme, _, rest = url.partition("://")
    return Base(scheme, f"{scheme}://{rest.partition('/')[0]}", path[: path.rindex("/") + 1], path, url)


@lru_cache(maxsize=1_024)
def _encoded(text: str, charset: str) -> str:
    """A piece of a path or query as it stands in a canonical URL."""
    row = encode_rows([text], charset)[0]
    if row is None:
        raise UsageError(f"{text!r} holds characters that the charset {charset} lacks: write them percent-encoded.")
    encoded: str = percent_encode(pa.array([row], pa.binary())).text[0].as_py()
    return encoded
