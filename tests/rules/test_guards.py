"""Names of other releases of JAX across files: where a project guards them, nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_jax.cli import main

COMPAT = """
import jax

NEW_TREES = hasattr(jax, "tree")
if NEW_TREES:
    from package._new import tree_map
else:
    from package._old import tree_map
"""

PROGRAMS = {
    "a module imported behind a probe": {
        "package/__init__.py": "from package.compat import tree_map\n",
        "package/compat.py": COMPAT,
        "package/_old.py": "import jax\n\n\ndef tree_map(f, tree):\n    return jax.tree_map(f, tree)\n",
        "package/_new.py": "import jax\n\ntree_map = jax.tree.map\n",
    },
    "a flag of another module": {
        "package/__init__.py": "",
        "package/compat.py": "import jax\n\nNEW_TREES = hasattr(jax, 'tree')\n",
        "package/use.py": """
import jax
from package.compat import NEW_TREES


def leaves(tree):
    if not NEW_TREES:
        return jax.tree_leaves(tree)
    return jax.tree.leaves(tree)
""",
    },
    "a test of the modules that are loaded": {
        "package/__init__.py": "",
        "package/use.py": """
import sys

import jax

if "jax.experimental.host_callback" in sys.modules:
    jax.experimental.host_callback.barrier_wait()


def wait():
    loaded = sys.modules.get("jax.experimental.host_callback")
    if loaded is None:
        return
    jax.experimental.host_callback.barrier_wait()
""",
    },
    "a library through another module": {
        "package/__init__.py": "",
        "package/backend.py": "import jax.numpy as jnp\n",
        "package/use.py": """
from package.backend import jnp


def integral(y):
    return jnp.trapz(y)  # expect: removed-api
""",
    },
    "private modules": {
        "use.py": """
import jax
from jax._src.lax import lax


def unop(f):
    return lax.standard_unop(f), lax.naryop, jax.lax.standard_unop  # expect: removed-api
""",
    },
    "tests": {
        "test_use.py": """
import jax
import pytest


def test_old():
    with pytest.raises(AttributeError):
        jax.tree_map(abs, [1])


@pytest.mark.skipif(jax.__version_info__ >= (0, 6), reason="removed")
def test_older():
    assert jax.tree_map(abs, [1]) == [1]


def test_left():
    if not hasattr(jax, "tree_leaves"):
        pytest.skip("removed")
    assert jax.tree_leaves([1])


def test_new():
    assert jax.tree_leaves([1])  # expect: removed-api
""",
    },
    "put there by the project": {
        "package/__init__.py": "import jax\n\njax.tree_map = jax.tree.map\n",
        "package/use.py": "import jax\n\n\ndef double(t):\n    return jax.tree_map(lambda x: 2 * x, t)\n",
    },
    "an object of that name": {
        "use.py": """
class Config:
    def __init__(self, jax):
        self.jax = jax

    def run(self, tree):
        return self.jax.tree_map(abs, tree)


def run(jax, tree):
    return jax.tree_map(abs, tree)
""",
    },
    "annotations": {
        "use.py": """
from __future__ import annotations

import dataclasses

import jax


@dataclasses.dataclass
class State:
    key: jax.random.KeyArray  # expect: removed-api
    keys: list[jax.random.KeyArray]  # expect: removed-api


def draw(key: jax.random.KeyArray | None) -> tuple[jax.Array, "jax.random.KeyArray"]:  # expect: removed-api
    return key
""",
    },
    "a try around more": {
        "use.py": """
import jax

try:
    shard_map = jax.shard_map
    kwargs = {"check_vma": False}
except AttributeError:
    from jax.experimental.shard_map import shard_map

    kwargs = {"check_rep": False}

try:
    import numpy
finally:
    leaves = jax.tree_leaves  # expect: removed-api
""",
    },
    "a script with bounds of its own": {
        "use.py": """
# /// script
# dependencies = ["jax>=0.4.20,<0.5"]
# ///
import jax
from jax.experimental.shard_map import shard_map


def double(tree):
    return jax.tree_map(lambda x: 2 * x, tree), shard_map


def newer(mesh):
    return jax.set_mesh(mesh), jax.tree.map  # expect: too-new-api
""",
    },
    "pjit needs its function in every release": {
        "use.py": """
# /// script
# dependencies = ["jax>=0.4.20"]
# ///
import jax
from jax import jit
from jax.experimental import pjit


@pjit.pjit(static_argnums=0)  # expect: deprecated-api
def scaled(rate, x):
    return rate * x


@jit(static_argnums=0)  # expect: too-new-api
def shifted(by, x):
    return x + by
""",
    },
    "a script for releases older than the table": {
        "use.py": """
# /// script
# dependencies = ["jax>=0.3.10,<0.4"]
# ///
import jax


def double(tree):
    return jax.tree_multimap(lambda x: 2 * x, tree)  # expect: removed-api


def when_is_not_known(f):
    return jax.partial(f, 1), jax.tree.map(f, {}), jax.soft_pmap(f)
""",
        "held_back.py": """
# /// script
# dependencies = ["jax==0.3.10"]
# ///
import jax


def double(tree):
    return jax.tree_multimap(lambda x: 2 * x, tree)


def cut(x):
    return jax.ops.index_update(x, 0, 1)  # expect: removed-api
""",
    },
    "libraries around JAX": {
        "use.py": """
import chex
import flax.linen as nn
import haiku as hk
import optax
import orbax.checkpoint as ocp
from flax import optim  # expect: removed-api
from flax.experimental import nnx  # expect: deprecated-api
from numpyro.infer import Predictive
from optax import dpsgd, maybe_update  # expect: deprecated-api, removed-api
from orbax.checkpoint.async_checkpointer import AsyncCheckpointer  # expect: removed-api


