"""Timing of calls, interleaved: what one can claim of two functions on a machine that is never quiet.

Vocabulary
----------
side      one of the functions compared. sample: the seconds of one call, the mean over a few in a row.
round     one sample of every side, and a second one of the first side; every other round goes backwards.
band      how far two samples of the *same* side lie apart in this run, as a ratio: its 5 % and 95 % quantiles.
claim     ``faster`` or ``slower``: the median of the rounds' ratios lies outside the band and is large enough.
"""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SAMPLE_SECONDS = 0.004
MOST_CALLS = 5000
LEAST_ROUNDS = 5
LEAST_RATIO = 1.1
LEAST_RATIO_BUSY = 1.25
_BUSY_LOAD = 0.35

Prepare = Callable[[int], list[Any]]
"""Fresh inputs for so many calls, made outside of the time that is measured."""
Run = Callable[[Any], Any]


@dataclass(frozen=True)
class Side:
    """What is timed: ``run`` on every item that ``prepare`` made; ``run`` waits for the result."""

    prepare: Prepare
    run: Run
    most_calls: int = MOST_CALLS


def machine_load() -> float:
    """Load average of the last minute for each processor; 0 where the platform does not tell."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


def is_busy(load: float) -> bool:
    """Whether other programs are likely to disturb a measurement."""
    return load > _BUSY_LOAD


def once(side: Side, calls: int = 1) -> float:
    """Seconds of one call: the mean over ``calls`` in a row."""
    items = side.prepare(calls)
    run = side.run
    started = time.perf_counter()
    for item in items:
        run(item)
    return (time.perf_counter() - started) / calls


def calls_for(side: Side) -> tuple[int, float]:
    """How many calls make a sample that the clock can resolve, and the seconds that one call took."""
    seconds = min(once(side) for _ in range(3))
    wanted = math.ceil(SAMPLE_SECONDS / max(seconds, 1e-7))
    return max(1, min(wanted, side.most_calls, MOST_CALLS)), seconds


def rounds(sides: Sequence[Side], calls: Sequence[int], number: int) -> list[list[float]]:
    """Samples of every side, and last the second samples of the first side."""
    order = [*range(len(sides)), 0]
    samples: list[list[float]] = [[] for _ in order]
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(number):
            places = list(range(len(order)))
            for place in places if turn % 2 == 0 else reversed(places):
                samples[place].append(once(sides[order[place]], calls[order[place]]))
    finally:
        if collecting:
            gc.enable()
    return samples


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the values lie, interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def summary(values: Sequence[float]) -> dict[str, Any]:
    """Median, quartiles and extremes."""
    return {
        "median": statistics.median(values),
        "quartiles": [quantile(values, 0.25), quantile(values, 0.75)],
        "least": min(values),
        "most": max(values),
    }


def compare(first: Sequence[float], again: Sequence[float], second: Sequence[float], least: float) -> dict[str, Any]:
    """What can be said of ``second`` against ``first``; ``again`` are the second samples of the first side.

    The ratio is first ÷ second: above 1, the second is the faster. least: the smallest ratio worth a claim.
    """
    ratios = [(a + b) / (2 * c) for a, b, c in zip(first, again, second)]
    same = [a / b for a, b in zip(first, again)]
    band = [quantile(same, 0.05), quantile(same, 0.95)]
    # The same two samples, the other way round, are as likely.
    band = [min(band[0], 1 / band[1]), max(band[1], 1 / band[0])]
    ratio = statistics.median(ratios)
    if ratio > max(band[1], least):
        claim = "faster"
    elif ratio < min(band[0], 1 / least):
        claim = "slower"
    else:
        claim = "none"
    return {
        "ratio": ratio,
        "range": [quantile(ratios, 0.05), quantile(ratios, 0.95)],
        "band": band,
        "least": least,
        "claim": claim,
    }
