"""From a path to a `Site`, or to every mistake of the file, one a line."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site.document import read_document
from sitemap_ops.site.model import Site
from sitemap_ops.site.places import local_path
from sitemap_ops.site.wording import problems_of


def load_site(path: str | Path) -> Site:
    """The site that a YAML file describes (DESIGN 4), ready to use.

    Raises SiteFileError: one sentence a mistake, with file, line, key and what to write instead, in the file's order.
    """
    path = Path(path)
    document = read_document(path)
    problems = list(document.problems)
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
