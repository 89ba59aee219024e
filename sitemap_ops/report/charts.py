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

MIN_SLOTS = 16
"""A bar is never wider than this share of the plot, so that three releases do not look like three walls."""

OTHERS = "others"


@dataclass(frozen=True)
class Segment:
    """A rectangle in percent of the plot, from its top left corner. `colour` counts from 1."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    told: str


@dataclass(frozen=True)
class Chart:
    """Stacked bars: one bar a label, one colour a series.

    series: values by name, each as long as `labels`. top: what the plot's height stands for. unit: "count" or "bytes".
    """

    title: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[int]]
    top: int
    unit: str

    def segments(self) -> list[Segment]:
        slot = 100 / max(len(self.labels), MIN_SLOTS)
        made = []
        for place, label in enumerate(self.labels):
            base = 100.0
            for colour, (name, values) in enumerate(self.series.items(), 1):
                height = 100 * values[place] / self.top
                base -= height
                if height:
                    told = f"{label}: {name} {values[place]:,}"
                    made.append(Segment(slot * (place + 0.1), base, slot * 0.8, height, colour, told))
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
    names: Sequence[str] = (),
) -> Chart:
    """A chart of `points`, one for each label: values by series, each series in some of them.

    names: the series in their order; by default all there are, the largest first.
    """
    names = names or _largest_first(points)
    alone = names if len(names) <= MAX_SERIES else names[: MAX_SERIES - 1]
    series = {name: [point.get(name, 0) for point in points] for name in alone}
    if rest := names[len(alone) :]:
        series[OTHERS] = [sum(point.get(name, 0) for name in rest) for point in points]
    highest = max((sum(values) for values in zip(*series.values(), strict=True)), default=0)
    return Chart(title, labels, series, _round_up(highest), unit)


def _largest_first(points: Sequence[Mapping[str, int]]) -> list[str]:
    totals: Counter[str] = Counter()
    for point in points:
        totals.update(point)
    return [name for name, _ in totals.most_common()]


def _round_up(value: int) -> int:
    """The next even 1, 2, 4, 6, 8 times a power of ten: its half is as round."""
    power = int(10 ** (len(str(value)) - 1))
    return next(step for factor in (1, 2, 4, 6, 8, 10, 20) if (step := factor * power) >= value and step % 2 == 0)
