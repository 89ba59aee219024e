"""How the site file's checks say what is wrong, so that `wording` can make one sentence of it.

A check raises one of these; it never quotes the value itself, because only the file's own text may be shown: what a
`${VAR}` stands for, or what surrounds an `@`, can be a secret.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import PydanticCustomError

Key = tuple[str | int, ...]
"""Where something stands in the site file: ("sections", 1, "source", "type")."""


def not_a(text: str) -> PydanticCustomError:
    """`<key> is <value>, not <text>`; the text ends with its advice: "a cron expression: did you mean '@daily'?"."""
    return PydanticCustomError("site_value", "not {text}", {"text": text})


def wrong(text: str, *, at: Key | None = None) -> PydanticCustomError:
    """`<key> <text>`, without the value; `at` names the key where it is not the one that is being checked."""
    return PydanticCustomError("site_rule", "{text}", {"text": text, "at": at})


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, whatever its case and with - for _; None when none is near."""
    import difflib

    folded = {name.lower().replace("-", "_"): name for name in known}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def one_of(known: Iterable[str]) -> str:
    """The words as a list for a sentence: `a, b or c`."""
    *most, last = known
    return f"{', '.join(most)} or {last}" if most else last
