"""Timing of calls, interleaved: what one can claim of two functions on a machine that is never quiet.

Vocabulary
----------
side      one of the functions compared. block: a few calls of one side in a row, each timed alone; its time is the lower
          quartile of its calls, because other programs only ever make a call slower.
round     four blocks: first, second, second, first; every other round the other way about. So a slow spell hits both.
measure   ``wall``, or ``processor``: the time that the process had the processor, which other programs do not take from it.
          The latter only for programs that never sleep, on one processor.
way       how two series of blocks are compared: by their lower quartiles (``low``), which lets short disturbances go, or by
          the median of the ratios within each round (``paired``), which lets long ones go.
ratio     time of the first ÷ time of the second, by the measure and the way with the narrowest band.
band      how far apart two halves of the *same* side lie in this run, as a ratio: the halves are its two blocks of each
          round, drawn again and again with rounds chosen at random (the bootstrap); 99 % of the draws lie within.
epoch     a part of the run with programs of its own: both functions are compiled again for it, and get inputs of their own,
          since where code and data lie in memory makes a program faster or slower by some percent.
claim     ``faster`` or ``slower``: the ratio is beyond the band, and the ratios of the epochs are on one side of 1 by Student's
          distribution (99 %). Fewer than ``FEWEST`` epochs show no spread that one could go by, so nothing is claimed.
tight     band and draws are so narrow that more rounds would tell nothing that matters.
"""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

BLOCK_SECONDS = 0.003
MOST_CALLS = 40
LEAST_ROUNDS = 8
TIGHT = 1.02
_BATCH = 8
_DRAWS = 400
_LOW = 0.25
EPOCHS, FEWEST = 5, 3
_STUDENT = {2: 9.925, 3: 5.841, 4: 4.604}
"""The factor of the standard error, two-sided 99 %, by degrees of freedom."""
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


@dataclass(frozen=True)
class Samples:
    """Seconds of the calls of one side: for each round its two blocks. processor: the same in time of the processor."""

    halves: tuple[list[list[float]], list[list[float]]]
    processor: tuple[list[list[float]], list[list[float]]] = field(default_factory=lambda: ([], []))

    def calls(self) -> list[float]:
        """Every call."""
        return [call for half in self.halves for block in half for call in block]

    def times(self, measure: str) -> list[list[float]]:
        """The times of the blocks, for each half."""
        halves = self.processor if measure == "processor" else self.halves
        return [[quantile(block, _LOW) for block in half] for half in halves]


