"""A query and its values, kept apart until a driver brings them together.

`:name` is a value wherever SQL code stands; in a string, a quoted name, a comment or a dollar quote it is text, and so
are `::type`, `:=` and every `%`. Nothing of the user's own SQL is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sitemap_ops.errors import UsageError

_STANDARD = r"""
    (?<!\w) [eE]' (?: [^'\\] | \\. | '' )* '
    | ' (?: [^'] | '' )* '
    | " (?: [^"] | "" )* "
    | (?P<tag> \$ (?: [A-Za-z_]\w* )? \$ ) .*? (?P=tag)
"""
_MYSQL = r"""
    ' (?: [^'\\] | \\. | '' )* '
    | " (?: [^"\\] | \\. | "" )* "
    | \# [^\n]*
"""
_COMMON = r"""
    | ` [^`]* `
    | -- [^\n]*
    | /\* .*? \*/
    | (?<! [:\w] ) : (?P<name> [A-Za-z_]\w* )
"""
_STANDARD_TOKENS = re.compile(_STANDARD + _COMMON, re.VERBOSE | re.DOTALL)
_MYSQL_TOKENS = re.compile(_MYSQL + _COMMON, re.VERBOSE | re.DOTALL)


@dataclass(frozen=True)
class Query:
    """SQL in pieces, with one value between each two of them: len(texts) == len(values) + 1."""

    texts: tuple[str, ...]
    values: tuple[Any, ...] = ()

    def render(self, place: Callable[[int, Any], str], text: Callable[[str], str] = str) -> str:
        """The SQL with `place(position, value)` where each value belongs."""
        pieces = [text(self.texts[0])]
        for position, value in enumerate(self.values):
            pieces += [place(position, value), text(self.texts[position + 1])]
        return "".join(pieces)

    def within(self, before: str, *after: str, values: tuple[Any, ...] = ()) -> Query:
        """This query as the inner part of another, which has values of its own between the pieces that follow."""
        texts = (before + self.texts[0], *self.texts[1:])
        return Query((*texts[:-1], texts[-1] + after[0], *after[1:]), self.values + values)


MakeQuery = Callable[[bool], Query]
"""Makes the query for a database that is told to be MySQL, or not, once there is a connection to it."""


def parse_query(sql: str, params: Mapping[str, Any], where: str, *, mysql: bool = False) -> Query:
    """The query with its `:name`s taken out; without the semicolon at its end.

    mysql: a backslash escapes in every string, double quotes make one too, and `#` begins a comment. Raises UsageError
    where names and params differ.
    """
    sql = sql.strip().rstrip("; \t\r\n") + "\n"  # the line end closes a comment on the last line, for what follows
    texts, values, used, end = [], [], set(), 0
    for token in (_MYSQL_TOKENS if mysql else _STANDARD_TOKENS).finditer(sql):
        if name := token["name"]:
            if name not in params:
                raise UsageError(f"There is no value for :{name} in {where}: its params are {_listing(params)}.")
            texts.append(sql[end : token.start()])
            values.append(params[name])
            used.add(name)
            end = token.end()
    if unused := params.keys() - used:
        raise UsageError(f"These params are not used in {where}: {_listing(unused)}; write them there as :name.")
    return Query((*texts, sql[end:]), tuple(values))


def _listing(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names))) or "none"
