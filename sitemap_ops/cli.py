"""The command line: `python -m sitemap_ops COMMAND`. A thin shell over the steps; results on stdout, talk on stderr."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_ops import __version__
from sitemap_ops.cli_audit import add_command as add_audit
from sitemap_ops.cli_diff import add_command as add_diff
from sitemap_ops.cli_releases import add_commands
from sitemap_ops.errors import GuardError, SitemapOpsError

if TYPE_CHECKING:
    from sitemap_ops.site import Site
    from sitemap_ops.urls import UrlPolicy

EXIT_DONE, EXIT_STOPPED, EXIT_INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 done, 1 the data or the target stopped it, 2 the call is wrong."""
    arguments = _parser().parse_args(argv)
    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except SitemapOpsError as error:
        print(f"sitemap-ops: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("sitemap-ops: interrupted; nothing after the last finished step was done.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read stdout has left. Point it elsewhere, or Python complains once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_STOPPED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(
            "sitemap-ops: the output can't be written, its disk is full; the command itself was done.", file=sys.stderr
        )
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sitemap-ops", description="Sitemaps from a site's inventory of URLs.")
    parser.add_argument("--version", action="version", version=f"sitemap-ops {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    build = commands.add_parser("build", help="make and publish a site's sitemaps")
    build.add_argument("site", metavar="SITE.yaml", type=Path)
    build.add_argument(
        "--plan",
        action="store_true",
        help="show what would change; write nothing to the target; exit 1 where a guard would stop it",
    )
    build.add_argument("--force", action="store_true", help="publish although a guard says no; recorded in the report")
    build.add_argument("--json", action="store_true", help="print the report, alone, as JSON")
    build.set_defaults(run=_build)

    validate = commands.add_parser(
        "validate", help="check a sitemap, an index and what it lists, a text file, a folder"
    )
    validate.add_argument("location", metavar="PATH|URL|s3://...")
    validate.add_argument("--engine", action="append", default=[], help="an engine's own rules too; may be given again")
    validate.add_argument("--base", metavar="URL", help="where the file is served from, for a local file or s3://")
    validate.add_argument("--host", action="append", default=[], help="another scheme://host that counts as the site's")
    validate.add_argument("--xsd", metavar="DIR", type=Path, help="check against the published schemas in DIR as well")
    validate.add_argument("--no-follow", action="store_true", help="do not open what an index lists")
    validate.add_argument(
        "--fail-on", choices=("error", "warning", "info"), default="error", help="exit 1 from this level on"
    )
    output = validate.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the findings as JSON")
    output.add_argument("--junit", action="store_true", help="print the findings as JUnit XML, for CI")
    validate.set_defaults(run=_validate)

    importing = commands.add_parser("import", help="make an inventory of an existing sitemap or index")
    importing.add_argument("location", metavar="PATH|URL|s3://...")
    importing.add_argument("--to", metavar="FILE.csv|.parquet", type=Path, required=True, help="the inventory to write")
    importing.add_argument("--json", action="store_true", help="print the counts as JSON")
    importing.set_defaults(run=_import)

    normalize = commands.add_parser("normalize", help="show what the URL policy makes of each line of stdin, and why")
    normalize.add_argument("site", metavar="SITE.yaml", type=Path, nargs="?", help="take the policy from a site file")
    normalize.add_argument("--base", metavar="URL", help="what relative URLs resolve against")
    normalize.add_argument("--charset", help="the server's charset, where it is not UTF-8")
    normalize.set_defaults(run=_normalize)

    add_audit(commands)
    add_diff(commands)
    add_commands(commands)
    return parser


def _build(arguments: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.report.terminal import StepProgress, print_summary
    from sitemap_ops.site import load_site
    from sitemap_ops.steps import assemble, cleanup, extract, prepare, publish, split
    from sitemap_ops.steps.notify import notify

    site = load_site(arguments.site)
    connections = EnvironmentConnections()
    as_of = datetime.now(UTC)
    run = prepare(site, run_id=f"cli__{as_of.isoformat()}", as_of=as_of)
    try:
        with StepProgress() as progress:
            if site.engine == "spark":
                from sitemap_ops import spark

                assembled = spark.assemble(site, run, connections, progress)
            else:
                parts = [
                    extract(site, run, part["section"], connections, progress, span=part["span"])
                    for part in split(site, connections)
                ]
                assembled = assemble(site, run, parts, connections, progress)
            report = publish(
                site, run, assembled, connections, plan_only=arguments.plan, force=arguments.force, progress=progress
            )
    except GuardError as error:
        if arguments.json and error.report:
            _print_json(error.report)
        raise
    finally:
        cleanup(site, run, connections)
    if site.notify and report["outcome"] == "published":
        report["notified"] = notify(site, report["release"], connections)
    if arguments.json:
        _print_json(report)
    else:
        print_summary(report)
        _print_notified(report.get("notified", ()))
        if report["outcome"] == "published" and not (site.notify and site.notify.robots):
            for line in report["robots_txt"]:  # where engines look first (P-48)
                print(f"for robots.txt: {line}")
    would_stop = not report["forced"] and any(not guard["passed"] for guard in report["guards"])
    return EXIT_STOPPED if would_stop else EXIT_DONE


def _print_notified(results: Sequence[dict[str, Any]]) -> None:
    """Who was told, and what failed: a warning, since the release is public."""
    for each in results:
        print(f"{each['channel']}: {'warning: ' if each['outcome'] == 'failed' else ''}{each['told']}")
        for line in each.get("lines", ()):
            print(f"  {line}")
        for finding in each["findings"]:
            if finding["advice"] != each["told"]:
                print(f"  {finding['level']} {finding['code']}: {finding['advice']}")


def _print_json(report: dict[str, Any]) -> None:
    print(json.dumps(report, indent=2, ensure_ascii=False))


def _validate(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.report.terminal import StepProgress
    from sitemap_ops.validate import validate
    from sitemap_ops.validate.output import exceeds, to_json, to_junit, to_table

    with StepProgress() as progress:
        validation = validate(
            arguments.location,
            engines=arguments.engine,
            connections=EnvironmentConnections(),
            base_url=arguments.base,
            hosts=arguments.host,
            xsd=arguments.xsd,
            follow=not arguments.no_follow,
            progress=progress,
        )
    if arguments.junit:
        print(to_junit(validation, arguments.fail_on))
    else:
        print(to_json(validation) if arguments.json else to_table(validation))
    return EXIT_STOPPED if exceeds(validation, arguments.fail_on) else EXIT_DONE


def _import(arguments: argparse.Namespace) -> int:
    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.importing import import_sitemap
    from sitemap_ops.report.terminal import StepProgress

    with StepProgress() as progress:
        imported = import_sitemap(arguments.location, arguments.to, EnvironmentConnections(), progress)
    if arguments.json:
        print(json.dumps(vars(imported)))
        return EXIT_DONE
    print(f"URLs {imported.urls}, files read {imported.files}, written to {arguments.to}")
    if imported.skipped:
        print(f"skipped: {imported.skipped} entries without a URL")
    for code, count in imported.repaired.items():
        print(f"repaired: {code} {count}")
    return EXIT_DONE


def _normalize(arguments: argparse.Namespace) -> int:
    from sitemap_ops.normalize import batches, explain, reads

    policy = _policy(arguments)
    for batch in batches(reads(sys.stdin.fileno())):
        sys.stdout.buffer.write(explain(batch, policy))
        sys.stdout.buffer.flush()
    return EXIT_DONE


def _policy(arguments: argparse.Namespace) -> UrlPolicy:
    from dataclasses import replace

    from sitemap_ops.connections import EnvironmentConnections
    from sitemap_ops.site import load_site
    from sitemap_ops.steps.extract import policy_of
    from sitemap_ops.steps.robots import robots_text
    from sitemap_ops.urls import UrlPolicy

    site: Site | None = load_site(arguments.site) if arguments.site else None
    policy = policy_of(site, robots_text(site, EnvironmentConnections())) if site else UrlPolicy()
    asked = {"base": arguments.base, "charset": arguments.charset}
    return replace(policy, **{key: value for key, value in asked.items() if value is not None})
