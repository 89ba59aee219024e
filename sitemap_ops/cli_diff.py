"""The command `diff`: which URLs came, went or changed between two releases."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sitemap_ops.release.diff import Change
    from sitemap_ops.steps.diff import Comparison


def add_command(commands: Any) -> None:
    """Add the command to the parser's subcommands."""
    parser = commands.add_parser("diff", help="show which URLs came, went or changed between two releases")
    parser.add_argument("site", metavar="SITE.yaml", type=Path)
    parser.add_argument("old", metavar="A", help="a release's id, as `releases` tells it, or `current`")
    parser.add_argument("new", metavar="B", help="the release to compare it with")
    parser.add_argument("--set", metavar="NAME", help="the file set to compare; the main one by default")
    parser.add_argument("--limit", metavar="N", type=_count, help="show the first N changes; all are counted")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=_diff)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _diff(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.diff import diff_releases

    site = load_site(arguments.site)
    compared = diff_releases(site, arguments.old, arguments.new, EnvironmentConnections(), set_=arguments.set)
    for line in (_json if arguments.json else _table)(site.site, compared, arguments.limit):
        print(line)
    return 0


class _Shown:
    """The first changes as they come, and how many there were of each kind in all."""

    def __init__(self, changes: Iterable[Change], limit: int | None) -> None:
        self._changes, self._limit = changes, limit
        self._counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Change]:
        for number, change in enumerate(self._changes):
            self._counts[change.change] += 1
            if self._limit is None or number < self._limit:
                yield change

    @property
    def counts(self) -> dict[str, int]:
        return {kind: self._counts[kind] for kind in ("added", "removed", "changed")}

    @property
    def left_out(self) -> int:
        return 0 if self._limit is None else max(0, self._counts.total() - self._limit)


def _table(site: str, compared: Comparison, limit: int | None) -> Iterator[str]:
    shown = _Shown(compared.changes, limit)
    for change in shown:
        yield f"{change.change:<7}  {change.section}  {change.loc}"
    if shown.left_out:
        yield f"... and {shown.left_out:,} more"
    counts = ", ".join(f"{count:,} {kind}" for kind, count in shown.counts.items())
    yield f"{site}, set {compared.set}, {compared.old} to {compared.new}: {counts}"


def _json(site: str, compared: Comparison, limit: int | None) -> Iterator[str]:
    """One document, written while the changes come: there can be millions, and their counts are known at the end."""
    head = {"site": site, "set": compared.set, "old": compared.old, "new": compared.new}
    yield f'{json.dumps(head, ensure_ascii=False)[:-1]}, "changes": ['
    shown = _Shown(compared.changes, limit)
    before = ""
    for change in shown:
        if before:
            yield f"{before},"
        before = json.dumps(change._asdict(), ensure_ascii=False)
    if before:
        yield before
    yield f'], "counts": {json.dumps(shown.counts)}}}'
