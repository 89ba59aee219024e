"""`${VAR}` in the site file's values.

Substitution works on one scalar after YAML was parsed, so no value can add keys or change the file's structure. Until
then references are hidden from YAML, to which the braces of `{path: ${DIR}/pages.csv}` would be its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(
    r"""\$\$\{ (?P<escaped>)                                      # $${ is a literal ${
      | \$\{ (?P<name>[A-Za-z_][A-Za-z0-9_]*) (?: :- (?P<default>[^}]*) )? \}
      | \$\{ (?P<broken>) """,
    re.VERBOSE,
)

_SURROGATE = re.compile("[\ud800-\udfff]")
"""How Python shows a byte of the environment that is not UTF-8."""


class References:
    """A file's text in which each `${...}` is a word that YAML takes as it is, on the same line."""

    def __init__(self, text: str) -> None:
        self._written: list[str] = []
        self.hidden = re.sub(r"\$?\$\{[^}\n]*\}", self._hide, text)

    def _hide(self, match: re.Match[str]) -> str:
        self._written.append(match[0])
        return f"\ue000{len(self._written) - 1}\ue001"

    def restore(self, text: str) -> str:
        """The text with its references as they were written."""
        for number, written in enumerate(self._written if "\ue000" in text else ()):
            text = text.replace(f"\ue000{number}\ue001", written)
        return text


class EnvironmentFault(ValueError):
    """What is wrong with a value's references; the text follows the key's name in a sentence."""


def substitute(text: str, environment: Mapping[str, str]) -> str:
    """The text with `${VAR}` and `${VAR:-default}` replaced (default: where VAR is unset or empty), `$${` as `${`.

    What a variable holds is not looked at again. Raises EnvironmentFault for an unset variable without a default, and
    for a `${` that names none.
    """

    def value(match: re.Match[str]) -> str:
        if match["escaped"] is not None:
            return "${"
        name, default = match["name"], match["default"]
        if name is None:
            raise EnvironmentFault("has '${' that names no variable: write ${NAME}, or $${ for a literal '${'.")
        found = environment.get(name)
        if default is not None:
            found = found or default
        if found is None:
            raise EnvironmentFault(
                f"needs the environment variable {name}, which is not set: set it,"
                f" or give a default as ${{{name}:-default}}."
            )
        if _SURROGATE.search(found):
            raise EnvironmentFault(f"needs the environment variable {name}, whose value is not UTF-8: set it anew.")
        return found

    return _REFERENCE.sub(value, text)
