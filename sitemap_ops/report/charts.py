"""Charts over releases as stacked bars: geometry only, in shares of the plot; a template draws them.

No script and no library: bars are rectangles of an SVG that stretches with the page, their labels are the page's own
text, and the same figures stand below in a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_SERIES = 8
"""As many as there are colours that can be told apart; the smallest become one."""

MAX_WIDTH = 5.0
"""Percent of the plot that a bar takes at most, so that three releases do not look like three walls."""

OTHERS = "others"


@dataclass(frozen=True)
class Segment:
    """A rectangle in percent of the plot, from its top left corner."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    told: str


@dataclass(frozen=True)
class Chart:
    """Stacked bars: one bar a label, one colour a series.

    series: values by name, each as long as `labels`. colours: of each series, by number, from 1. top: what the plot's
    height stands for. unit: "count" or "bytes".
    """

    title: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[int]]
    colours: Sequence[int]
    top: int
    unit: str

    def segments(self) -> list[Segment]:
        slot = 100 / max(len(self.labels), 1)
        width = min(0.8 * slot, MAX_WIDTH)
        made = []
        for place, label in enumerate(self.labels):
            base = 100.0
            for colour, (name, values) in zip(self.colours, self.series.items(), strict=True):
                height = 100 * values[place] / self.top
                base -= height
                if height:
                    left = slot * (place + 0.5) - width / 2
                    made.append(Segment(left, base, width, height, colour, f"{label}: {name} {values[place]:,}"))
        return made

    def lines(self) -> list[int]:
        """The values at the grid's lines, from the top down."""
        return [self.top, self.top // 2, 0]


def chart(
    title: str,
    labels: Sequence[str],
    points: Sequence[Mapping[str, int]],
    *,
    unit: str = "count",
    colours: Mapping[str, int] | None = None,
) -> Chart:
    """A chart of `points`, one for each label: values by series, each series in some of them.

    colours: the series in their order, each with its colour's number; by default all there are, the largest first.
    """
    names = list(colours or _largest_first(points))
    alone = names if len(names) <= MAX_SERIES else names[: MAX_SERIES - 1]
    series = {name: [point.get(name, 0) for point in points] for name in alone}
    if rest := names[len(alone) :]:
        series[OTHERS] = [sum(point.get(name, 0) for name in rest) for point in points]
    highest = max((sum(values) for values in zip(*series.values(), strict=True)), default=0)
    numbers = list(colours.values()) if colours else list(range(1, len(series) + 1))
    return Chart(title, labels, series, numbers, _round_up(highest), unit)


def _largest_first(points: Sequence[Mapping[str, int]]) -> list[str]:
    totals: Counter[str] = Counter()
    for point in points:
        totals.update(point)
    return [name for name, _ in totals.most_common()]


def _round_up(value: int) -> int:
    """The next even 1, 2, 4, 6, 8 times a power of ten: its half is as round."""
    power = int(10 ** (len(str(value)) - 1))
    return next(step for factor in (1, 2, 4, 6, 8, 10, 20) if (step := factor * power) >= value and step % 2 == 0)