def clipped(params, model):
    chex.assert_tree_all_close(params, params)  # expect: removed-api
    chex.assert_trees_all_close(params, params)
    predictive = Predictive(model, params, exclude_deterministic=True)  # expect: deprecated-api
    noise = optax.add_noise(0.1, 0.5, seed=3)  # expect: deprecated-api
    optax.add_noise(0.1, 0.5, key=3)
    cell = nn.ConvLSTM  # expect: removed-api
    hk.one_hot(params, 3)  # expect: deprecated-api
    ocp.utils.async_exists("x")  # expect: removed-api
    return optax.global_norm(params), predictive, noise, cell, optim, nnx, dpsgd  # expect: deprecated-api


def state(module: nn.Module) -> optax.MaybeUpdateState:  # expect: removed-api
    return module, AsyncCheckpointer, maybe_update
""",
    },
    "calls of nnx that need another argument since Flax 0.11": {
        "train.py": """
import jax
import optax
from flax import nnx


class Model(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jax.numpy.ones(3))

    def __call__(self, x):
        return x @ self.w.value + self.w.value  # expect: deprecated-api


@nnx.jit
def step(model, optimizer, x):
    grads = nnx.grad(lambda m: m(x).sum())(model)
    optimizer.update(grads)  # expect: removed-api


def train(x):
    model = Model()
    step(model, nnx.Optimizer(model, optax.adam(1e-3)), x)  # expect: removed-api
    good = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    good.update(model, model(x))
    options = {"wrt": nnx.Param}
    return nnx.Optimizer(model, optax.adam(1e-3), **options)


def of_any_release(model):
    try:
        return nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    except TypeError:
        return nnx.Optimizer(model, optax.adam(1e-3))


train(jax.numpy.ones(3))
""",
        "older.py": """
# /// script
# dependencies = ["flax<0.11", "jax", "optax"]
# ///
import optax
from flax import nnx


def train(model, grads, w: nnx.Param):
    optimizer = nnx.Optimizer(model, optax.adam(1e-3))
    optimizer.update(grads)
    return w.value
""",
    },
    "the value of a variable of nnx, written and read": {
        "show.py": """
import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self):
        self.w = nnx.Param(jnp.ones(3))


class Box:
    value = 3


model = Model()
model.w.value = jnp.zeros(3)  # expect: deprecated-api
print(model.w.value, model.w[...], Box().value)
""",
    },
    "an optimizer that may be of the subclass with the older signature": {
        "train.py": """
from flax import nnx


def made(model, tx):
    return nnx.ModelAndOptimizer(model, tx)  # expect: deprecated-api


def step(optimizer: nnx.Optimizer, grads):
    optimizer.update(grads)
""",
    },
    "options and collectives of JAX that are gone or old": {
        "use.py": """
import jax

jax.config.update("jax_platform_name", "cpu")  # expect: deprecated-api
jax.config.update("jax_platforms", "cpu")


def product(x, w):
    return jax.lax.pdot(x, w, "i")  # expect: removed-api
""",
    },
    "what a script asks of a library": {
        "older.py": """
# /// script
# dependencies = ["flax==0.5.3", "optax>=0.2.4", "chex"]
# ///
import chex
import flax.optim
import optax


def clipped(params):
    chex.assert_tree_all_close(params, params)  # expect: removed-api
    return optax.global_norm(params), optax.dpsgd  # expect: deprecated-api
""",
        "held_back.py": """
# /// script
# dependencies = ["jax<0.4", "optax>=0.2.5,<0.2.7"]
# ///
import flax.optim
import optax


def clipped(params):
    return optax.global_norm(params), optax.monte_carlo, optax.maybe_update(params, flax)  # expect: removed-api
""",
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_guards(name: str, check: Callable[..., None]) -> None:
    check(PROGRAMS[name])


LATER = {
    "old.py": """
# /// script
# dependencies = ["jax==0.4.25"]
# ///
import jax
import jax.numpy as jnp
from jax.experimental import host_callback  # expect: removed-api
from jax.lib import xla_bridge


def halved(params):
    xla_bridge.get_backend()  # expect: removed-api
    host_callback.id_print(params)
    return jax.tree_map(lambda x: jnp.clip(x, a_min=0.0) / 2, params)  # expect: removed-api
""",
    "recent.py": """
# /// script
# dependencies = ["jax<0.11"]
# ///
import jax
import jax.numpy as jnp


def both(x):
    return jax.core.JaxprPpContext, jax.tree.map(jnp.sin, x)  # expect: deprecated-api
""",
}


def test_names_that_newer_releases_lack_than_those_that_a_script_asks_for(check: Callable[..., None]) -> None:
    check(LATER, opt_in=frozenset({"removed-api"}))


@pytest.mark.parametrize(("bound", "codes"), [("<=0.2.11", []), ("<0.5", ["JAX801"])])
def test_names_removed_by_a_version_that_requires_a_newer_jax(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bound: str, codes: list[str]
) -> None:
    (tmp_path / "setup.py").write_text(
        f"from setuptools import setup\n\nsetup(install_requires=['jax{bound}', 'chex>=0.0.7'])\n"
    )
    (tmp_path / "use.py").write_text(
        "import chex\nimport jax\n\n\ndef check(a):\n    chex.assert_tree_all_close(a, jax.device_get(a))\n"
    )
    monkeypatch.chdir(tmp_path)
    main(["check", "--no-cache", "--select", "JAX801", "--output-format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert [(item["code"], item["severity"]) for item in found] == [(code, "error") for code in codes]
