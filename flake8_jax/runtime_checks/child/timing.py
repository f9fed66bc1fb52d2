"""Timing of calls, interleaved: what one can claim of two functions on a machine that is never quiet.

Vocabulary
----------
side      one of the functions compared. block: a few calls of one side in a row, each timed alone; its time is the lower
          quartile of its calls, because other programs only ever make a call slower.
round     four blocks: first, second, second, first; every other round the other way about. So a slow spell hits both.
time      of a side: the lower quartile of its blocks. ratio: time of the first ÷ time of the second.
band      how far apart two halves of the *same* side lie in this run, as a ratio: the halves are its two blocks of each
          round, drawn again and again with rounds chosen at random (the bootstrap); 99 % of the draws lie within.
claim     ``faster`` or ``slower``: the ratio is beyond the band, and 99 % of its own draws are on one side of 1.
tight     band and draws are so narrow that more rounds would tell nothing that matters.

Limitations: two programs that compute the same may differ by a few percent all through a run, by where their code lies in
memory. What is claimed is a difference of the two programs as they were compiled here.
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

BLOCK_SECONDS = 0.003
MOST_CALLS = 40
LEAST_ROUNDS = 8
TIGHT = 1.02
_BATCH = 8
_DRAWS = 400
_LOW = 0.25
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
    """Seconds of the calls of one side: for each round its two blocks, in the order in which they ran."""

    halves: tuple[list[list[float]], list[list[float]]]

    def calls(self) -> list[float]:
        """Every call."""
        return [call for half in self.halves for block in half for call in block]

    def times(self, half: int) -> list[float]:
        """The time of one block of each round."""
        return [quantile(block, _LOW) for block in self.halves[half]]


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
    items = side.prepare(calls)
    run, clock = side.run, time.perf_counter
    found = []
    for item in items:
        started = clock()
        run(item)
        found.append(clock() - started)
    return found


def calls_for(side: Side) -> tuple[int, float]:
    """How many calls make a block, and the seconds that one call took."""
    seconds = min(block(side, 1)[0] for _ in range(3))
    wanted = math.ceil(BLOCK_SECONDS / max(seconds, 1e-7))
    return max(1, min(wanted, side.most_calls, MOST_CALLS)), seconds


def rounds(sides: Sequence[Side], calls: Sequence[int], most: int, budget: float) -> list[Samples]:
    """Time the sides until what can be said is tight, ``most`` rounds are done, or ``budget`` seconds are over.

    One side is timed against itself. At least ``LEAST_ROUNDS`` are done, or ``most`` if that is less.
    """
    pair = [0, len(sides) - 1]
    found = [Samples(([], [])) for _ in sides]
    deadline = time.perf_counter() + budget
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(most):
            first, second = pair if turn % 2 == 0 else pair[::-1]
            order = [first, second, second, first] if len(sides) > 1 else [0, 0]
            count = [0] * len(sides)
            for place in order:
                half = count[place] if turn % 4 < 2 else 1 - count[place]
                found[place].halves[half].append(block(sides[place], calls[place]))
                count[place] += 1
            done = turn + 1
            if done >= LEAST_ROUNDS and (
                time.perf_counter() > deadline or (done % _BATCH == 0 and is_tight(found[0], found[-1]))
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


def _drawn(first: Samples, second: Samples) -> _Draws:
    import numpy as np

    logs = [np.log(np.maximum([side.times(0), side.times(1)], 1e-9)) for side in (first, second)]
    number = logs[0].shape[1]
    chosen = np.random.default_rng(0).integers(0, number, (_DRAWS, number))

    def low(values: Any) -> Any:
        return np.quantile(values, _LOW, axis=-1)

    def whole(values: Any) -> Any:
        return low(np.concatenate([values[0], values[1]], axis=-1))

    drawn = [np.stack([side[0][chosen], side[1][chosen]]) for side in logs]
    same = [low(side[0]) - low(side[1]) for side in drawn]
    return _Draws(float(whole(logs[0]) - whole(logs[1])), whole(drawn[0]) - whole(drawn[1]), np.concatenate(same))


def is_tight(first: Samples, second: Samples) -> bool:
    """Whether more rounds would tell nothing that matters."""
    draws = _drawn(first, second)
    low, high = draws.spread
    return max(draws.band, (high - low) / 2) < math.log(TIGHT)


def compare(first: Samples, second: Samples) -> dict[str, Any]:
    """What can be said of ``second`` against ``first``.

    ratio: time of the first ÷ time of the second: above 1, the second is the faster. range: of its draws.
    """
    draws = _drawn(first, second)
    (low, high), band, ratio = draws.spread, draws.band, draws.ratio
    claim = "faster" if ratio > band and low > 0 else "slower" if ratio < -band and high < 0 else "none"
    return {
        "ratio": math.exp(ratio),
        "range": [math.exp(low), math.exp(high)],
        "band": [math.exp(-band), math.exp(band)],
        "claim": claim,
    }
