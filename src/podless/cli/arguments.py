"""Types of command-line arguments that several commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from podless.runtime.option import StartError, parse_number, parse_positive


def as_type(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of texts as a type for argparse, which then shows the text of its ValueError or StartError."""

    def read(text: str) -> Any:
        try:
            return parse(text)
        except StartError as error:
            raise argparse.ArgumentTypeError(error.why) from None  # argparse names the option
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"{text} is not a number of seconds above 0")
    return seconds


positive = as_type(parse_positive)
number = as_type(parse_number)
seconds = as_type(_parse_seconds)
