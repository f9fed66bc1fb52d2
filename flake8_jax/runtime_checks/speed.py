"""How long functions take before and after the fixes, and what of that is more than noise.

Vocabulary
----------
steady   calls that compiled nothing; their median counts. block: a run of consecutive steady calls, a fourth of them.
band     how far apart the medians of blocks are in two runs of the very same program: the slowest by the fastest.
claim    the ratio is beyond the band, and at least ``LEAST``. Where there are few calls to go by, it is at least
         ``LEAST_OF_FEW``, and the slower ones take ``SECONDS_OF_FEW``: the machine disturbs a short call more than that.

Waiting for the result belongs to a call. Compiling is distinguished: it is paid once, or too often.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from flake8_jax.runtime_checks.replays import Replay

LEAST, LEAST_OF_FEW, FEW, SECONDS_OF_FEW = 1.1, 1.25, 8, 0.01


class Speed(msgspec.Struct, frozen=True):
    """Seconds of one steady call (or of the whole command without compiling), in three runs.

    ratio: before by after. band: see above. claimed: whether it may be said to be faster (or slower).
    """

    name: str
    calls: int
    before: float
    again: float
    after: float
    ratio: float
    band: float
    claimed: bool


def speed_of(name: str, number: int, before: Replay, again: Replay, after: Replay) -> Speed | None:
    """Compare the steady calls of a function in three runs; None if one of them has none."""
    runs = [_steady(run, number) for run in (before, again, after)]
    return None if not all(runs) else judged(name, runs[0], runs[1], runs[2])


def run_time(before: Replay, again: Replay, after: Replay) -> Speed:
    """Compare the seconds of the whole command, without compiling and without the import of JAX."""
    a, b, c = ([run.total - run.compiling] for run in (before, again, after))
    return judged("the command without compiling and importing JAX", a, b, c)


def compile_time(before: Replay, again: Replay, after: Replay) -> Speed:
    """Compare the seconds of tracing, lowering and compiling in the whole command. There are few of them, and the load of the
    machine changes them, so that the time of the processor has to show the same.
    """
    a, b, c = ([run.compiling] for run in (before, again, after))
    ours, theirs, fixed = ([run.processor] for run in (before, again, after))
    return confirmed(judged("compiling", a, b, c), judged("compiling", ours, theirs, fixed))


def judged(name: str, before: Sequence[float], again: Sequence[float], after: Sequence[float]) -> Speed:
    """Compare three series of seconds."""
    a, b, c = (max(statistics.median(series), 1e-9) for series in (before, again, after))
    blocks = [max(block, 1e-9) for series in (before, again) for block in _blocks(series)]
    band = max(blocks) / min(blocks)
    reference = (a + b) / 2
    ratio = reference / c
    is_few = min(len(before), len(again), len(after)) < FEW
    claimed = max(ratio, 1 / ratio) > max(band, LEAST_OF_FEW if is_few else LEAST)
    claimed = claimed and not (is_few and max(reference, c) < SECONDS_OF_FEW)
    return Speed(name, len(after), a, b, c, ratio, band, claimed)


def confirmed(one: Speed, other: Speed) -> Speed:
    """Return the first of two comparisons; it keeps its claim only if both make the same one."""
    same = other.name == one.name and other.claimed and (other.ratio > 1) == (one.ratio > 1)
    return msgspec.structs.replace(one, claimed=one.claimed and same, band=max(one.band, other.band))


def unclaimed(speed: Speed) -> Speed:
    """Return the comparison without its claim."""
    return msgspec.structs.replace(speed, claimed=False)


def _steady(run: Replay, number: int) -> list[float]:
    return [seconds for function, seconds, compiling in run.timings if function == number and compiling == 0.0]


def _blocks(series: Sequence[float]) -> list[float]:
    """Medians of the fourths of a series; of a short one, its own median."""
    if len(series) < FEW:
        return [statistics.median(series)]
    size = len(series) // 4
    return [statistics.median(series[start : start + size]) for start in range(0, size * 4, size)]


def sentence(speed: Speed) -> str:
    """Describe a comparison: ``step: 1.21 ms and 1.19 ms before, 0.60 ms after (median of 479 calls): 2.0 times as
    fast``.
    """
    calls = f" (median of {speed.calls} calls)" if speed.calls > 1 else ""
    said = f"{speed.name}: {_time(speed.before)} and {_time(speed.again)} before, {_time(speed.after)} after{calls}"
    most = max(speed.ratio, 1 / speed.ratio)
    if not speed.claimed and most > speed.band:
        same = f"runs of the same code differ by {speed.band:.2f}x"
        return f"{said}: {most:.2f}x, not enough for a claim ({same})"
    if not speed.claimed:
        return f"{said}: no difference beyond the noise ({speed.band:.2f}x between runs of the same code)"
    factor = f"{speed.ratio:.2g} times as fast" if speed.ratio > 1 else f"{1 / speed.ratio:.2g} times as slow"
    return f"{said}: {factor}"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 s" if seconds < 1e-8 else f"{seconds / 1e-9:.3g} ns"
