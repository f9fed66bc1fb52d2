"""``mre`` makes small scripts that still show a finding when they are run on their own, and nothing where none is shown."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flake8_jax.runtime_checks.flattening import FlatteningError, Place, Project, finder
from flake8_jax.runtime_checks.names import mentions, unbound
from flake8_jax.runtime_checks.reduction import Reducer, tidied, without_comments

ROOT = str(Path(__file__).parents[2])


def write(folder: Path, **files: str) -> Path:
    (folder / "jaxlint.toml").write_text("")
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.parent != folder:
            (path.parent / "__init__.py").touch()
    return folder


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": ROOT, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "flake8_jax", "mre", "--no-cache", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def alone(script: Path) -> subprocess.CompletedProcess[str]:
    """Run a script where there is nothing of the project."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, str(script)], cwd=script.parent, env=environment, capture_output=True, text=True, check=False
    )


LAYERS = '''
"""Layers."""
import jax.numpy as jnp

from .tables import SCALE

WIDTHS = [8, 16]


def init(n):
    return jnp.ones(n) * SCALE


def clip(x, limit):
    # a limit below 0 means none
    if limit > 0:
        x = jnp.minimum(x, limit)
    return x * SCALE


def unrelated(x):
    return x + 1
'''
MODEL = """
import logging

import jax

from . import layers

log = logging.getLogger(__name__)


class Model:
    def forward(self, x):
        log.info("forward")
        return layers.unrelated(x)


@jax.jit
def step(x, limit):
    y = layers.clip(x, limit)
    return y + layers.init(3).sum()
"""


@pytest.mark.jax
def test_a_defect_two_modules_away_from_its_jit(tmp_path: Path) -> None:
    folder = write(tmp_path, pkg__layers=LAYERS, pkg__model=MODEL, pkg__tables="SCALE = 2.0\nTABLE = {}\n")
    done = call(folder, "pkg/layers.py:16", "--output", "out.py", "--issue", "issue.md")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    script = (folder / "out.py").read_text()
    assert script.startswith("# JAX101 traced-branch. Run it with `python out.py`.\n# It raises (jax ")
    code = script.partition("\n\n")[2]
    assert len(code.splitlines()) <= 16
    assert "    if limit > 0:\n" in code
    for gone in ("logging", "unrelated", "pkg", "layers.", "a limit below", "WIDTHS", "SCALE"):
        assert gone not in code
    (tmp_path / "elsewhere").mkdir()
    moved = (folder / "out.py").rename(tmp_path / "elsewhere" / "out.py")
    ran = alone(moved)
    assert ran.returncode == 1
    assert "TracerBoolConversionError" in ran.stderr
    issue = (folder / "issue.md").read_text()
    assert issue.startswith("# TracerBoolConversionError: ")
    assert script.strip() in issue
    assert "`pkg/layers.py:16`" in issue and "jax.jit" in issue
    assert "| jaxlib | " in issue and "| Python | " in issue and "/tmp/" not in issue


LOOP = """
import jax
import jax.numpy as jnp


def tune(n):
    found = []
    for rate in range(n):
        print("trying", rate)
        update = jax.jit(lambda w: w - rate)
        found.append(update(jnp.zeros(4)))
    return found
"""


@pytest.mark.jax
def test_compilations_and_json(tmp_path: Path) -> None:
    done = call(write(tmp_path, code=LOOP), "code.py:10", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["code"], answer["rule"], answer["verdict"]) == ("JAX401", "jit-in-loop", "confirmed")
    assert answer["reason"].startswith("recompiled in the loop")
    assert answer["lines_before"] == 12 and answer["lines_after"] <= 12
    assert "print" not in answer["script"]
    assert "jaxlint verify mre.py --select JAX401 -- python mre.py" in answer["script"]
    assert answer["script"].strip() in answer["issue"]
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "mre.py").write_text(answer["script"])
    ran = alone(tmp_path / "alone" / "mre.py")
    assert ran.returncode == 0, ran.stderr


KEYS = """
import jax


def noise(key, shape):
    a = jax.random.normal(key, (8,))
    b = jax.random.uniform(key, (8,))
    c = a - b
    return c * 2
"""


@pytest.mark.jax
def test_a_key_used_twice(tmp_path: Path) -> None:
    done = call(write(tmp_path, code=KEYS), "code.py:7")
    assert done.returncode == 0, done.stderr
    assert "the same key was consumed twice" in done.stdout
    assert "c * 2" not in done.stdout and "jax.random.key(" in done.stdout


FINE = """
import jax


@jax.jit
def f(x, n):
    if n > 3:
        return x
    return x + undefined_name_of_mine


def g(x):
    return f(x, 4)
"""


@pytest.mark.jax
def test_what_is_not_confirmed_is_not_written(tmp_path: Path) -> None:
    folder = write(tmp_path, code=FINE)
    words = ["code.py:7", "--output", "out.py", "--call", "with jax.disable_jit():\n    f(1, 4)"]
    done = call(folder, *words)
    assert done.returncode == 1
    assert "JAX101 traced-branch is not confirmed; refuted: the line ran once (eager)" in done.stderr
    assert not (folder / "out.py").exists()
    done = call(folder, *words, "--unconfirmed")
    assert done.returncode == 1
    assert "NOT confirmed" in (folder / "out.py").read_text()


