"""Verdicts on waits for the device and on NaN that a run showed. No run is made."""

from __future__ import annotations

import pytest
from runtime.verdicts import FILE, OTHER, judged_of

from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, judged


@pytest.mark.parametrize(
    ("chain", "said"),
    [
        (((FILE, 30),), "confirmed: the line waited for the device twice in one run of `main`"),
        (((OTHER, 3),), "inconclusive: the line waited for the device once in each run of its function"),
        (
            (),
            "confirmed: the line waited for the device in 2 runs of its function",
        ),  # of a step, whose loop is not in sight
    ],
)
def test_the_loop_around_a_call_that_leads_to_the_line(chain: tuple[tuple[str, int], ...], said: str) -> None:
    waits = [
        {"name": "__bool__", "state": "eager", "ready": False, "stack": [[FILE, 10, "f", run], [FILE, 30, "main", 1]]}
        for run in (2, 3)
    ]
    runs = {"plain": Run({"watches": [{"visits": {"eager": 2}}], "raised": [], "waits": waits}, {})}
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10), chain=chain)
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(
    ("derived", "nan", "verdict", "said"),
    [
        (0, None, "inconclusive", "nothing took the gradient of the line in this run; "),
        (
            0,
            ("sqrt", "forward", 10),
            "inconclusive",
            "nothing took the gradient of the line in this run (`sqrt` on line",
        ),
        (1, None, "inconclusive", "no NaN appeared on these inputs"),
        (1, ("mul", "gradient", 10), "confirmed", "with `jax_debug_nans`, `mul` gave NaN in its gradient"),
        (1, ("mul", "gradient", 7), "confirmed-elsewhere", "line 7 of the same function: "),
        (
            1,
            ("mul", "gradient", 70),
            "inconclusive",
            "the first NaN came from other code (`mul` on line 70, where",
        ),
        (1, ("sqrt", "forward", 10), "confirmed", "with `jax_debug_nans`, `sqrt` gave NaN in the value that JAX"),
        (1, ("log", "forward", 10), "inconclusive", "the first NaN came from the line (`log` on line 10, where"),
    ],
)
def test_whether_the_first_nan_is_of_the_gradient_of_the_line(
    derived: int, nan: tuple[str, str, int] | None, verdict: str, said: str
) -> None:
    """A logarithm of a negative number is NaN, but its derivative is not."""
    nans = [] if nan is None else [{"name": nan[0], "kind": nan[1], "source": [[FILE, nan[2], "f"]]}]
    watch = {"visits": {"abstract": 1}, "derived": derived, "functions": ["f"]}
    runs = {mode: Run({"watches": [watch], "raised": [], "nans": nans}, {}) for mode in ("plain", "nans")}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("where-nan-grad", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(
    ("row", "verdict", "said"),
    [
        (10, "confirmed", "with `jax_debug_nans`, `exp` of the line gave NaN"),
        (20, "inconclusive", "the first NaN came from other code (`exp` on line 20, where JAX stopped)"),
        (None, "inconclusive", "no NaN appeared on these inputs"),
    ],
)
def test_a_nan_counts_where_it_comes_from(row: int | None, verdict: str, said: str) -> None:
    nans = [] if row is None else [{"name": "exp", "kind": "forward", "source": [[FILE, row, "f"]]}]
    run = Run({"watches": [{"visits": {"abstract": 1}, "functions": ["f"]}], "raised": [], "nans": nans}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("inf-mask-softmax", Spot(FILE, 10, 10))
    found = judged(0, asked, {"plain": run, "nans": run}, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


def test_a_wait_that_cannot_be_seen_is_not_denied() -> None:
    """NumPy reads an array of JAX in ``a[i] = x`` without a word."""
    runs = {"plain": Run({"watches": [{"visits": {"eager": 2}}], "raised": [], "waits": []}, {})}
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == "inconclusive" and "inside NumPy, as in `a[i] = x`" in found.reason, found


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        ([True, False, False], "confirmed: the line waited for the device twice in one run of `f`"),
        ([True, True, True], "inconclusive: the line read arrays of JAX 3 times in one run of its function, and each"),
        ([True, True, False], "inconclusive: the line read arrays of JAX 3 times in one run of its function, and the"),
        ([None, False, False], "confirmed: the line read arrays of JAX 3 times in one run of `f`"),
    ],
)
def test_to_read_an_array_that_is_ready_is_no_wait(ready: list[bool | None], said: str) -> None:
    stack = [[FILE, 10, "f", 1]]
    waits = [{"name": "__float__", "state": "eager", "ready": one, "stack": stack} for one in ready]
    found = judged_of("sync-in-loop", {"waits": waits})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


def test_the_waits_of_a_statement_over_several_lines() -> None:
    """Python counts the tests of ``a or b``, each on a line of its own, to the first one."""
    waits = [{"name": "__bool__", "state": "eager", "ready": False, "stack": [[FILE, 9, "f", 1]]}] * 3
    run = Run({"watches": [{"visits": {"eager": 3}}], "raised": [], "waits": waits}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("sync-in-loop", Spot(FILE, 10, 10), statement=frozenset({9, 10, 11}))
    found = judged(0, asked, {"plain": run}, workload, {"backend": "cpu"})
    assert found.verdict == "confirmed" and found.reason.startswith("the statement of the line waited"), found
