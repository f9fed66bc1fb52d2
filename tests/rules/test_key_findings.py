"""How findings on keys name the key, its places and functions, and which of them are one finding."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rules.conftest import findings

from flake8_jax.cli import main

ONE_KEY = """
import jax


def noise(extras, n):
    return jax.random.normal(extras["rng"], (n,))


def model(extras):
    a = noise(extras, 3)
    b = noise(extras, 4)
    c = noise(extras, 5)
    return a, b, c
"""


def test_one_key_is_one_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = findings(tmp_path, capsys, ONE_KEY)
    assert found["location"]["row"] == 11
    assert found["message"] == (
        '`extras["rng"]` was already used in `noise` (called on line 10), so both draws use the same random bits; '
        "split it first"
    )
    uses = [(step["row"], step["message"]) for step in found["evidence"] if step["kind"] == "use"]
    assert uses == [
        (6, "the key is first used here"),
        (10, "this call leads to that use"),
        (6, "the key is used again here"),
        (12, "the key is used again here"),
    ]


SPLIT = """
import jax


def update(state, rng):
    rng, sub = jax.random.split(rng)
    return state + jax.random.normal(sub)


def store(state, rng):
    rng, sub = jax.random.split(rng)
    return state * jax.random.normal(sub)


def train(state, rng):
    state = update(state, rng)
    return store(state, rng)
"""


def test_draws_repeat_only_where_both_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = findings(tmp_path, capsys, SPLIT)
    assert found["message"] == (
        "`rng` was already split in `update` (called on line 16), so `update` and this call may draw correlated numbers; "
        "pass each call its own key"
    )


BATCH = """
import jax


def model(key):
    keys = jax.random.split(key, 5)
    a = jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)
    b = jax.vmap(lambda k: jax.random.normal(k, (3,)))(keys)
    return a, b
"""


def test_no_fix_splits_an_array_of_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = findings(tmp_path, capsys, BATCH)
    assert found["location"]["row"] == 8
    assert found["fix"] is None


THREE = """
import jax


def model(key):
    a = jax.random.normal(key, (3,))
    b = jax.random.normal(key, (3,))
    c = jax.random.normal(key, (3,))
    return a, b, c
"""


def test_fixes_go_on_to_the_next_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(findings(tmp_path, capsys, THREE)) == 1
    main(["check", "--no-cache", "--isolated", "--fix", "--unsafe-fixes", str(tmp_path / "main.py")])
    assert findings(tmp_path, capsys, (tmp_path / "main.py").read_text()) == []


def test_each_cell_of_a_notebook_has_its_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draws = "x = jax.random.normal(key, (3,))\n"
    more = [draws.replace("x =", f"{name} =") for name in "yzw"]
    sources = ["import jax\nkey = jax.random.key(0)\n", draws, more[0] + more[1], more[2] + "print(x, y)\n", draws]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in sources
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    main(["check", "--no-cache", "--isolated", "--output-format", "json", str(tmp_path / "a.ipynb")])
    found = json.loads(capsys.readouterr().out)
    assert [(item["cell"], item["location"]["row"]) for item in found if item["code"] == "JAX301"] == [(3, 1), (4, 1)]


def test_a_notebook_with_the_name_of_a_library_hides_no_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "x = 1\n"}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "jax.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "main.py").write_text(ONE_KEY)
    main(["check", "--no-cache", "--isolated", "--output-format", "json", "--select", "JAX301", str(tmp_path)])
    assert [found["location"]["row"] for found in json.loads(capsys.readouterr().out)] == [11]


def test_results_that_no_later_cell_reads_are_a_note_of_the_preview(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = [
        "import jax\nkey = jax.random.key(0)\n",
        "x = jax.random.normal(key, (3,))\nprint(x)\n",
        "x = jax.random.normal(key, (4,))\nprint(x)\n",
        "x = jax.random.uniform(key, (5,))\nprint(x)\n",
    ]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in sources
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))

    def found(*options: str) -> list[tuple[int, str, int]]:
        main(
            [
                "check",
                "--no-cache",
                "--isolated",
                "--output-format",
                "json",
                "--select",
                "JAX301",
                *options,
                str(tmp_path),
            ]
        )
        return [(f["cell"], f["severity"], len(f["evidence"])) for f in json.loads(capsys.readouterr().out)]

    assert found() == []
    assert found("--preview") == [(3, "info", 3)]


NAMES = "bernoulli, beta, choice, gamma, normal, permutation, randint, split, uniform"
NO_PROMISE = "so the results may be correlated"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("normal(key, (n,))", "normal(key, (n,))", ", so both calls draw the same numbers"),
        ("normal(key, (n,))", "normal(key, (n, 2))", ", so both draws use the same random bits"),
        ("normal(key, (n,))", "uniform(key, (n,))", ", so both draws use the same random bits"),
        ("choice(key, n)", "randint(key, (), 0, n)", ", so both draws use the same random bits"),
        ("choice(key, n, p=p)", "bernoulli(key)", ", so both draws use the same random bits"),
        ("choice(key, n, (), False)", "permutation(key, n)", ", so both draws use the same random bits"),
        ("normal(key, (n,))", "randint(key, (n,), 0, 9)", f", {NO_PROMISE}"),
        ("gamma(key, 1.0)", "beta(key, 1.0, 2.0)", f", {NO_PROMISE}"),
        ("normal(key, (n,))", "split(key)", ", so the keys of this split may be correlated with that draw"),
    ],
)  # fmt: skip
def test_what_two_uses_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, second: str, outcome: str
) -> None:
    (found,) = findings(
        tmp_path,
        capsys,
        f"from jax.random import {NAMES}\n\n\ndef f(key, n, p):\n    a = {first}\n    return a, {second}\n",
    )
    advice = "split it before that draw and use a new key there" if second == "split(key)" else "split it first"
    assert found["message"] == f"`key` was already used on line 5{outcome}; {advice}"


def test_a_leak_in_a_cell_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = "@jax.jit\ndef square(x):\n    kept.append(x)\n    return x * x\n"
    code = f"import jax\n\nkept = []\n\n\n{function}\n\nsquare(2.0)\nprint(kept)\n"
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "b.py").write_text(code)
    main(["check", "--no-cache", "--isolated", "--output-format", "json", "--select", "JAX502", str(tmp_path)])
    found = json.loads(capsys.readouterr().out)
    assert [(Path(item["filename"]).name, item["severity"]) for item in found] == [
        ("a.ipynb", "info"),
        ("b.py", "error"),
    ]


def test_equal_draws_are_not_what_a_failing_cell_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = "import jax\n\nkey, sub = jax.random.split(jax.random.key(0))\nx = jax.random.normal(key, (3,))"
    second = "y = jax.random.normal(sub, (4,))\nz = jax.random.uniform(sub, (4,))\nprint(y + z, x + y)"
    error = {"output_type": "error", "ename": "TypeError", "evalue": "add got incompatible shapes", "traceback": []}
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": outputs, "execution_count": None, "source": code}
        for code, outputs in ((first, []), (second, [error]))
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    main(["check", "--no-cache", "--isolated", "--output-format", "json", "--select", "JAX301", str(tmp_path)])
    assert [(f["cell"], f["location"]["row"], f["severity"]) for f in json.loads(capsys.readouterr().out)] == [
        (2, 2, "info")
    ]


NESTED = """
import jax


