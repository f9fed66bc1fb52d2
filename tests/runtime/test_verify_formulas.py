"""``verify`` compares a formula with the stable one on the values of the run, where the program uses what it loses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runtime.verified import call, project

LOST = """
import jax
import jax.numpy as jnp


@jax.jit
def growth(rate):
    return 3 * jnp.log(1 + rate)


@jax.jit
def shift(rate):
    return 3 * jnp.log(1 + rate)


growth(1e-8)
shift(0.5)
"""


NO_GRADIENT = """
import jax
import jax.numpy as jnp


def far(x):
    return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))


def near(x):
    return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))


jax.grad(far)(-jnp.arange(200.0))
jax.grad(near)(jnp.arange(3.0))
"""


@pytest.mark.jax
@pytest.mark.parametrize(
    ("program", "said"),
    [(LOST, "differs from the stable one by up to 100.0% of an element"), (NO_GRADIENT, "the gradient of the formula")],
    ids=["digits", "gradient"],
)
def test_formulas_are_compared_on_the_values_of_the_run(program: str, said: str, tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(program.lstrip())
    words = ("--select", "JAX703", "--preview", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    done = call(folder, "formulas.py", *words)
    verdicts = [item["verdict"] for item in json.loads(done.stdout)]
    assert [verdict["verdict"] for verdict in verdicts] == ["confirmed", "inconclusive"]
    assert said in verdicts[0]["reason"]
    assert "the formula and the stable one agree" in verdicts[1]["reason"]


USED = """
import jax
import jax.numpy as jnp


def gradient_only(x):
    return jnp.sum(jnp.log(1 + x))


def dropped(x):
    y = jnp.log(1 + x)
    return 2 * x


def deselected(x):
    y = jnp.log(1 + x)
    return jnp.where(x > 0.1, y, 0.0)


def beside_the_loss(x):
    y = jnp.log(1 + x)
    return jnp.sum(x), y


def with_value(x):
    y = jnp.log(1 + x)
    return jnp.mean(y)


def printed(x):
    y = jnp.log(1 + x)
    print(y)
    return 2 * x


small = jnp.array([1e-9, 1e-8])
jax.jit(jax.jacrev(gradient_only))(small)
dropped(small)
deselected(small)
jax.grad(beside_the_loss, has_aux=True)(small)
jax.value_and_grad(with_value)(small)
printed(small)
"""


WITH_EFFECTS = """
import jax
import jax.numpy as jnp
import numpy as np

added, copied, summed, total = np.zeros((4, 1), "float32")
seen = []


class Rates:
    @property
    def factor(self):
        seen.append("factor")
        return 1.0


def count(rate):
    seen.append("count")
    return rate


def near(x):
    return jnp.log(1 + x)


def at(x):
    np.add.at(added, [0], jnp.log(1 + x))


def copyto(x):
    np.copyto(copied, jnp.log(1 + x), where=copied == 0)


def keyword(x):
    np.add(summed, jnp.log(1 + x), out=summed)


def positional(x):
    np.add(total, jnp.log(1 + x), total)


def save(x):
    with open("rates.npy", "wb") as file:
        np.save(file, jnp.log(1 + x))
        np.save(file, 2 * x)


def mapped(x):
    y = jnp.log(1 + x)
    z = jax.lax.map(count, y)
    return y + z


def scaled(x, rates):
    y = jnp.log(1 + x)
    z = y * rates.factor
    return y + z


small = jnp.array([1e-8])
near(jnp.array([0.5]))
at(small)
copyto(small)
keyword(small)
positional(small)
save(small)
mapped(small)
scaled(small, Rates())
with open("rates.npy", "rb") as file:
    np.load(file)
    assert np.load(file) == 2 * small
assert not any((*added, *copied, *summed, *total)), (added, copied, summed, total)
assert seen == ["count", "factor"], seen
open("done", "w").close()
"""


@pytest.mark.jax
def test_a_formula_counts_where_the_program_uses_what_it_loses(tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(USED.lstrip())
    words = ("--select", "JAX703", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    found = [item["verdict"] for item in json.loads(call(folder, "formulas.py", *words).stdout)]
    assert [verdict["verdict"] for verdict in found] == ["inconclusive"] * 3 + ["confirmed"] * 3
    assert all("that changes no value and no gradient" in verdict["reason"] for verdict in found[:3])


@pytest.mark.jax
def test_a_comparison_of_formulas_runs_no_call_with_effects_again(tmp_path: Path) -> None:
    folder = project(tmp_path, "import formulas\n")
    (folder / "formulas.py").write_text(WITH_EFFECTS.lstrip())
    words = ("--select", "JAX703", "--for", "60", "--output-format", "json", "--", "python", "main.py")
    done = call(folder, "formulas.py", *words)
    assert (folder / "done").exists(), done
    verdicts = [item["verdict"]["verdict"] for item in json.loads(done.stdout)]
    assert verdicts == ["inconclusive"] + ["confirmed"] * 7, "the first one keeps the run from ending early"
