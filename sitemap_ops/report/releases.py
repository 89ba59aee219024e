"""The list of releases, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_WIDTH = 160


def print_releases(releases: Sequence[dict[str, Any]]) -> None:
    """A table of what `steps.releases.releases` gives, on stdout."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)  # a release's id is to be copied, never cut
    if not releases:
        console.print("No release yet.")
        return
    table = Table("", "release", "as of", "epoch", "entries", "shards", "rejected", "outcome", box=None)
    for each in releases:
        rejected = "" if each["rejected"] is None else f"{each['rejected']:,}"
        outcome = f"{each['outcome']} to {each['restores']}" if each["restores"] else each["outcome"]
        table.add_row(
            "live" if each["current"] else "",
            each["release"],
            each["as_of"],
            str(each["epoch"]),
            f"{each['entries']:,}",
            f"{each['shards']:,}",
            rejected,
            outcome,
        )
    console.print(table)
