"""What each search engine accepts, as data with source and date (rule book sections 2-4 and 9; C-69).

`profile` gives one engine's, `common_limits` what files have to keep to be read by all the engines named. Light: no
pandas, lxml or network.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sitemap_ops.engines.profiles import PROFILES, Limits, Profile
from sitemap_ops.errors import UsageError

__all__ = ["PROFILES", "Limits", "Profile", "common_limits", "profile"]


def profile(name: str) -> Profile:
    """The profile of an engine. Raises UsageError, with the nearest name, for an unknown one."""
    try:
        return PROFILES[name]
    except KeyError:
        from difflib import get_close_matches

        close = get_close_matches(name.lower(), PROFILES, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"There is no engine {name!r}: the known ones are {', '.join(PROFILES)}.{hint}") from None


def common_limits(names: Iterable[str]) -> Limits:
    """The strictest file limits of the engines named, and the protocol's own in any case (P-30, P-31, P-37, BD-01)."""
    common = PROFILES["core"].limits
    for name in names:
        limits = profile(name).limits
        common = replace(
            common,
            max_urls=min(common.max_urls, limits.max_urls),
            max_bytes=min(common.max_bytes, limits.max_bytes),
            max_files_per_index=min(common.max_files_per_index, limits.max_files_per_index),
        )
    return common
