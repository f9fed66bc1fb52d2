"""``verify`` counts how often a line, a part of it or a function in it ran, and what JAX did for it."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import msgspec
import pytest

from flake8_jax.runtime_checks.child.watching import replaced_at
from flake8_jax.runtime_checks.observations import Spot
from flake8_jax.runtime_checks.sandbox import Limits
from flake8_jax.runtime_checks.verify import Asked, Workload, verify

HOLDING = """class Model:
    def __init__(self):
        self.table = jnp.ones((3, 3))

    def __call__(self, x):
        y = x
        return y @ self.table


jax.jit(Model().__call__)(jnp.ones(3))
"""


@pytest.mark.jax
def test_a_statement_over_several_lines_runs_once(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import jax\nimport jax.numpy as jnp\n\n\ndef f(x):\n    return jax.lax.pmean(x, 'batch')\n\n\n"
        "p = jax.pmap(\n    f,\n    axis_name='batch',\n)\nfor _ in range(2):\n    p(\n        jnp.ones((1, 3))\n    )\n"
        + HOLDING
    )
    (tmp_path / "jaxlint.toml").write_text("")
    spots = [Spot(str(tmp_path / "main.py"), row, row) for row in (9, 14, 15)]
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    held = Asked("captured-constant", Spot(str(tmp_path / "main.py"), 23, 23), name="self.table")
    passed = msgspec.structs.replace(held, name="x")
    found = verify([*(Asked("pmap", spot) for spot in spots), held, passed], workload)
    *counted, held_verdict, passed_verdict = found.verdicts
    assert [verdict.reason.rpartition(" ran ")[2] for verdict in counted] == ["once", "twice", "twice"]
    assert held_verdict.verdict == "confirmed" and "an array of 36 bytes" in held_verdict.reason, held_verdict
    assert passed_verdict.verdict == "refuted", "what is no constant is none, although JAX traced the line"


UNROLLED = """
import jax
import jax.numpy as jnp


@jax.jit
def short(x):
    for _ in range(20):
        x = jnp.add(
            x,
            1.0,
        )
    return x


@jax.jit
def nested(x):
    for _ in range(6):
        for weight in (1.0, 2.0, 3.0, 4.0, 5.0):
            x = x + weight
    return x


@jax.jit
def long(x):
    for _ in range(40):
        x = jnp.add(
            x,
            1.0,
        )
    return x


short(1.0), nested(1.0), long(1.0)
"""


@pytest.mark.jax
def test_copies_of_the_body_of_a_loop_are_counted(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(UNROLLED)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("unrolled-loop", Spot(str(tmp_path / "main.py"), row, row)) for row in (8, 18, 26)]
    short, nested, long = verify(asked, workload).verdicts
    assert (short.verdict, nested.verdict, long.verdict) == ("inconclusive", "inconclusive", "confirmed")
    assert "20 times" in short.reason, "a call over several lines is one statement"
    assert nested.reason.startswith(
        "one trace went through the loop 6 times, through a loop inside it 30 times in all;"
    )
    assert long.details["copies"] == 40


@pytest.mark.jax
def test_arrays_that_a_loop_keeps_are_asked_at_some_visits_only(tmp_path: Path) -> None:
    """Else the cost of a run grows with the square of the iterations."""
    (tmp_path / "main.py").write_text(
        "import jax\n\nlive, asked = jax.live_arrays, []\njax.live_arrays = lambda: asked.append(1) or live()\n"
        "key, losses = jax.random.PRNGKey(0), []\nfor _ in range(300):\n    losses.append(jax.random.normal(key))\n"
        "open('asked', 'w').write(str(len(asked)))\n"
    )
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    verify([Asked("async-timing", Spot(str(tmp_path / "main.py"), 7, 7))], workload)
    assert 0 < int((tmp_path / "asked").read_text()) <= 100


@pytest.mark.jax
def test_a_body_that_is_new_in_every_call_compiles_again(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import jax\nimport jax.numpy as jnp\n\n\ndef epoch(x):\n"
        "    return jax.lax.fori_loop(0, 9, lambda i, c: c * x, x)\n\n\ndef step(x):\n"
        "    slope = jax.grad(lambda y: jnp.sum(y))(x)\n    return jitted(slope)\n\n\njitted = jax.jit(lambda z: z + 1)\n\n\n"
        "for _ in range(4):\n    epoch(jnp.ones(3))\n    step(jnp.ones(3))\n"
    )
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    asked = [Asked("transform-in-loop", Spot(str(tmp_path / "main.py"), row, row)) for row in (6, 10, 11)]
    body, traced, kept = verify(asked, workload).verdicts
    assert body.verdict == "confirmed" and "4 times `jit(" in body.reason, body
    assert traced.verdict == "confirmed" and "traced the function in each of 4 runs of the line" in traced.reason, (
        traced
    )
    assert kept.verdict == "inconclusive", "a jitted function that is kept is traced once"


INTERRUPTED = """import os, signal, sys


def work(answers):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        print(1)
    except KeyboardInterrupt:
        if answers:
            sys.exit(130)
        raise
    print(2)