def machine_load() -> float:
    """Load average of the last minute for each processor; 0 where the platform does not tell."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


def is_busy(load: float) -> bool:
    """Whether other programs are likely to disturb a measurement."""
    return load > _BUSY_LOAD


def block(side: Side, calls: int) -> list[float]:
    """Seconds of so many calls in a row, each by itself."""
    return timed(side, calls)[0]


def timed(side: Side, calls: int) -> tuple[list[float], list[float]]:
    """The same, and the seconds of the processor."""
    items = side.prepare(calls)
    run, clock, processor = side.run, time.perf_counter, time.process_time
    walls, busy = [], []
    for item in items:
        before = processor()
        started = clock()
        run(item)
        walls.append(clock() - started)
        busy.append(processor() - before)
    return walls, busy


def calls_for(side: Side) -> tuple[int, float]:
    """How many calls make a block, and the seconds that one call took."""
    seconds = min(block(side, 1)[0] for _ in range(3))
    wanted = math.ceil(BLOCK_SECONDS / max(seconds, 1e-7))
    return max(1, min(wanted, side.most_calls, MOST_CALLS)), seconds


def rounds(
    sides: Sequence[Side], calls: Sequence[int], most: int, budget: float, measures: Sequence[str] = ("wall",)
) -> list[Samples]:
    """Time the sides until what can be said is tight, ``most`` rounds are done, or ``budget`` seconds are over.

    One side is timed against itself. At least ``LEAST_ROUNDS`` are done, or ``most`` if that is less.
    """
    pair = [0, len(sides) - 1]
    found = [Samples(([], [])) for _ in sides]
    deadline = time.perf_counter() + budget
    collecting = gc.isenabled()
    gc.disable()
    try:
        for round_ in range(most):
            first, second = pair if round_ % 2 == 0 else pair[::-1]
            order = [first, second, second, first] if len(sides) > 1 else [0, 0]
            count = [0] * len(sides)
            for place in order:
                half = count[place] if round_ % 4 < 2 else 1 - count[place]
                walls, busy = timed(sides[place], calls[place])
                found[place].halves[half].append(walls)
                found[place].processor[half].append(busy)
                count[place] += 1
            done = round_ + 1
            if done >= LEAST_ROUNDS and (
                time.perf_counter() > deadline or (done % _BATCH == 0 and is_tight([(found[0], found[-1])], measures))
            ):
                break
    finally:
        if collecting:
            gc.enable()
    return found


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


@dataclass(frozen=True)
class _Draws:
    """Logarithms. ratio: of the two sides as measured; ratios: of the draws; same: of halves of one side in the draws."""

    measure: str
    ratio: float
    ratios: Any
    same: Any

    @property
    def band(self) -> float:
        """The largest ratio of two halves of one side that is to be expected."""
        import numpy as np

        return float(np.quantile(np.abs(self.same), 0.99))

    @property
    def spread(self) -> tuple[float, float]:
        """Between which the ratio lies, in 99 % of the draws."""
        import numpy as np

        return float(np.quantile(self.ratios, 0.005)), float(np.quantile(self.ratios, 0.995))


Epochs = Sequence[tuple[Samples, Samples]]


def _drawn(epochs: Epochs, measures: Sequence[str]) -> tuple[_Draws, list[float]]:
    """By the measure and the way whose band is the narrowest: noise alone decides, the ratio has no part in it. And the
    logarithms of the ratios of the epochs."""
    import numpy as np

    found = []
    for measure in measures:
        for ways in zip(*(_both_ways(first, second, measure) for first, second in epochs)):
            ratios = [draws.ratio for draws in ways]
            mean = [np.mean([getattr(draws, name) for draws in ways], axis=0) for name in ("ratios", "same")]
            found.append((_Draws(measure, statistics.fmean(ratios), *mean), ratios))
    return min(found, key=lambda pair: pair[0].band)


def _both_ways(first: Samples, second: Samples, measure: str) -> list[_Draws]:
    import numpy as np

    one, two = (np.log(np.maximum(side.times(measure), 1e-9)) for side in (first, second))
    number = one.shape[1]
    random = np.random.default_rng(number)
    chosen = random.integers(0, number, (_DRAWS, number))

    def low(values: Any) -> Any:
        return np.quantile(values, _LOW, axis=-1)

    def whole(values: Any) -> Any:
        return low(np.concatenate([values[0], values[1]], axis=-1))

    ours, theirs = np.stack([one[0][chosen], one[1][chosen]]), np.stack([two[0][chosen], two[1][chosen]])
    same = np.concatenate([low(side[0]) - low(side[1]) for side in (ours, theirs)])
    quartiles = _Draws(measure, float(whole(one) - whole(two)), whole(ours) - whole(theirs), same)
    apart = (one[0] + one[1] - two[0] - two[1]) / 2
    within = np.concatenate([np.median((side[0] - side[1])[chosen], axis=-1) for side in (one, two)])
    pairs = _Draws(measure, float(np.median(apart)), np.median(apart[chosen], axis=-1), within)
    return [quartiles, pairs]


def is_tight(epochs: Epochs, measures: Sequence[str] = ("wall",)) -> bool:
    """Whether more rounds would tell nothing that matters."""
    draws, _ = _drawn(epochs, measures)
    low, high = draws.spread
    return max(draws.band, (high - low) / 2) < math.log(TIGHT)


def compare(epochs: Epochs, measures: Sequence[str] = ("wall",)) -> dict[str, Any]:
    """What can be said of the second function against the first.

    ratio: time of the first ÷ time of the second: above 1, the second is the faster. range: where it lies. measures: those
    that mean something here.
    """
    draws, ratios = _drawn(epochs, measures)
    (low, high), band, ratio = draws.spread, draws.band, draws.ratio
    if len(ratios) >= FEWEST:
        reach = _STUDENT[len(ratios) - 1] * statistics.stdev(ratios) / math.sqrt(len(ratios))
        low, high = min(low, ratio - reach), max(high, ratio + reach)
    claim = "none"
    if len(ratios) >= FEWEST and abs(ratio) > band and (low > 0 or high < 0):
        claim = "faster" if ratio > 0 else "slower"
    return {
        "ratio": math.exp(ratio),
        "range": [math.exp(low), math.exp(high)],
        "band": [math.exp(-band), math.exp(band)],
        "claim": claim,
        "measure": draws.measure,
        "epochs": len(ratios),
    }
