"""What can stop a run, and what the command line makes of it.

    SitemapOpsError         exit 1: the data or the target stopped it
    ├── UsageError          exit 2: the call or the site file is wrong
    │   └── SiteFileError   ... and this is the line
    ├── SourceError         a source can't be read, or was cut short
    │   └── ColumnError     ... or has not the columns that the site file names
    ├── GuardError          a guard stopped the publish; the live site is as it was
    ├── TargetError         a store can't be reached, or refused
    │   └── ConflictError   another run changed the object first
    └── OutputError         what was rendered or published is not valid

Every message is one sentence or two that say what is wrong, where, and what to do. None of them holds a secret.
"""

from __future__ import annotations

from typing import Any


class SitemapOpsError(Exception):
    """The root of what this package raises on purpose."""

    exit_code = 1


class UsageError(SitemapOpsError):
    """The call is wrong."""

    exit_code = 2


class SiteFileError(UsageError):
    """The site file is wrong: the message names file, line and key."""


class SourceError(SitemapOpsError):
    """A source can't be read to its end."""


class ColumnError(SourceError):
    """A source lacks a column or has it twice: another attempt would find the same."""


class GuardError(SitemapOpsError):
    """A guard stopped the publish; `report` is what the run would have reported, where there is one."""

    report: dict[str, Any] | None = None


class TargetError(SitemapOpsError):
    """A store can't be reached, or refused a request."""


class ConflictError(TargetError):
    """A conditional write lost: the object is not what the caller had seen."""


class OutputError(SitemapOpsError):
    """A rendered or published file is not what it has to be."""
