"""``jaxlint bench`` on small functions."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from runtime.measured import Command, command, data

from flake8_jax.cli.bench import claim_in_words, described
from flake8_jax.runtime_checks.measurements import (
    Bench,
    BenchCase,
    Comparison,
    FirstCall,
    PerCall,
    Setting,
    Side,
    Spread,
    Transfer,
)

pytestmark = pytest.mark.jax
jaxlint = pytest.fixture(command)


def test_two_functions(jaxlint: Command) -> None:
    status, found = data(
        jaxlint, "bench", "train.py:long", "--vs", "train.py:donating", "--case", "f32[n,n], f32[4,n]",
        "--dim", "n=128", "--rounds", "30", "--seconds", "1",
    )  # fmt: skip
    assert status == 0 and found["cores"] == 1
    case = found["cases"][0]
    assert case["inputs"] == "f32[128,128], f32[4,128]" and case["transfer"]["bytes"] == 4 * (128 + 4) * 128
    slow, fast = case["sides"]
    assert (slow["mode"], slow["donates"]) == ("jitted here", False)
    assert (fast["mode"], fast["donates"]) == ("jitted", True)
    for side in (slow, fast):
        first = side["first_call"]
        assert first["compiled"] == 1 and side["recompiles"]["count"] == 0
        assert 0 < first["trace"] + first["lower"] + first["compile"] < first["seconds"]
        assert side["run"]["median"] < first["compile"]
    assert case["comparison"]["claim"] == "faster" and case["comparison"]["ratio"] > 2
    assert len(slow["samples"]) >= 2 * case["rounds"] and case["comparison"]["epochs"] > 2
    assert slow["cost"]["flops"] > 60 * 2 * 128**3 * 0.9 and slow["memory"]["argument"] >= 4 * 128 * 128
    assert 0 < slow["dispatch"] < slow["run"]["median"] and slow["returns"] > 0
    assert found["peak"]["source"] == "measured here" and found["peak"]["flops"] > found["peak"]["bytes"] / 100
    assert case["agreement"]["same"] is False


def test_what_keeps_a_difference_from_being_claimed() -> None:
    within = Comparison(0.9, (0.8, 1.05), (0.8, 1.25), "none", epochs=5)
    beyond = Comparison(0.25, (0.05, 1.1), (0.5, 2.0), "none", epochs=5)
    assert "1.11× the time of f, but two halves" in claim_in_words("f", "g", within, tight=True)
    said = claim_in_words("f", "g", beyond, tight=False)
    assert "4× the time of f, but the repetitions allow anything between 0.909× and 20×; more --seconds" in said
    few = claim_in_words("f", "g", Comparison(0.5, (0.4, 0.6), (0.9, 1.1), "none", epochs=2), tight=True)
    assert few.endswith(
        "2× the time of f, but within --timeout they were compiled only 2 of the 3 times that a claim needs."
    )


@pytest.mark.parametrize(("returns", "said"), [(8e-6, "after 8 µs"), (9e-5, "with its result")])
def test_a_call_comes_back_with_its_result_at_the_latest(returns: float, said: str) -> None:
    run, first = Spread(4e-5, (3e-5, 5e-5), 2e-5, 6e-5), FirstCall(0.3, 0.1, 0.1, 0.1, 1)
    side = Side("f", "", 0, "jitted", first, False, 1, run, (4e-5,), PerCall(0.0, 0.0), dispatch=3e-6, returns=returns)
    case = BenchCase("", "f32[3]", "given", 1, True, Transfer(0, 0.0), (side,), (1.0, 1.0))
    text = described(Bench(Setting("0.10.2", "3.11", "cpu", "cpu"), 0.1, False, 1, (case,)))
    assert f"for a jitted function that does nothing; the call comes back {said}\n" in text


def test_compilation_in_every_call_is_not_work(jaxlint: Command) -> None:
    status, out, _ = jaxlint("bench", "train.py:again", "--eager", "--rounds", "5", "--plot", "terminal")
    assert status == 0
    assert "compiles 1 times in every call" in out
    assert "made up; --case says others" in out
    assert "samples by time of one call" in out and "█" in out


def test_a_static_argument_is_missing(jaxlint: Command) -> None:
    status, out, err = jaxlint("bench", "train.py:branch", "--case", "f32[4], 4")
    assert (status, out) == (2, "")
    assert "branch(f32[4], 4) raised TracerBoolConversionError" in err
    assert "train.py:38); it was jitted for this, so name what is static: --static NAME" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train.py:step", "--plot", "times.pdf"], "write a file that ends in .png or .svg"),
        (["train.py:step", "--plot", "no/times.png"], "there is no folder no"),
        (["train.py:step", "--python", "no/python"], "no/python cannot be started"),
        (["train.py:step", "--vs", "jit", "--case", "f32[8,8], f32[4,8]"], "train.py:step is jitted; add --eager"),
        (["train.py:long", "--static", "width"], "train.py:long has no such parameter; it has w, x"),
    ],
)
def test_wrong_calls(jaxlint: Command, arguments: list[str], message: str) -> None:
    status, out, err = jaxlint("bench", *arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is not None, reason="matplotlib is installed")
def test_a_png_needs_matplotlib(jaxlint: Command) -> None:
    status, _, err = jaxlint("bench", "train.py:step", "--plot", "times.png")
    assert status == 2 and "this needs matplotlib" in err


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_a_png(jaxlint: Command, tmp_path: Path) -> None:
    status, _, err = jaxlint("bench", "train.py:step", "--plot", "times.png", "--rounds", "5")
    assert status == 0 and "wrote times.png" in err
    assert (tmp_path / "times.png").read_bytes().startswith(b"\x89PNG")


def test_without_jit(jaxlint: Command) -> None:
    _, found = data(
        jaxlint, "bench", "train.py:step", "--vs", "eager", "--case", "f32[8,8], f32[4,8]", "--rounds", "12",
        "--seconds", "0.5",
    )  # fmt: skip
    case = found["cases"][0]
    assert [side["mode"] for side in case["sides"]] == ["jitted", "eager"]
    assert case["comparison"]["claim"] == "slower" and case["agreement"]["same"]
    assert case["comparison"]["epochs"] == 3, "enough for a claim, although compiling exceeds --seconds"