work(len(sys.argv) > 1)
"""


@pytest.mark.jax
@pytest.mark.parametrize("words", [(), ("--answers",)])
def test_a_program_that_is_interrupted_raised_no_error(words: tuple[str, ...], tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text(INTERRUPTED)
    workload = Workload(
        ("python", "main.py", *words), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", Limits(60)
    )
    (found,) = verify([Asked("traced-branch", Spot(str(main), 12, 12))], workload).verdicts
    said = "the line did not run; the command was interrupted (status 130); use a command that runs it"
    assert (found.verdict, found.reason) == ("inconclusive", said)


ROWS = """
never = list(map(lambda x: print(x), []))
three = list(map(lambda x: x + 1, [1, 2, 3]))
def short(x): return x + 1
class Box: size = len("ä"); get = lambda self: self.size
@staticmethod
@staticmethod
def decorated(): pass
"""


def test_a_function_in_a_row_is_distinguished_from_the_row(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ROWS.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    places = {(1, 28): 0, (1, 1): 1, (2, 28): 3, (2, 9): 1, (3, 22): 0, (3, 1): 1, (4, 12): 1, (4, 48): 0}
    places |= {(5, 2): 1, (6, 2): 1}
    asked = [Asked("discarded-result", Spot(main, row, row), column=column) for row, column in places]
    found = verify(asked, workload)
    said = [verdict.reason for verdict in found.verdicts]
    words = {0: "did not run", 1: "it ran once", 3: "it ran 3 times"}
    assert all(words[count] in reason for reason, count in zip(said, places.values())), said


WAITING = """
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    x = jax.lax.fori_loop(0, 60, lambda _, x: x @ x / 600, x)
    return x, x.sum()


def train(x):
    for _ in range(3):
        x, loss = step(x)
        for _ in range(3):
            float(loss)


train(jnp.ones((600, 600)))
"""


@pytest.mark.jax
def test_the_first_read_of_an_array_waits_and_the_next_do_not(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(WAITING)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), target="cpu")
    (found,) = verify([Asked("sync-in-loop", Spot(str(tmp_path / "main.py"), 16, 16))], workload).verdicts
    assert found.reason == "the line waited for the device 3 times in one run of `train`", found


PARTS = """
no = 0
one = len("a") if no else len("b")
two = no and len("a"), no or len("b")
assert not no, len("a")
for n in range(3): three = n and len("a")
steps = (len("a") for n in len("1234") * "1"); list(steps)
four = sum(len("a") for n in len("1234") * "1")
any = sum(n for n in [len("a")] * 4)
for n in {n: len("a") for n in range(4)}: no
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11, code has no columns")
def test_a_part_of_a_line_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PARTS.strip("\n"))
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    left_out, ran, each = "but not this part of it; use inputs for which it runs", "it ran once", "it ran 4 times"
    said = {(2, 6): left_out, (2, 26): ran, (3, 13): left_out, (3, 29): ran, (4, 15): left_out, (5, 33): "it ran twice",
            (6, 9): each, (6, 27): ran, (7, 11): each, (7, 29): ran, (8, 22): ran, (9, 13): each}  # fmt: skip
    spans = {(row, column): (row, column, row, column + 8) for row, column in said}
    asked = [Asked("discarded-result", Spot(main, row, row), span=spans[row, column]) for row, column in said]
    found = verify(asked, workload)
    assert all(v.reason.endswith(words) for v, words in zip(found.verdicts, said.values())), found.verdicts


LATE = """
import atexit, os, threading, time
def at_exit():
    print("late")
def in_a_thread():
    time.sleep(0.2); print("later")
threading.Thread(target=in_a_thread).start()
"""


@pytest.mark.parametrize(
    "end",
    [
        "atexit.register(at_exit)",
        "atexit.register(at_exit); raise ValueError",
        "atexit.register(os._exit, 3), atexit.register(at_exit)",
    ],
)
def test_what_runs_after_the_main_program_counts(tmp_path: Path, end: str) -> None:
    (tmp_path / "main.py").write_text(LATE.strip("\n") + f"\n{end}\n")
    main, limits = str(tmp_path / "main.py"), Limits(seconds=200)
    workload = Workload(("python", "main.py"), (str(tmp_path),), str(tmp_path), sys.executable, "cpu", limits)
    found = verify([Asked("discarded-result", Spot(main, row, row)) for row in (3, 5)], workload)
    assert all(verdict.reason.endswith("it ran once") for verdict in found.verdicts), found.verdicts


def test_what_an_assignment_replaces() -> None:
    texts = {
        "x = step(x, q)": ("x",),
        "self.params, state = self.update(self.params, state, lr=rate)": ("self.params", "state"),
        "new, loss = step(params, batch[i])": ("batch", "i", "params"),
        "s.net = s.net.apply(grads=s.grads)": ("s.net",),
        "step(x)": (),
    }
    for text, names in texts.items():
        assert replaced_at(ast.parse(f"for i in range(3):\n    {text}"), 2) == names, text
