"""``jaxlint locate``: names, pasted errors and tracebacks, the kinds of places, and checkouts."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from runtime.measured import Command, command, data

from flake8_jax.runtime_checks.child import locate
from flake8_jax.runtime_checks.child.pasted import read_pasted

jaxlint = pytest.fixture(command)

RAISE_ALL = """
import json, os, sys, traceback
import jax, jax.numpy as jnp, numpy as np
from jax import lax

x = jnp.arange(4.0)
kept = []
donated = jnp.ones(4)
jax.jit(lambda v: kept.append(v))(x)
CASES = {
    "bool": lambda: jax.jit(lambda v: v if v > 0 else -v)(1.0),
    "array": lambda: jax.jit(lambda v: np.sin(v))(x),
    "index": lambda: jax.jit(lambda n: [0][n])(0),
    "concrete": lambda: jax.jit(lambda n: jnp.arange(n))(3),
    "mask": lambda: jax.jit(lambda v: v[v > 0])(x),
    "leak": lambda: kept[0] + 1,
    "vmap sizes": lambda: jax.vmap(lambda a, b: a + b)(jnp.ones(3), jnp.ones(4)),
    "vmap in_axes": lambda: jax.vmap(lambda a: a, in_axes=(0, 0))(x),
    "cond structure": lambda: lax.cond(True, lambda v: (v, v), lambda v: v, x),
    "scan carry": lambda: lax.scan(lambda c, s: (c.astype(jnp.int32), s), 0.0, x),
    "scan sizes": lambda: lax.scan(lambda c, s: (c, s[0]), 0.0, (jnp.ones(3), jnp.ones(4))),
    "while body": lambda: lax.while_loop(lambda c: c < 3, lambda c: (c, c), 0),
    "while gradient": lambda: jax.grad(lambda v: lax.while_loop(lambda c: c < 3, lambda c: c * 2, v))(1.0),
    "grad of a vector": lambda: jax.grad(lambda v: v * 2)(x),
    "grad of an integer": lambda: jax.grad(lambda v: v * 2.0)(3),
    "broadcasting": lambda: jnp.ones((3, 4)) + jnp.ones((5, 4)),
    "contraction": lambda: jnp.ones((3, 4)) @ jnp.ones((5, 4)),
    "reshape": lambda: jnp.reshape(jnp.ones(6), (4, 2)),
    "assignment": lambda: x.__setitem__(0, 1),
    "no VJP": lambda: jax.custom_vjp(lambda v: v)(x),
    "concatenation": lambda: jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 4))]),
}
root = os.path.dirname(os.path.dirname(jax.__file__))
for name, case in CASES.items():
    spans, texts = [], []
    for filtering in ("off", "remove_frames"):
        jax.config.update("jax_traceback_filtering", filtering)
        try:
            case()
        except Exception as error:
            texts.append(traceback.format_exc())
            frame = error.__traceback__
            while frame is not None and filtering == "off":
                code = frame.tb_frame.f_code
                lines = [line for *_, line in code.co_lines() if line]
                if code.co_filename.startswith(os.path.join(root, "jax")):
                    spans.append((code.co_filename, code.co_firstlineno, max(lines)))
                frame = frame.tb_next
            owner = type(error).__name__
    print(json.dumps({"name": name, "text": texts[-1], "spans": spans, "class": owner}))
"""


@pytest.mark.jax
def test_messages_that_jax_raises_lead_to_the_code_that_raises_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hit counts if it lies in a function on the stack of the error or in the error's own class, among the first three."""
    ran = subprocess.run([sys.executable, "-c", RAISE_ALL], capture_output=True, text=True, check=True)
    monkeypatch.setattr(locate, "forget_linter", lambda: None)
    source = locate._read_source(None, {"raise"})
    monkeypatch.setattr(locate, "_read_source", lambda named, kinds: source)
    missed = []
    cases = [json.loads(line) for line in ran.stdout.splitlines()]
    for case in cases:
        found = locate._locate({"topic": case["text"], "limit": 3, "kinds": [], "source": None})
        if not any(_is_there(hit, case) for hit in found["hits"]):
            missed.append((case["name"], found["error"], found["hits"]))
    assert len(cases) == 21 and len(missed) <= 2, missed