TWO = """
import jax


@jax.jit
def f(x, n):
    if x > 0: x = float(x)
    return x
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["code.py:2"], "code.py:2: there is no finding at this line; the nearest: line 7 (JAX"),
        (
            ["code.py:7"],
            "several findings are there (JAX101 traced-branch, JAX201 host-cast); choose one with --select",
        ),
        (["code.py"], "say which finding, as FILE:LINE"),
        (["none.py:3"], "none.py: there is no such file"),
    ],
)
def test_wrong_calls(tmp_path: Path, words: list[str], said: str) -> None:
    done = call(write(tmp_path, code=TWO), *words)
    assert said in done.stderr
    assert (done.returncode, done.stdout) == (2, "")


# --- putting modules into one ----------------------------------------------------------------------------------------


def flat(folder: Path, name: str, row: int, *, main: bool = False) -> str:
    path = str(folder / name)
    script = Project(finder([str(folder)])).flatten([Place(path, row)], main=path if main else None)
    assert not unbound(script.text, ast.parse(script.text))
    return script.text


def values(text: str) -> dict[str, object]:
    found: dict[str, object] = {}
    exec(compile(text, "flat", "exec"), found)
    return found


def test_names_that_collide(tmp_path: Path) -> None:
    write(
        tmp_path,
        p__a="import math as m\ndef init(): return m.floor(1.5)\ndef size(init): return init + other()\n"
        "def other(): return init() * 10\n",
        p__b="import cmath as m\nfrom p.a import init as first\ndef init(): return first() + int(abs(m.sqrt(4)))\n",
        main="import p.a\nfrom p import b\nfrom p.b import init\ndef run():\n    first = p.a.init\n"
        "    size = p.a.size(5)\n    return init(), b.init(), first(), size\nresult = run()\n",
    )
    text = flat(tmp_path, "main.py", 8)
    assert values(text)["result"] == (3, 3, 1, 15)
    assert "import p" not in text and "from p" not in text


def test_imports_inside_of_functions_stars_and_effects(tmp_path: Path) -> None:
    write(
        tmp_path,
        q__base="__all__ = ['one']\nTABLE = {}\nTABLE['x'] = 4\nIDLE = {}\nIDLE['x'] = 4\ndef one(): return TABLE['x']\n",
        q__star="from .base import *\n",
        main="def run():\n    from q.star import one\n    import q.base as base\n    return one() + base.one()\n"
        "if __name__ == '__main__':\n    result = run()\n",
    )
    text = flat(tmp_path, "main.py", 2)
    assert "IDLE" not in text and "__main__" not in text
    assert values(text + "\nresult = run()\n")["result"] == 8
    assert "__main__" in flat(tmp_path, "main.py", 2, main=True)


def test_a_name_that_is_imported_or_made(tmp_path: Path) -> None:
    write(
        tmp_path,
        r__fast="def f(): return 1\n",
        main="try:\n    from r.fast import f\nexcept ImportError:\n    f = None\ndef g(): return f()\nresult = g()\n",
    )
    assert values(flat(tmp_path, "main.py", 6))["result"] == 1


@pytest.mark.parametrize(
    ("main", "said"),
    [
        ("import s.m\nx = vars(s.m)\n", "main.py:2: the module s.m is used as a value"),
        ("from s import m\nx = m.nothing\n", "main.py:2: s.m has no `nothing` that can be found in its text"),
        ("from s import m\ndef f():\n    m.y = 1\nx = f()\n", "main.py:3: `y` of the module s.m is set from outside"),
        ("x = (\n", "main.py"),
    ],
)
def test_what_cannot_be_flattened(tmp_path: Path, main: str, said: str) -> None:
    write(tmp_path, s__m="y = 0\n", main=main)
    with pytest.raises(FlatteningError) as caught:
        flat(tmp_path, "main.py", main.count("\n"))
    assert said in str(caught.value)


def test_mentions_know_scopes() -> None:
    text = "a = 1\ndef f(a):\n    return [a for b in a]\nclass C:\n    a = a\n    def m(self): return a, é\né = 2\n"
    found = [(m.name, text.count("\n", 0, m.start) + 1) for m in mentions(text, ast.parse(text)) if m.name in "aé"]
    assert found == [("a", 1), ("a", 6), ("é", 6), ("é", 7)]


# --- making it less --------------------------------------------------------------------------------------------------


def reduced(text: str, *needles: str) -> str:
    """The smallest text that parses and has the needles."""

    def accept(candidate: str) -> bool:
        try:
            ast.parse(candidate)
        except SyntaxError:
            return False
        return all(needle in candidate for needle in needles)

    reducer = Reducer(text, accept)
    search = reducer.search()
    try:
        candidate = next(search)
        while True:
            assert accept(candidate)
            candidate = search.send(True)
    except StopIteration:
        return reducer.text


def test_everything_goes_that_is_not_needed() -> None:
    text = (
        "import os, sys\nfrom typing import Any\n\n\n@deco\ndef f(x):\n    '''Doc.'''\n    if x:  # why\n        y = 1\n"
        "        while y:\n            HERE(x,   y)\n    elif os:\n        pass\n    return sys\n\n\ndef g(): return 1\n"
    )
    assert reduced(text, "HERE") == "def f(x):\n    HERE(x,   y)\n"
    assert reduced(text, "HERE", "if x", "return sys") == (
        "def f(x):\n    if x:\n        HERE(x,   y)\n    return sys\n"
    )


def test_blocks_that_lose_everything_and_parts_of_expressions() -> None:
    assert reduced("def f():\n    a = 1\n    return a\nf()\n", "def f") == "def f():\n    pass\n"
    assert reduced("f(1, b=2, c={'x': 1, 'y': 2})\n", "f(1", "'y'") == "f(1, c={'y': 2})\n"
    assert reduced("x = q * 2 + r ** 3\n", "r", "x =") == "x = r\n"


def test_comments_go_and_texts_stay() -> None:
    text = 'x = """a\n\n\n\n# no comment\n"""  # one\n# two\ny = "#"\n'
    assert tidied(without_comments(text) or "") == 'x = """a\n\n\n\n# no comment\n"""\ny = "#"\n'
