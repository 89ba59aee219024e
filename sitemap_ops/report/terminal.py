"""Progress and summaries for people: progress on stderr while it is a terminal, results on stdout."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


class StepProgress:
    """A line for each thing that is being worked on; nothing where stderr is no terminal.

    Callable as `sitemap_ops.steps.Progress`: (what, done, total or None).
    """

    def __init__(self) -> None:
        self._bars = _bars() if sys.stderr.isatty() else None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._bars:
            self._bars.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if self._bars is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=total)
        self._bars.update(self._tasks[what], completed=done, total=total)


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def print_summary(report: dict[str, Any]) -> None:
    """A report as a page of text: what was read, what became of it, what was written and where to look."""
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=True, highlight=False)
    console.print(f"[bold]{report['site']}[/bold]: release {report['release']} {_outcome(report)}")
    facts = Table.grid(padding=(0, 2))
    shards, size = report["shards"], report["bytes"]
    for name, value in (
        ("rows read", f"{report['rows_read']:,}"),
        ("entries", f"{report['entries']:,}"),
        ("duplicates", f"{report['duplicates']:,}"),
        ("rejected", _counts(report["rejected"])),
        ("changed or noted", _counts(report["changed"])),
        ("shards", _shards(shards)),
        *((f"set {name}", _set(made)) for name, made in report["sets"].items() if len(report["sets"]) > 1),
        ("bytes", f"{size['xml']:,} of XML, {size['gzip']:,} gzipped, {size['uploaded']:,} uploaded"),
        *((("churn", _churn(report["churn"])),) if report["churn"]["entries"] else ()),
        *((("repaired", " ".join(report["repaired"])),) if report["repaired"] else ()),
        *((("pruned", _pruned(report["pruned"])),) if report["pruned"]["keys"] else ()),
        ("index", " ".join(report["indexes"]) or "none"),
        ("seconds", ", ".join(f"{step} {seconds:.1f}" for step, seconds in report["timings"].items())),
    ):
        facts.add_row(name, value)
    console.print(facts)
    for finding in report["findings"]:
        console.print(
            f"[yellow]{finding['level']}[/yellow] {finding['code']} in {finding['place']}: {finding['advice']}"
        )
    for guard in report["guards"]:
        if not guard["passed"]:
            console.print(f"[red]guard[/red] {guard['guard']}: {guard['told']}")
        elif guard["guard"] == "baseline":
            console.print(f"[yellow]note[/yellow] {guard['told']}")
    if report["outcome"] == "planned":
        _print_plan(console, report["planned"])
    console.print(f"report and rejects: {report['files']}")


def _outcome(report: dict[str, Any]) -> str:
    failed = [guard["guard"] for guard in report["guards"] if not guard["passed"]]
    if report["outcome"] == "published":
        return f"published, although {', '.join(failed)} said no" if report["forced"] else "published"
    return f"would be stopped by {', '.join(failed)}" if failed and not report["forced"] else "would be published"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{code} {count:,}" for code, count in counts.items()) or "none"


def _churn(churn: dict[str, Any]) -> str:
    return f"{_counts(churn['entries'])} entries; {churn['shards_rewritten']:,} shards rewritten"


def _pruned(pruned: dict[str, Any]) -> str:
    told = f"{len(pruned['keys']):,} files that nothing has listed for long"
    return f"{told}; {pruned['held_back']:,} more are left for the next runs" if pruned["held_back"] else told


def _set(made: dict[str, Any]) -> str:
    told = f"{made['entries']:,} entries in {made['shards']:,} shards"
    return f"{told}; kept out: {_counts(made['kept_out'])}" if made["kept_out"] else told


def _shards(shards: dict[str, int]) -> str:
    kinds = ("added", "changed", "removed", "unchanged")
    return f"{shards['total']:,}: " + ", ".join(f"{shards[kind]:,} {kind}" for kind in kinds)


def _print_plan(console: Console, planned: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("action", "shard", "entries", "bytes", title="What would change")
    for shard in planned:
        table.add_row(shard["action"], shard["key"], f"{shard['entries']:,}", f"{shard['xml_bytes']:,}")
    console.print(table)
