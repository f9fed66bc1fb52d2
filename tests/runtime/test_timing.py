"""What is claimed of two series of measurements."""

from __future__ import annotations

import random
import time

import pytest

pytest.importorskip("numpy")
from flake8_jax.runtime_checks.child import timing
from flake8_jax.runtime_checks.child.timing import Samples


def series(mean: float, noise: float, seed: int, rounds: int = 40) -> Samples:
    """Blocks of four calls, which the machine makes slower."""
    source = random.Random(seed)

    def block() -> list[float]:
        return [mean * (1 + abs(source.gauss(0, noise))) for _ in range(4)]

    return Samples(([block() for _ in range(rounds)], [block() for _ in range(rounds)]))


def epochs(
    first: float, second: float, noise: float, seed: int, layout: float = 0.0, rounds: int = 20
) -> list[tuple[Samples, Samples]]:
    """Five epochs; layout: by how much where a program lies in memory changes its time, from epoch to epoch."""
    source = random.Random(seed)
    return [
        (
            series(first, noise, 100 * seed + n),
            series(second * (1 + source.gauss(0, layout)), noise, 100 * seed + n + 50),
        )
        for n in range(timing.EPOCHS)
    ]


@pytest.mark.parametrize(("noise", "layout"), [(0.001, 0.0), (0.05, 0.05), (0.5, 0.0), (0.01, 0.1)])
def test_the_same_function_is_not_claimed_to_differ(noise: float, layout: float) -> None:
    claims = [timing.compare(epochs(1.0, 1.0, noise, seed, layout))["claim"] for seed in range(12)]
    assert claims.count("none") == 12


@pytest.mark.parametrize("noise", [0.001, 0.1, 0.4])
def test_what_is_clear_is_claimed(noise: float) -> None:
    found = timing.compare(epochs(1.2, 1.0, noise, 1))
    assert found["claim"] == "faster" and 1.15 < found["ratio"] < 1.25
    assert found["range"][0] < found["ratio"] < found["range"][1]
    assert timing.compare(epochs(1.0, 1.2, noise, 1))["claim"] == "slower"


def test_what_is_within_the_noise_is_not_claimed() -> None:
    assert timing.compare(epochs(1.02, 1.0, 0.5, 1))["claim"] == "none"
    few = epochs(2.0, 1.0, 0.001, 1)
    assert timing.compare(few[:2])["claim"] == "none", "memory may make that difference, and two show no spread"
    assert timing.compare(few[:3])["claim"] == "faster"


def test_a_slow_spell_that_hits_both_changes_nothing() -> None:
    pairs = epochs(1.2, 1.0, 0.01, 1)
    for side in pairs[0]:
        for half in side.halves:
            half[:15] = [[3 * call for call in block] for block in half[:15]]
    assert timing.compare(pairs)["ratio"] == pytest.approx(1.2, rel=0.02)


def test_time_of_the_processor_counts_where_the_wall_clock_is_disturbed() -> None:
    pairs = [
        (Samples(slow.halves, quick.halves), Samples(other.halves, same.halves))
        for (slow, other), (quick, same) in zip(
            epochs(1.2, 1.0, 30.0, 1, rounds=8), epochs(1.2, 1.0, 0.01, 2, rounds=8)
        )
    ]
    assert timing.compare(pairs)["claim"] == "none"
    found = timing.compare(pairs, ("wall", "processor"))
    assert (found["claim"], found["measure"]) == ("faster", "processor")


def test_rounds_go_back_and_forth_and_get_fresh_inputs() -> None:
    order: list[str] = []
    prepared: list[int] = []

    def prepare(calls: int) -> list[int]:
        prepared.append(calls)
        return list(range(calls))

    sides = [timing.Side(prepare, lambda item: order.append("A")), timing.Side(prepare, lambda item: order.append("B"))]
    first, second = timing.rounds(sides, [2, 1], 2, 60.0)
    assert "".join(order) == "AABBAA" + "BAAAAB"
    assert prepared == [2, 1, 1, 2, 1, 2, 2, 1]
    assert (len(first.calls()), len(second.calls())) == (8, 4)


def test_rounds_end_when_they_are_tight_or_the_time_is_over() -> None:
    side = timing.Side(lambda calls: [0] * calls, lambda item: time.sleep(0.002))
    assert len(timing.rounds([side], [1], 1000, 0.1)[0].halves[0]) < 100
    assert timing.is_tight(epochs(1.0, 1.0, 0.001, 1))
    assert not timing.is_tight(epochs(1.0, 1.0, 0.5, 1))


def test_making_inputs_is_not_timed() -> None:
    def prepare(calls: int) -> list[int]:
        time.sleep(0.05)
        return [0] * calls

    assert sum(timing.block(timing.Side(prepare, lambda item: None), 3)) < 0.01


def test_blocks_are_short() -> None:
    calls, seconds = timing.calls_for(timing.Side(lambda calls: [0] * calls, lambda item: time.sleep(0.0005)))
    assert calls * seconds >= 0.5 * timing.BLOCK_SECONDS and calls < 20
    assert timing.calls_for(timing.Side(lambda calls: [0] * calls, lambda item: None, 7))[0] == 7


def test_quantiles() -> None:
    assert [timing.quantile([3.0, 1.0, 2.0], share) for share in (0, 0.25, 0.5, 1)] == [1.0, 1.5, 2.0, 3.0]
