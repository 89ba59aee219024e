"""`${VAR}` in the site file's values.

Substitution works on one scalar after YAML was parsed, so no value can add keys or change the file's structure.
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
            return found or default
        if found is None:
            raise EnvironmentFault(
                f"needs the environment variable {name}, which is not set: set it,"
                f" or give a default as ${{{name}:-default}}."
            )
        return found

    return _REFERENCE.sub(value, text)
