"""Verdicts on traces and compilations that a run showed: of which line and loop they are. No run is made."""

from __future__ import annotations

import pytest
from runtime.verdicts import FILE, OTHER

from flake8_jax.runtime_checks.attribution import without_foreign
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.statements import rows_of_loop
from flake8_jax.runtime_checks.verify import Asked, Run, Workload, judged


@pytest.mark.parametrize(
    ("row", "verdict", "said"),
    [
        (10, "confirmed", "compiled for every value: 3 times `jit(f)`, 0.6 s in all"),
        (12, "confirmed", "compiled for every value: 3 times `jit(f)`, 0.6 s in all"),  # of the same statement
        (
            8,
            "confirmed-elsewhere",
            "line 8 of the same function: compiled for every value: 3 times `jit(f)`, 0.6 s in all",
        ),
    ],
)
def test_compilations_for_another_line_of_the_loop(row: int, verdict: str, said: str) -> None:
    once = {"name": "jit(f)", "seconds": 0.2, "reason": "", "stack": [[OTHER, 3, "g", 2], [FILE, row, "train", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": [once] * 3}, {})}
    asked = Asked("static-arg-in-loop", Spot(FILE, 10, 10), statement=frozenset({10, 11, 12}))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert (found.verdict, found.reason) == (verdict, said)


@pytest.mark.parametrize(
    ("row", "runs", "shapes", "verdict"),
    [
        (10, (1, 1), ("f32[1]", "f32[2]"), "confirmed"),
        (10, (1, 2), ("f32[1]", "f32[2]"), "inconclusive"),  # of two calls, each with arrays of one length
        (10, (1, 1), ("f32[1]", "f32[1]"), "inconclusive"),  # compiled again, but for no other length
        (12, (1, 1), ("f32[1]", "f32[2]"), "inconclusive"),  # for another line of the loop
    ],
)
def test_an_array_that_grows_is_compiled_for_several_shapes(
    row: int, runs: tuple[int, int], shapes: tuple[str, str], verdict: str
) -> None:
    compiled = [
        {"name": "concatenate", "seconds": 0.1, "reason": "no", "signature": shape, "stack": [[FILE, row, "f", run]]}
        for run, shape in zip(runs, shapes)
    ]
    watch = {"visits": {"eager": 2}, "most": {"eager": 2}, "numbers": [1]}
    asked = Asked("growing-array-in-loop", Spot(FILE, 10, 10))
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    seen = Run({"watches": [watch], "raised": [], "compilations": compiled}, {})
    found = judged(0, asked, {"plain": seen}, workload, {"backend": "cpu"})
    assert found.verdict == verdict
    if verdict == "confirmed":
        assert found.reason == "JAX compiled `concatenate` of the line for 2 shapes of its arguments"


@pytest.mark.parametrize(
    ("visits", "names", "entered", "said"),
    [
        (
            {"eager": 1},
            ["add", "dot", "tanh"],
            0,
            "confirmed: JAX compiled 3 operations of the line one by one: add, dot, tanh",
        ),
        ({"eager": 2}, ["add"], 0, "confirmed: JAX compiled an operation of the line one by one: add"),
        ({"eager": 2}, ["f because"], 0, "inconclusive: the line ran twice outside of jit, and JAX had compiled its"),
        ({"eager": 16}, [], 0, "confirmed: the line ran 16 times outside of jit, and each time"),
        ({"eager": 16}, [], 16, "confirmed: the line ran 16 times outside of jit, and each time"),  # by grad
        (
            {"eager": 16},
            [],
            1,
            "inconclusive: JAX traced the function that the line calls less often than the line ran",
        ),
        ({"eager": 2}, [], 0, "inconclusive: the line ran twice outside of jit, and JAX had compiled its"),
        (
            {"abstract": 4},
            [],
            0,
            "inconclusive: the line ran only under transforms (4 times), and JAX compiled too little of it singly",
        ),
        (  # vmap without jit
            {"abstract": 4},
            ["add", "cos", "dot", "mul", "sin"],
            0,
            "confirmed: JAX compiled 5 operations of the line one by one: add, cos, dot, mul and 1 more",
        ),
    ],
)
def test_operations_that_run_one_by_one(visits: dict[str, int], names: list[str], entered: int, said: str) -> None:
    """A reason, which JAX gives for functions of the user's, comes after the name."""
    stack = [[FILE, 10, "f", 1]]
    compiled = [
        {"name": name.split()[0], "reason": " ".join(name.split()[1:]), "seconds": 0.1, "stack": stack}
        for name in names
    ]
    watch = {"visits": visits, "most": visits, "runs": dict.fromkeys(visits, 1)}
    watch |= {"entered": entered, "entered_runs": int(entered > 0)}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": compiled}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked("eager-step", Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(("row", "verdict"), [(11, "confirmed"), (4, "inconclusive")])
def test_compilations_before_the_loop(row: int, verdict: str) -> None:
    again = {"name": "_uniform", "seconds": 0.1, "reason": "", "stack": [[FILE, row, "main", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": [again] * 3}, {})}
    asked = Asked("jit-in-loop", Spot(FILE, 10, 10), loop=rows_of_loop("\n" * 7 + "for i in x:\n f()\n\n\n g()", 10))
    found = judged(0, asked, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize("rule", ["jit-in-loop", "jit-per-call"])
@pytest.mark.parametrize(
    ("types", "verdict"),
    [(("f32[2]", "f32[2]"), "confirmed"), (("f32[2]", "f32[3]"), "inconclusive"), (("", ""), "confirmed")],
)
def test_a_jit_further_out_compiles_as_often_for_other_types(rule: str, types: tuple[str, str], verdict: str) -> None:
    compiled = [
        {"name": "jit(cost)", "seconds": 0.1, "reason": "", "signature": one, "stack": [[FILE, 10, "main", 1]]}
        for one in types
    ]
    watch = {"visits": {"eager": 2}, "most": {"eager": 2}, "numbers": [1]}
    runs = {"plain": Run({"watches": [watch], "raised": [], "compilations": compiled}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize(
    ("rule", "visits", "verdict", "said"),
    [
        ("impure-call", {"abstract": 2}, "confirmed", "it is called once a compilation: it ran twice while JAX traced"),
        ("impure-call", {"concrete": 3}, "inconclusive", "the line ran 3 times while JAX differentiated or mapped"),
        ("print-in-staged", {"concrete": 3}, "confirmed", "it prints a tracer: it ran 3 times while JAX"),
    ],
)
def test_what_grad_runs_outside_of_jit_runs_in_every_call(
    rule: str, visits: dict[str, int], verdict: str, said: str
) -> None:
    runs = {"plain": Run({"watches": [{"visits": visits, "functions": ["f"]}], "raised": []}, {})}
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), runs, workload, {"backend": "cpu"})
    assert found.verdict == verdict and found.reason.startswith(said), found


@pytest.mark.parametrize(("words", "verdict"), [({"g"}, "confirmed"), ({"h"}, "inconclusive")])
def test_a_compilation_belongs_to_the_finding_that_names_it(words: set[str], verdict: str) -> None:
    """Two functions are compiled in a loop; ``g`` alone again and again, on line 12."""
    again = {"name": "jit(g)", "seconds": 0.2, "reason": "", "stack": [[FILE, 12, "train", 1]]}
    watch = {"visits": {"eager": 3}, "most": {"eager": 3}, "numbers": [1]}
    seen = {"watches": [watch] * 2, "raised": [], "compilations": [again] * 3}
    other = Asked("jit-in-loop", Spot(FILE, 10, 10), words=frozenset({"jit", "g"}), statement=frozenset({10}))
    mine = Asked("jit-in-loop", Spot(FILE, 9, 9), words=frozenset({"jit", *words}), statement=frozenset({9}))
    runs = {"plain": Run(without_foreign(0, (mine, other), seen), {})}
    found = judged(0, mine, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert found.verdict == verdict, found


@pytest.mark.parametrize(
    ("count", "row", "verdict"), [(100, 10, "confirmed"), (2, 10, "inconclusive"), (100, 12, "inconclusive")]
)
def test_operations_for_new_shapes_are_no_new_function_in_each_iteration(count: int, row: int, verdict: str) -> None:
    again = {"name": "jit(multiply)", "seconds": 0.2, "reason": "", "stack": [[FILE, row, "train", 1]]}
    watch = {"visits": {"eager": 100}, "most": {"eager": 100}, "numbers": [1]}
    run = Run({"watches": [watch], "raised": [], "compilations": [again] * count}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    asked = Asked("transform-in-loop", Spot(FILE, 10, 10))
    assert judged(0, asked, {"plain": run}, workload, {"backend": "cpu"}).verdict == verdict


@pytest.mark.parametrize(
    ("moments", "types", "said"),
    [
        ((1.1, 2.1, 3.1), ("f32[2]",) * 3, "confirmed: compiled in several calls: 3 times `jit(add)`"),
        (
            (1.1, 1.2, 1.3),
            ("f32[2]", "f32[3]", "f32[4]"),
            "inconclusive: the line ran 3 times, and JAX compiled nothing",
        ),
        ((1.1, 1.2, 1.3), ("f32[2]",) * 3, "inconclusive: the line ran 3 times, and JAX compiled nothing again for it"),
        (
            (1.1, 2.1, 3.1),
            ("f32[2]", "f32[3]", "f32[4]"),
            "inconclusive: JAX compiled `jit(add)` in 3 runs of the line, ",
        ),
    ],
)
@pytest.mark.parametrize("rule", ["transform-in-loop", "jit-per-call"])
def test_what_is_compiled_again_is_compiled_for_equal_types_in_another_call(
    moments: tuple[float, ...], types: tuple[str, ...], said: str, rule: str
) -> None:
    compiled = [
        {
            "name": "jit(add)",
            "seconds": 0.1,
            "signature": one,
            "moment": moment,
            "stack": [[FILE, 10, "f", int(moment)]],
        }
        for moment, one in zip(moments, types)
    ]
    watch = {"visits": {"eager": 3}, "most": {"eager": 1}, "numbers": [1, 2, 3], "moments": [1.0, 2.0, 3.0]}
    run = Run({"watches": [watch], "raised": [], "compilations": compiled}, {})
    workload = Workload(("python", "main.py"), ("/project",), "/project")
    found = judged(0, Asked(rule, Spot(FILE, 10, 10)), {"plain": run}, workload, {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("step id=7 defined at /project/model.py:9", "confirmed: compiled in several calls: twice `jit(scan)`"),
        ("step id=7 defined at /project/model.py:4", "confirmed: compiled in several calls: twice `jit(scan)`"),
        (
            "other id=7 defined at /project/model.py:4",
            "inconclusive: JAX compiled `jit(scan)` in 2 runs of the line (line 12",
        ),
    ],
)
def test_a_loop_of_jax_compiles_for_a_new_body(function: str, said: str) -> None:
    """The finding on ``jax.jit`` is about the body of the ``scan`` on line 12, which has a finding of its own."""
    compiled = [
        {"name": "jit(scan)", "seconds": 0.1, "signature": "f32[2]", "moment": run + 0.1,
         "stack": [[FILE, 12, "f", run]], "reason": f"never seen function:\n    {function}\n  but"}
        for run in (1, 2)
    ]  # fmt: skip
    watch = {"visits": {"eager": 2}, "most": {"eager": 1}, "numbers": [1, 2], "moments": [1.0, 2.0]}
    seen = {"watches": [watch] * 2, "raised": [], "compilations": compiled}
    mine = Asked("jit-per-call", Spot(FILE, 9, 9), words=frozenset({"jit", "step"}), statement=frozenset({9}))
    scan = Asked("transform-in-loop", Spot(FILE, 12, 12), statement=frozenset({12}))
    runs = {"plain": Run(without_foreign(0, (mine, scan), seen), {})}
    found = judged(0, mine, runs, Workload(("python", "main.py"), ("/project",), "/project"), {"backend": "cpu"})
    assert f"{found.verdict}: {found.reason}".startswith(said), found


@pytest.mark.parametrize(("function", "words"), [("<module>", "the program"), ("f", "the function around the line")])
def test_traces_of_a_line_of_no_function_are_counted_in_the_program(function: str, words: str) -> None:
    watch = {"visits": {"eager": 9}, "most": {"eager": 9}, "entered": 9, "functions": [function]}
    run = Run({"watches": [watch], "raised": []}, {})
    found = judged(
        0, Asked("transform-in-loop", Spot(FILE, 10, 10)), {"plain": run}, Workload((), ("/project",), "/"), {}
    )
    assert found.reason.endswith(f"JAX traced the function 9 times in one run of {words}"), found
