"""The table of findings (`rules.json`): what each stable code means, how bad it is and for whom, and what to do.

The codes and rule ids (`P-05`, `G-21`, ...) are those of the project's rule book. Data, not code: a new engine or a
changed mind is a changed row. A key such as `news-too-old:week` is a case of the code `news-too-old` with a level of
its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

Level = Literal["error", "warning", "info"]
SEVERITY: Mapping[Level, int] = {"info": 0, "warning": 1, "error": 2}


@dataclass(frozen=True)
class Rule:
    """One code: rule ids (the leading one first), one sentence that says what is wrong, one that says what to do.

    level: for every engine that `engines` does not name; None where the code concerns those alone.
    """

    level: Level | None
    ids: tuple[str, ...]
    what: str
    advice: str
    engines: Mapping[str, Level | None] = field(default_factory=dict)


def _load() -> dict[str, Rule]:
    data = json.loads(resources.files("sitemap_ops").joinpath("rules.json").read_text(encoding="utf-8"))
    return {code: Rule(**{**row, "ids": tuple(row["ids"])}) for code, row in data.items()}


RULES: Mapping[str, Rule] = _load()


def code_of(key: str) -> str:
    """The code that a key of the table stands for."""
    return key.partition(":")[0]


def level(code: str, engines: Iterable[str] = ()) -> Level | None:
    """The worst level that one of the engines gives a code (none named: the protocol, "core"); None: not reported."""
    rule = RULES[code]
    said = [rule.engines.get(name, rule.level) for name in tuple(engines) or ("core",)]
    return max((one for one in said if one is not None), key=SEVERITY.__getitem__, default=None)
