"""Who is told when a guard stops a publish: any of Airflow's notifiers, named in dags/sitemaps.py.

    site_dags(folder, on_failure_callback=on_guard_stop(SnsNotifier(...), SmtpNotifier(...)))

A notifier's templates have the sentence that stopped the run as `{{ exception }}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sitemap_ops.errors import GuardError

Callback = Callable[[Mapping[str, Any]], Any]


def on_guard_stop(*callbacks: Callback) -> list[Callback]:
    """The callbacks, each called only for a task that failed because a guard said no."""
    return [_OnGuardStop(callback) for callback in callbacks]


class _OnGuardStop:
    def __init__(self, callback: Callback) -> None:
        self._callback = callback

    def __call__(self, context: Mapping[str, Any]) -> None:
        if isinstance(context.get("exception"), GuardError):
            self._callback(context)