def unchanged(x, rng):
    def epoch(carry, _):
        x, rng = carry
        return (jax.random.permutation(rng, x), rng), x.sum()

    return jax.lax.scan(epoch, (x, rng), None, 4)


def renewed(xs, rng):
    for x in xs:

        def epoch(carry, _):
            x, rng = carry
            rng, sub = jax.random.split(rng)
            return (jax.random.permutation(sub, x), rng), x.sum()

        jax.lax.scan(epoch, (x, rng), None, 4)


def evaluate(data, key=jax.random.key(1)):
    for _ in data:
        key, sub = jax.random.split(key)
        print(jax.random.normal(sub))


def train(data):
    for _ in range(3):
        evaluate(data)
"""


def test_the_loop_that_repeats_the_key_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loops = {
        found["location"]["row"]: re.search(r"the (?:`scan`|loop) on line \d+", found["message"])
        for found in findings(tmp_path, capsys, NESTED)
    }
    assert {row: named and named[0] for row, named in loops.items()} == {
        8: "the `scan` on line 10",
        18: "the loop on line 14",
        32: "the loop on line 31",
    }


STATIC = """
import jax


class Net:
    def __init__(self, size_in, size_out, key):
        self.first, key = self.layer(size_in, 8, key)
        self.second, key = self.layer(8, size_out, key)

    @staticmethod
    def layer(m, n, key):
        key, part = jax.random.split(key)
        return jax.random.normal(part, (n, m)) + jax.random.normal(key), key
"""


def test_a_static_method_takes_no_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = findings(tmp_path, capsys, STATIC)
    assert found["message"].startswith(
        "`key` was already used in `layer` (called on line 7, which returns the same key)"
    )


CLASS_METHOD = """
import jax


class Game:
    @staticmethod
    def reset(key):
        level, key = jax.random.split(key)
        return level, key

    @classmethod
    def replay(cls, key, actions):
        return jax.lax.scan(lambda state, action: (state, action), cls.reset(key), actions)


def play(key, actions):
    start = Game.reset(key)
    return start, Game.replay(key, actions[:3])
"""


def test_a_class_method_takes_its_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = findings(tmp_path, capsys, CLASS_METHOD)
    assert found["message"].startswith("`key` was already split in `reset` (called on line 17)")


DEEP = """
import jax
import jax.numpy as jnp


def act(obs, key):
    key, subkey = jax.random.split(key)
    return obs + jax.random.normal(subkey), key, jax.random.uniform(key)


def rollout(n):
    def step(carry, _):
        obs, keys = carry
        obs, keys, _ = jax.vmap(act)(obs, keys)
        return (obs, keys), obs

    carry = jnp.zeros(n), jax.random.split(jax.random.key(1), n)
    scanned = jax.jit(lambda carry: jax.lax.scan(step, carry, None, length=99))
    for _ in range(3):
        carry, out = scanned(carry)


def rollouts(seeds):
    for _ in seeds:
        for _ in range(3):
            rollout(10)
"""


def test_what_a_deep_scan_carries_is_not_certain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The split key comes back in the carry; that it was drawn from, too, is true of any iteration."""
    found = findings(tmp_path, capsys, DEEP)
    assert [(one["code"], one["severity"]) for one in found] == [("JAX301", "error"), ("JAX302", "info")]


def test_a_key_that_is_a_default_is_to_be_passed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = """
import jax


class Model:
    def train(self, rows, key=jax.random.key(0)):
        return rows + jax.random.normal(key, rows.shape)


model = Model()
first = model.train(jax.numpy.ones((8, 2)))
second = model.train(jax.numpy.ones((8, 2)))
"""
    messages = [found["message"] for found in findings(tmp_path, capsys, program) if found["code"] == "JAX301"]
    assert messages and all("holds" not in message and "pass `key` to each call" in message for message in messages)
