"""What is claimed of two series of measurements."""

from __future__ import annotations

import random
import time

from flake8_jax.runtime_checks.child import timing


def series(mean: float, noise: float, seed: int) -> list[float]:
    source = random.Random(seed)
    return [mean * source.lognormvariate(0, noise) for _ in range(40)]


def test_the_same_function_is_never_claimed_to_differ() -> None:
    for seed in range(200):
        first, again, second = (series(1.0, 0.3, 3 * seed + part) for part in range(3))
        assert timing.compare(first, again, second, timing.LEAST_RATIO)["claim"] == "none"


def test_what_is_clear_is_claimed() -> None:
    found = timing.compare(series(2.0, 0.02, 1), series(2.0, 0.02, 2), series(1.0, 0.02, 3), timing.LEAST_RATIO)
    assert found["claim"] == "faster" and 1.9 < found["ratio"] < 2.1
    found = timing.compare(series(1.0, 0.02, 1), series(1.0, 0.02, 2), series(2.0, 0.02, 3), timing.LEAST_RATIO)
    assert found["claim"] == "slower" and 0.45 < found["ratio"] < 0.55


def test_a_difference_within_the_band_is_not_claimed() -> None:
    first, again, second = series(1.3, 0.3, 1), series(1.3, 0.3, 2), series(1.0, 0.3, 3)
    found = timing.compare(first, again, second, timing.LEAST_RATIO)
    assert found["ratio"] > timing.LEAST_RATIO and found["claim"] == "none"


def test_a_busy_machine_asks_for_more() -> None:
    quiet = [series(1.18, 0.01, 1), series(1.18, 0.01, 2), series(1.0, 0.01, 3)]
    assert timing.compare(*quiet, timing.LEAST_RATIO)["claim"] == "faster"
    assert timing.compare(*quiet, timing.LEAST_RATIO_BUSY)["claim"] == "none"
    assert timing.is_busy(0.9) and not timing.is_busy(0.1)


def test_rounds_go_back_and_forth_and_get_fresh_inputs() -> None:
    order: list[str] = []
    prepared: list[int] = []

    def prepare(calls: int) -> list[int]:
        prepared.append(calls)
        return list(range(calls))

    sides = [timing.Side(prepare, lambda item: order.append("A")), timing.Side(prepare, lambda item: order.append("B"))]
    samples = timing.rounds(sides, [2, 1], 2)
    assert "".join(order) == "AABAA" + "AABAA"
    assert prepared == [2, 1, 2] * 2
    assert [len(values) for values in samples] == [2, 2, 2]


def test_making_inputs_is_not_timed() -> None:
    def prepare(calls: int) -> list[int]:
        time.sleep(0.05)
        return [0] * calls

    assert timing.once(timing.Side(prepare, lambda item: None), 3) < 0.01


def test_samples_are_long_enough_for_the_clock() -> None:
    calls, seconds = timing.calls_for(timing.Side(lambda calls: [0] * calls, lambda item: time.sleep(0.0005)))
    assert calls * seconds >= 0.5 * timing.SAMPLE_SECONDS and calls < 20
    assert timing.calls_for(timing.Side(lambda calls: [0] * calls, lambda item: None, 7))[0] == 7


def test_quantiles() -> None:
    assert [timing.quantile([3.0, 1.0, 2.0], share) for share in (0, 0.25, 0.5, 1)] == [1.0, 1.5, 2.0, 3.0]
