"""One measured figure, and a sheet of them that is printed as it fills."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured. more: whether more of it is better."""

    name: str
    value: float
    unit: str
    more: bool = False

    def worse(self, before: float) -> float:
        """By which share this is worse than `before`: 0.2 takes a fifth longer, or does a fifth less. 0 if better."""
        if before <= 0 or self.value <= 0:
            return 0.0
        share = 1 - self.value / before if self.more else self.value / before - 1
        return max(0.0, share)


def short(value: float) -> str:
    """Three digits that count, thousands apart."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


class Sheet(list[Figure]):
    """The figures of one benchmark."""

    def put(self, name: str, value: float, unit: str, more: bool = False) -> None:
        """Add a figure and print it."""
        self.append(Figure(name, value, unit, more))
        print(f"{name:52} {short(value):>10} {unit}", flush=True)
