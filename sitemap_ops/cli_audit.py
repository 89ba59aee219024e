"""The command `audit`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def add_command(commands: Any) -> None:
    """Add the command to the parser's subcommands."""
    audit = commands.add_parser(
        "audit", help="look at the live site as crawlers do: its files and a sample of its pages"
    )
    audit.add_argument("site", metavar="SITE.yaml", type=Path)
    audit.add_argument("--sample", metavar="N", type=_count, help="pages to ask for, in place of audit.sample")
    audit.add_argument("--seed", metavar="S", type=_count, help="which pages, in place of audit.seed")
    audit.add_argument(
        "--fail-on", choices=("error", "warning", "info"), default="error", help="exit 1 from this level on"
    )
    audit.add_argument("--json", action="store_true", help="print the report, alone, as JSON")
    audit.set_defaults(run=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.report.terminal import StepProgress
    from sitemap_ops.site import Audit, load_site
    from sitemap_ops.steps.audit import audit
    from sitemap_ops.validate.output import exceeds, to_table

    site = load_site(arguments.site)
    given = {"sample": arguments.sample, "seed": arguments.seed}
    asked = (site.audit or Audit()).model_copy(update={key: value for key, value in given.items() if value is not None})
    as_of = datetime.now(UTC)
    with StepProgress() as progress:
        audited, uri = audit(
            site,
            EnvironmentConnections(),
            run_id=f"cli__{as_of.isoformat()}",
            as_of=as_of,
            asked=asked,
            progress=progress,
        )
    if arguments.json:
        print(json.dumps(audited.report, indent=2, ensure_ascii=False))
    else:
        print(to_table(audited.validation))
        print(_pages(audited.report["pages"]))
        print(f"report: {uri}")
    return int(exceeds(audited.validation, arguments.fail_on))


def _pages(pages: dict[str, Any]) -> str:
    statuses = ", ".join(f"{status} {count:,}" for status, count in pages["statuses"].items())
    seconds = pages["seconds"]
    lines = [f"pages asked for: {pages['asked']:,}" + (f" ({statuses})" if statuses else "")]
    if seconds["median"] is not None:
        lines.append(f"seconds: {seconds['median']} median, {seconds['p95']} of 95 %, {seconds['most']} at most")
    return "\n".join([*lines, *([pages["stopped"]] if pages["stopped"] else [])])


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
