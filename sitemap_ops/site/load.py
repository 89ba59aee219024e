"""From a path to a `Site`, or to every mistake of the file, one a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site.document import Document, Problem, dotted, read_document
from sitemap_ops.site.faults import Key
from sitemap_ops.site.model import Site
from sitemap_ops.site.places import local_path
from sitemap_ops.site.wording import problems_of

NOT_YET: dict[str, frozenset[str] | None] = {
    "engine": frozenset({"spark"}),
}
"""Keys with the values (None: all but an empty one) that nothing acts on yet: shorten it feature by feature."""


def load_site(path: str | Path) -> Site:
    """The site that a YAML file describes (DESIGN 4), ready to use.

    Raises SiteFileError: one sentence a mistake, with file, line, key and what to write instead, in the file's order.
    """
    path = Path(path)
    document = read_document(path)
    problems = document.problems + list(_not_yet(document.data, (), document))
    site = None
    try:
        site = Site.model_validate(document.data, context={"folder": local_path(str(path.parent), Path.cwd())})
    except ValidationError as error:
        explained = {problem.key for problem in problems}
        problems += [problem for problem in problems_of(error, document) if problem.key not in explained]
    if problems or site is None:
        problems.sort(key=lambda problem: problem.line)
        raise SiteFileError("\n".join(f"{path.name} line {problem.line}: {problem.text}" for problem in problems))
    return site


def _not_yet(value: Any, key: Key, document: Document) -> list[Problem]:
    name = ".".join(step for step in key if isinstance(step, str))
    if name in NOT_YET and _is_asked_for(value, NOT_YET[name]):
        what = dotted(key) if NOT_YET[name] is None else f"{dotted(key)}: {value}"
        return [Problem(key, document.line(key), f"{what} is not supported yet by this version: leave it out.")]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [problem for step, child in children for problem in _not_yet(child, (*key, step), document)]


def _is_asked_for(value: Any, unsupported: frozenset[str] | None) -> bool:
    if unsupported is None:
        return value not in (None, [], {}, False)
    return isinstance(value, str) and value in unsupported
