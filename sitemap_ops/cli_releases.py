"""The commands about releases: `releases`, `rollback`, `adopt`, `rebuild-state`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

MODES = {
    "keep": "leave it and its files as they are, beside the site's own index, which needs another name",
    "list": "let the site's index take its place and list its files too, for as long as they are there",
    "replace": "let the site's index take its place; its files leave with the first release, and are removed later",
}


def add_commands(commands: Any) -> None:
    """Add the commands to the parser's subcommands."""
    listing = _command(commands, "releases", "list the releases that are kept, the live one first", _releases)
    listing.add_argument("--json", action="store_true", help="print the list as JSON")

    rollback = _command(commands, "rollback", "put the files of an earlier release back", _rollback)
    rollback.add_argument("--to", metavar="RELEASE", required=True, help="its id, as `releases` tells it")
    rollback.add_argument("--json", action="store_true", help="print the report as JSON")

    adopt = _command(commands, "adopt", "say what becomes of an index that is in the target already", _adopt)
    modes = adopt.add_mutually_exclusive_group(required=True)
    for mode, told in MODES.items():
        modes.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode, help=told)
    adopt.add_argument("--json", action="store_true", help="print what was found as JSON")

    rebuild = _command(commands, "rebuild-state", "make a lost `state` anew from the target", _rebuild)
    rebuild.add_argument("--json", action="store_true", help="print what is live as JSON")


def _command(commands: Any, name: str, told: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=told)
    parser.add_argument("site", metavar="SITE.yaml", type=Path)
    parser.set_defaults(run=run)
    return parser


def _releases(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.report.releases import print_releases
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.releases import releases

    listed = releases(load_site(arguments.site), EnvironmentConnections())
    if arguments.json:
        _print_json(listed)
    else:
        print_releases(listed)
    return 0


def _rollback(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.report.terminal import StepProgress
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.releases import rollback

    with StepProgress() as progress:
        report = rollback(load_site(arguments.site), arguments.to, EnvironmentConnections(), progress=progress)
    if arguments.json:
        _print_json(report)
        return 0
    shards = ", ".join(f"{count:,} {action}" for action, count in report["shards"].items())
    print(f"{report['site']}: release {arguments.to} is live again, as {report['release']} (epoch {report['epoch']})")
    print(f"shards: {shards}; {report['bytes']['uploaded']:,} bytes uploaded")
    return 0


def _adopt(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.releases import adopt

    adopted = adopt(load_site(arguments.site), arguments.mode, EnvironmentConnections())
    if arguments.json:
        _print_json(adopted)
        return 0
    print(f"adopted with --{adopted['mode']}: {', '.join(adopted['indexes']) or 'the files that were listed so far'}")
    print(f"files taken over: {len(adopted['files'])}; left out, for they lie elsewhere: {len(adopted['left_out'])}")
    for url in adopted["left_out"]:
        print(f"  {url}")
    print("The next build acts on it.")
    return 0


def _rebuild(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.releases import rebuild_state

    live = rebuild_state(load_site(arguments.site), EnvironmentConnections())
    if arguments.json:
        _print_json(live)
        return 0
    print(
        f"release {live['release']}: {live['entries']:,} entries in {live['shards']:,} shards,"
        f" listed by {', '.join(live['indexes'])}"
    )
    for section in live["tracked_lost"]:
        print(
            f"section {section}: the dates that `track` had found out are lost with the old state; it begins anew,"
            " and gives no page a lastmod before that page changes"
        )
    return 0


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
