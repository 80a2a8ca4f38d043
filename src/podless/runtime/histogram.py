"""Histograms of durations, and samples of metrics, as Prometheus has them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator


class Histogram:
    """One histogram. bounds: upper bounds of its buckets, in seconds, ascending."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe_seconds(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def format_samples(self, name: str, labels: str) -> Iterator[str]:
        """Yield the lines in Prometheus' format. labels: such as verb="GET", "" for none."""
        total, comma = 0, "," if labels else ""
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels}{comma}le="{bound}"}} {total}\n'
        label_set = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{label_set} {self._sum:.9g}\n{name}_count{label_set} {total}\n"


# the values of the labels, with a number or a histogram
Sample = tuple[tuple[str, ...], float | Histogram]
