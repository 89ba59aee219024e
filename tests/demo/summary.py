"""The demo's last page: what was read, what became of it, how long it took, where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from sitemap_ops.validate.findings import Validation

EXAMPLE_CHARACTERS = 70


def print_report(console: Console, report: Mapping[str, Any]) -> None:
    """What `report.json` says, as tables."""
    shards, size = report["shards"], report["bytes"]
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold")
    for name, value in (
        ("rows read", f"{report['rows_read']:,}  ({_by_section(report, 'rows')})"),
        ("entries", f"{report['entries']:,}  ({_by_section(report, 'entries')})"),
        ("duplicates", f"{report['duplicates']:,}"),
        ("rejected", f"{sum(report['rejected'].values()):,}"),
        ("shards", f"{shards['total']}: " + ", ".join(f"{shards[kind]} {kind}" for kind in KINDS)),
        ("bytes", f"{size['xml']:,} of XML, {size['gzip']:,} gzipped, {size['uploaded']:,} uploaded"),
    ):
        facts.add_row(name, value)
    console.print(facts, "")
    console.print(_rejects(report), "")
    console.print(_changes(report))


KINDS = ("added", "changed", "removed", "unchanged")


def _by_section(report: Mapping[str, Any], what: str) -> str:
    return ", ".join(f"{name} {section[what]:,}" for name, section in report["sections"].items())


def _rejects(report: Mapping[str, Any]) -> Table:
    table = Table("rejected because", "rows", "such as", title="Rows that are not in the sitemap", title_justify="left")
    table.columns[1].justify = "right"
    for code, count in report["rejected"].items():
        shown = [section["examples"].get(code) for section in report["sections"].values()]
        examples = next((each for each in shown if each), [""])
        table.add_row(code, f"{count:,}", escape(_visible(examples[0])))
    return table


def _changes(report: Mapping[str, Any]) -> Table:
    title = "Rows that are, but for this"
    table = Table("mended or noted", "rows", title=title, title_justify="left")
    table.columns[1].justify = "right"
    for code, count in report["changed"].items():
        table.add_row(code, f"{count:,}")
    return table


def _visible(text: str) -> str:
    """As on one line of a terminal: control characters as escapes, cut."""
    shown = repr(text)
    return shown if len(shown) <= EXAMPLE_CHARACTERS else f"{shown[:EXAMPLE_CHARACTERS]}…"


def print_validation(console: Console, validation: Validation) -> None:
    totals = validation.totals()
    verdict = "[bold green]valid[/]" if not totals["error"] else "[bold red]not valid[/]"
    console.print(
        f"\nFetched back and validated: {validation.files} files, {validation.urls:,} URLs: {verdict}"
        f" ({totals['error']} errors, {totals['warning']} warnings, {totals['info']} notes)"
    )


def print_times(console: Console, times: Sequence[tuple[str, float]], inside: Mapping[str, float]) -> None:
    """Seconds of the demo's steps, and of the DAG's own steps inside Airflow's."""
    told = [f"{name} {seconds:.1f}" for name, seconds in times]
    steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in inside.items())
    console.print(f"\n[bold]seconds[/]  {', '.join(told)}\n         of Airflow's: {steps}")


def print_places(console: Console, places: Mapping[str, Path]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    for name, place in places.items():
        shown = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
        table.add_row(name, escape(str(shown)))
    console.print("\n[bold]Where to look[/]", table, sep="\n")
