"""What is too much for the analysis costs a message, and never the rest of the program."""

from __future__ import annotations

import pytest
from semantics.literate import run_engine

from flake8_jax.core import ir
from flake8_jax.rules import all_rules
from flake8_jax.semantics.analysis import entries
from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.semantics.domain.scopes import Frame
from flake8_jax.semantics.domain.values import FunctionValue
from flake8_jax.semantics.interpreter import loops, running
from flake8_jax.semantics.machine.core import Machine
from flake8_jax.syntax.lower import lower

BRANCH = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n\n\n"
LONG = "def long(x):\n" + "    x = x + 1\n" * 200 + "    return x\n"


def test_an_entry_that_runs_too_many_statements_ends_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_STATEMENTS_PER_ENTRY", -150)
    analysis, _, _ = run_engine({"code.py": f"{BRANCH}{LONG}"})
    assert [(cut.path, cut.function, cut.reason) for cut in analysis.cuts] == [
        ("/project/code.py", "long", "it runs too many statements")
    ]
    assert [finding.name for finding in analysis.findings] == ["traced-branch"]


def test_a_file_whose_entries_run_too_many_statements_is_named_and_the_others_are_analyzed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entries, "MAX_ENTRIES_PER_FILE", 0.5)
    monkeypatch.setattr(entries, "MAX_STATEMENTS_PER_ENTRY", 0)
    many = "".join(f"def f{i}(x):\n" + "    x = x + 1\n" * 9 for i in range(9))
    analysis, _, _ = run_engine({"code.py": BRANCH, "many.py": many})
    assert {(cut.path, cut.reason) for cut in analysis.cuts} == {
        ("/project/many.py", "its functions run too many statements")
    }
    assert [finding.name for finding in analysis.findings] == ["traced-branch"]


def test_too_deep_a_recursion_of_the_analysis_costs_its_entry_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(*_: object) -> int:
        raise RecursionError

    track_called = running.track_called

    def overflow_in_long(m: Machine, func: FunctionValue, kind: str) -> None:
        if func.fn.name == "long":
            overflow()
        track_called(m, func, kind)

    monkeypatch.setattr(running, "track_called", overflow_in_long)
    analysis, _, _ = run_engine({"code.py": f"{BRANCH}{LONG}"})
    assert analysis.crashes == []
    assert [cut.reason for cut in analysis.cuts] == ["it is nested too deeply"]
    assert [finding.name for finding in analysis.findings] == ["traced-branch"]


def nested(depth: int, body: str) -> str:
    """A function with loops in loops, and the body in the innermost."""
    loops = "".join(f"{'    ' * (i + 1)}for i{i} in range(3):\n" for i in range(depth))
    return f"import jax\n\n\ndef draw(key, x):\n{loops}{'    ' * (depth + 1)}{body}\n    return x\n"


@pytest.mark.parametrize("depth", [1, 3, 4, 5, 6])
def test_a_key_that_loops_use_again_is_found_in_nested_loops(depth: int) -> None:
    analysis, _, _ = run_engine({"code.py": nested(depth, "x = x + jax.random.normal(key)")})
    assert [finding.code for finding in analysis.findings] == ["JAX302"]


@pytest.mark.parametrize("depth", [1, 3, 4, 5, 6, 7, 12])
def test_a_key_that_is_split_in_nested_loops_is_none(depth: int) -> None:
    body = "key, part = jax.random.split(key); x = x + jax.random.normal(part)"
    analysis, _, _ = run_engine({"code.py": nested(depth, body)})
    assert analysis.findings == []


def test_loops_nested_more_deeply_are_not_judged_and_counted() -> None:
    analysis, _, _ = run_engine({"code.py": nested(7, "x = x + jax.random.normal(key)")})
    assert analysis.findings == []
    assert analysis.counters["loops nested too deeply"] > 0


def test_a_loop_nested_too_deeply_runs_once_for_all_passes_over_those_around(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run_block = loops.run_block

    def counted(m: Machine, frame: Frame, body: list[ir.Stmt]) -> int:
        runs.append(body[0].start)
        return run_block(m, frame, body)

    monkeypatch.setattr(loops, "run_block", counted)
    text = nested(12, "key, part = jax.random.split(key); x = x + jax.random.normal(part)")
    run_engine({"code.py": text})
    deepest = text.index("key, part")
    assert runs.count(deepest) < 4


def test_what_a_loop_nested_too_deeply_leaves_behind_is_no_constant() -> None:
    body = "n = n + 1; flag = n > 5"
    after = "\n    if flag:\n        y = jax.random.normal(key)\n    return jax.random.normal(key)"
    text = nested(9, body).replace("(key, x):", "(key, n, flag=False):").replace("\n    return x", after)
    analysis, _, _ = run_engine({"code.py": text + "\n\ndraw(jax.random.key(0), 0)\n"})
    assert [finding.code for finding in analysis.findings] == ["JAX301"]


def test_a_way_out_of_a_loop_nested_too_deeply_is_kept() -> None:
    text = nested(9, "return jax.random.normal(key)").replace("    return x\n", "    return jax.random.normal(key)\n")
    analysis, _, _ = run_engine({"code.py": text})
    assert analysis.findings == []


def test_a_report_that_many_paths_lead_to_is_kept_once() -> None:
    functions = ["def f0(x):\n    if x > 0:\n        return x\n    return -x\n"]
    functions += [f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 30)]
    text = "import jax\n\n\n" + "".join(functions) + "jax.jit(f29)(1.0)\n"
    analysis, _, _ = run_engine({"code.py": text})
    assert [finding.name for finding in analysis.findings] == ["traced-branch"]
    assert analysis.findings[0].evidence[0].text == "`jax.jit` traces `f29`"


