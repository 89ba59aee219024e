"""What tests count and who reads their output wants to know: told at the end of the session, of those that passed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

_NAME = "counted: "


@pytest.fixture
def counted(record_property: Callable[[str, object], None]) -> Callable[[str, int], None]:
    """Takes what was counted, and how many; the session's sums are printed."""
    return lambda what, number: record_property(_NAME + what, number)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    sums: dict[str, list[int]] = defaultdict(list)
    for report in terminalreporter.getreports("passed"):
        for name, number in getattr(report, "user_properties", ()):
            if report.when == "call" and name.startswith(_NAME):
                sums[name.removeprefix(_NAME)].append(number)
    if sums:
        terminalreporter.section("counts")
        for what, numbers in sorted(sums.items()):
            terminalreporter.write_line(f"{what}: {sum(numbers):,}")