def _is_there(hit: dict[str, Any], case: dict[str, Any]) -> bool:
    if any(path == hit["path"] and first <= hit["line"] <= last for path, first, last in case["spans"]):
        return True
    lines = Path(hit["path"]).read_text(encoding="utf-8").splitlines()[: hit["line"]]
    around = next((line for line in reversed(lines) if line.startswith("class ")), "")
    return around.startswith(f"class {case['class']}(")


CPYTHON = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    step(x)
KeyError: 'w'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/lib/site-packages/jax/_src/core.py", line 40, in bind
ValueError: first line of it
TypeError: a second line of the message
--------------------
For simplicity, JAX has removed its internal frames from the traceback.
"""
IPYTHON = """\
---------------------------------------------------------------------------
TracerBoolConversionError                 Traceback (most recent call last)
Cell In[3], line 6
      4     return -x
----> 6 step(1.0)

TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].
See https://docs.jax.dev/en/latest/errors.html
"""
PYTEST = """\
    def test_step():
>       step(1.0)
E       TypeError: add got incompatible shapes
E       See https://docs.jax.dev

test_train.py:4: TypeError
"""


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        (CPYTHON, "ValueError", "first line of it\nTypeError: a second line of the message", 1),
        (CPYTHON.replace("\n", "\n[rank0]: "), "ValueError", "first line of it\nTypeError: a second line of the message", 1),
        (IPYTHON, "TracerBoolConversionError", "Attempted boolean conversion of traced array with shape bool[].", 0),
        (PYTEST, "TypeError", "add got incompatible shapes", 0),
        ("\x1b[31mjax.errors.JaxRuntimeError\x1b[0m: no memory", "JaxRuntimeError", "no memory", 0),
        ("Expected: an array", "", "Expected: an array", 0),
        ("jax.lax.scan", "", "jax.lax.scan", 0),
    ],
)  # fmt: skip
def test_the_last_error_of_a_pasted_text(text: str, error: str, message: str, frames: int) -> None:
    pasted = read_pasted(text)
    assert (pasted.error, pasted.message, len(pasted.frames)) == (error, message, frames)


@pytest.mark.jax
def test_a_traceback_on_standard_input(jaxlint: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff log\n" + IPYTHON.encode())))
    status, out, err = jaxlint("locate", "-", "--limit", "1")
    assert status == 0 and "Attempted boolean conversion of" in out and not err.count("no tests")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    status, out, err = jaxlint("locate", "-")
    assert (status, out) == (2, "") and "standard input is empty" in err
    status, out, err = jaxlint("locate", "TypeError: unhashable type: 'DynamicJaxprTracer'")
    assert (status, out) == (1, "") and "may come from XLA, CPython" in err


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    files = {
        "pyproject.toml": "",
        "jax/version.py": '_version = "9.8.7"\n',
        "jax/steps.py": 'def walk(n):\n    """Walk some steps."""\n    raise ValueError(f"cannot walk {n} steps backwards")\n',
        "tests/steps_test.py": "def test_walk():\n    assert_raises('cannot walk 3 steps backwards')\n",
        "docs/walking.md": "# Steps\n\nUse `walk` with care.\n",
        "jax/broken.py": "def walk(:\n",
    }
    for name, text in files.items():
        path = tmp_path / "clone" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "clone"


@pytest.mark.slow
def test_a_checkout_has_tests_and_documentation(jaxlint: Command, checkout: Path) -> None:
    def hits(*arguments: str) -> list[tuple[str, int]]:
        found = data(jaxlint, "locate", *arguments, "--source", str(checkout))[1]
        assert found["jax"] == "9.8.7"
        return [(Path(hit["path"]).name, hit["line"]) for hit in found["hits"]]

    assert hits("ValueError: cannot walk 7 steps backwards", "--kind", "errors") == [("steps.py", 3)]
    assert hits("ValueError: cannot walk 3 steps backwards", "--kind", "tests")[0] == ("steps_test.py", 2)
    assert hits("walk", "--kind", "docs,definitions") == [("steps.py", 1), ("steps.py", 2), ("walking.md", 3)]


@pytest.mark.slow
def test_sources_and_kinds_that_are_not_there(jaxlint: Command, tmp_path: Path) -> None:
    status, _, err = jaxlint("locate", "walk", "--source", str(tmp_path))
    assert status == 2 and "is not a checkout of JAX" in err
    status, _, err = jaxlint("locate", "walk", "--kind", "pages")
    assert status == 2 and "the kinds are errors, definitions, docs, tests" in err
