"""What stops a publish that is probably a mistake: a source that broke must not empty the sitemap (C-19, PUB-09)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sitemap_ops.errors import GuardError

WHOLE = "the whole site"


class Guards(Protocol):
    """Limits; None is no limit. `max_drop` and `max_rejected` are shares, 0 to 1, that may just be reached."""

    @property
    def min_urls(self) -> int | None: ...
    @property
    def max_drop(self) -> float | None: ...
    @property
    def max_rejected(self) -> float | None: ...


@dataclass(frozen=True)
class SectionCount:
    """What a run made of one section: rows read, entries left after all checks, rows rejected."""

    rows: int
    entries: int
    rejected: int


@dataclass(frozen=True)
class GuardResult:
    """What one guard found. `scope` is a section's name, or WHOLE; `told` is a sentence."""

    guard: str
    scope: str
    passed: bool
    told: str


def check(
    guards: Guards,
    counts: Mapping[str, SectionCount],
    baseline: Mapping[str, int] | None,
    sections: Mapping[str, Guards] | None = None,
) -> list[GuardResult]:
    """Every guard's finding, for the whole site and for each section.

    counts: by section, for all that the site file names, also those with no rows. baseline: the entries of each
    section in the release that is live, None before the first. sections: guards of single sections.

    A section that is new or gone is not compared, in no sum either: its result says so. A section that had entries and
    now has none fails in any case, unless its own `max_drop` or else the site's is 1.
    """
    before = baseline or {}
    lasting = [name for name in counts if before.get(name)]
    results = _limits(WHOLE, guards, _sum(counts.values()))
    if lasting:
        was, now = sum(before[name] for name in lasting), sum(counts[name].entries for name in lasting)
        same = len(lasting) == len(counts) == len([name for name in before if before[name]])
        results += _drop(WHOLE, guards, was, now, None if same else "All sections that were there before, together,")
    for name, count in counts.items():
        own = (sections or {}).get(name)
        results += _limits(name, own, count) if own else []
        results += _section(name, guards, own, count, before.get(name, 0), baseline is None)
    return results + [
        _told("baseline", name, f"The section {name!r} is no longer in the site file; its {was:,} URLs leave.")
        for name, was in before.items()
        if name not in counts and was
    ]


def check_sets(guards: Guards, entries: Mapping[str, int], baseline: Mapping[str, int] | None) -> list[GuardResult]:
    """The findings for file sets besides the whole: an audience's files must not vanish where the sections look well.

    entries, baseline: by set, now and in the live release, without the windowed ones, which time empties. A set that
    lost more than the site's `max_drop` allows fails; one that is new or not asked for any more is told of.
    """
    if baseline is None:
        return []
    results = []
    for name, now in entries.items():
        was = baseline.get(name, 0)
        if was:
            results += _drop(f"the file set {name!r}", guards, was, now)
        else:
            results.append(_told("baseline", name, f"The file set {name!r} is new; it is compared from now on."))
    return results + [
        _told("baseline", name, f"The file set {name!r} is not made any more; its files leave.")
        for name in baseline
        if name not in entries
    ]


def enforce(results: Sequence[GuardResult], *, force: bool = False) -> None:
    """Raise GuardError where a guard failed, unless the publish is forced."""
    failed = [result for result in results if not result.passed]
    if failed and not force:
        others = len(failed) - 1
        more = f" ({others} more {'guard' if others == 1 else 'guards'} failed.)" if others else ""
        raise GuardError(
            f"{failed[0].told}: nothing was published, the live site is as it was; look at the source and the rejects,"
            f" and use --force (in Airflow the param force) if this is right.{more}"
        )


def _section(
    name: str, guards: Guards, own: Guards | None, count: SectionCount, was: int, first: bool
) -> list[GuardResult]:
    if not was:
        return [] if first else [_told("baseline", name, f"The section {name!r} is new; it is compared from now on.")]
    max_drop = own.max_drop if own and own.max_drop is not None else guards.max_drop
    if not count.entries and max_drop is not None and max_drop < 1:
        what = "its source returned no rows" if not count.rows else f"none of its {count.rows:,} rows is left"
        return [GuardResult("empty", name, False, f"The section {name!r} had {was:,} URLs and has none now, {what}")]
    return _drop(name, own, was, count.entries) if own else []


def _limits(scope: str, guards: Guards, count: SectionCount) -> list[GuardResult]:
    results = []
    if guards.min_urls is not None:
        passed = count.entries >= guards.min_urls
        told = f"{_named(scope)} has {count.entries:,} URLs, min_urls is {guards.min_urls:,}"
        results.append(GuardResult("min_urls", scope, passed, told))
    if guards.max_rejected is not None:
        share = count.rejected / count.rows if count.rows else 0.0
        told = (
            f"{count.rejected:,} of {count.rows:,} rows of {_named(scope, inside=True)} were rejected ({share:.1%}),"
            f" max_rejected is {guards.max_rejected:.1%}"
        )
        results.append(GuardResult("max_rejected", scope, share <= guards.max_rejected, told))
    return results


def _drop(scope: str, guards: Guards, was: int, now: int, named: str | None = None) -> list[GuardResult]:
    if guards.max_drop is None:
        return []
    share = max(0, was - now) / was
    told = (
        f"{named or _named(scope)} had {was:,} URLs and {'have' if named else 'has'} {now:,} now ({share:.1%} fewer),"
        f" max_drop is {guards.max_drop:.1%}"
    )
    return [GuardResult("max_drop", scope, share <= guards.max_drop, told)]


def _sum(counts: Collection[SectionCount]) -> SectionCount:
    return SectionCount(
        sum(count.rows for count in counts),
        sum(count.entries for count in counts),
        sum(count.rejected for count in counts),
    )


def _named(scope: str, *, inside: bool = False) -> str:
    if scope.startswith("the "):
        return scope if inside else f"T{scope[1:]}"
    return f"{'the' if inside else 'The'} section {scope!r}"


def _told(guard: str, scope: str, sentence: str) -> GuardResult:
    return GuardResult(guard, scope, True, sentence)