def test_a_decorator_that_ran_too_often_gives_nothing_known() -> None:
    """Else a call of what it decorates would pass its own arguments, where the decorator passes a fresh key first."""
    count = 300
    calls = "\n".join(f"    total += loss(params, jax.random.fold_in(key, {i}), {i})" for i in range(count))
    program = f"""
import jax

def fresh(rng, tag):
    def decorate(function):
        def wrapped(*args):
            nonlocal rng
            rng, given = jax.random.split(rng)
            return function(given, *args)
        return wrapped
    return decorate

def loss(params, key, i):
    @fresh(key, i)
    def forward(rng, x=0.0):
        return jax.random.normal(rng) + x
    return forward(params["a"]) + forward(params["a"])

def main(params, key):
    total = 0.0
{calls}
    return total
"""
    analysis, _, _ = run_engine({"code.py": program})
    assert [finding.name for finding in analysis.findings] == []


def test_a_constructor_that_ran_too_often_still_sets_its_constants() -> None:
    """Else nothing tells which class of several an object is of, although its methods are known."""
    made = "\n".join(f'    Exo("{path}", 1)' for path in "abcdefgh")
    program = f"""
import jax
import jax.numpy as jnp
from somewhere import Base

class Exo(Base):
    def __init__(self, path, unit):
        self.kind = "exo"
        self.path = path
        self.unit = unit

    def ratio(self, T, other):
        return T / other

class Opacity:
    def __init__(self, source):
        self.source = source

    def matrix(self, T):
        if self.source.kind == "hit":
            return jax.vmap(self.source.ratio, (None, 0, None))(self.source.iso, T, 3.0)
        if self.source.kind == "exo":
            return jax.vmap(self.source.ratio, (0, None))(T, 3.0)
        return None

    def wrong(self, T):
        if self.source.kind == "exo":
            return jax.vmap(self.source.ratio, (None, 0, None))(self.source.iso, T, 3.0)
        return None

def main():
{made}
    opacity = Opacity(Exo("i", 9))
    return opacity.matrix(jnp.ones(3)), opacity.wrong(jnp.ones(3))
"""
    source = SourceFile("code.py", "code", False, lower(program), program)
    findings = analyze([source], AnalysisRequest(), all_rules()).findings
    assert [program[: f.start].count("wrong(") for f in findings if f.level == "error"] == [1]


def test_a_wrapper_that_ran_too_often_still_emits_calls_for_an_error() -> None:
    tests = "\n".join(f"""
    def test_{name}(self):
        f = transform(lambda: jnp.ones({i}), "{name}")
        f.init()
""" for i, name in enumerate("abcdefgh"))  # fmt: skip
    program = f"""
import collections
import unittest
import jax
import jax.numpy as jnp

Transformed = collections.namedtuple("Transformed", ["init"])

def transform(f, name):
    def init(*args):
        return f(*args), name
    return Transformed(init)

class LoopTest(unittest.TestCase):
{tests}
    def test_rejected(self):
        def f():
            jax.lax.while_loop(lambda x: x.all(), lambda x: not x, True)
        f = transform(f, "z")
        with self.assertRaises(ValueError):
            f.init()
"""
    source = SourceFile("test_code.py", "test_code", False, lower(program), program)
    findings = analyze([source], AnalysisRequest(), all_rules()).findings
    assert [f.name for f in findings if f.level == "error"] == []


def test_a_function_that_ran_too_often_runs_once_more_for_a_loop_that_rules_hear_of() -> None:
    program = """
import jax


def draw(kind, x):
    return x + len(kind) + jax.random.normal(jax.random.key(0), (3,))


def main(x):
    for kind in ("a", "b", "c", "d", "e"):
        print(draw(kind, x))
    for step in range(1000):
        x = draw("f", x)
    return x


main(1.0)
"""
    analysis, _, _ = run_engine({"code.py": program})
    assert [finding.code for finding in analysis.findings] == ["JAX304"]
