"""Names that JAX removed."""

import sys
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import config, lax, tree_util

old = jnp


def by_attribute(params):
    return jax.tree_map(lambda p: p + 1, params)  # expect: removed-api


# raises AttributeError: by_attribute({"a": 1})


def by_alias(density):
    return old.trapz(density)  # expect: removed-api


# raises AttributeError: by_alias(jnp.ones(3))


def by_local_import(x):
    from jax.numpy import row_stack  # expect: removed-api

    return row_stack((x, x))


# raises ImportError: by_local_import(jnp.ones(3))


def module_gone(x):
    from jax.experimental.host_callback import call  # expect: removed-api

    return call(abs, x)


# raises ImportError: module_gone(1.0)


def module_as(x):
    import jax.experimental.maps as maps  # expect: removed-api

    return maps.xmap(abs, x)


# raises ImportError: module_as(1.0)


def module_attribute(f):
    return jax.linear_util.wrap_init(f)  # expect: removed-api


# raises AttributeError: module_attribute(abs)


def argument(x):
    return jnp.clip(x, a_min=0.0)  # expect: removed-api


# raises TypeError: argument(jnp.ones(3))


def argument_through_variable(x):
    clip = jnp.clip
    return clip(x, a_max=1.0)  # expect: removed-api


# raises TypeError: argument_through_variable(jnp.ones(3))


def in_a_branch(x, flag):
    if isinstance(flag, str):
        return jnp.in1d(x, x)  # expect: removed-api
    return x


# raises AttributeError: in_a_branch(jnp.ones(3), "a")


def in_a_loop(steps):
    params = {"a": 1.0}
    for _ in range(steps):
        params = jax.tree_map(lambda p: p * 2, params)  # expect: removed-api
    return params


# raises AttributeError: in_a_loop(2)


def caught_elsewhere(x):
    return jnp.round_(x)  # expect: removed-api


def main():
    try:
        return caught_elsewhere(jnp.ones(3))
    except Exception as error:
        sys.exit(str(error))


# raises AttributeError: caught_elsewhere(jnp.ones(3))


def sample(key: "jax.random.KeyArray", shape):
    return jax.random.normal(key, shape)


def annotated():
    def inner(key: jax.random.KeyArray):  # expect: removed-api
        return key

    return inner


# raises AttributeError: annotated()


class Uncalled:
    def method(self, tree):
        return jax.tree_leaves(tree)  # expect: removed-api


# raises AttributeError: Uncalled().method([1])


def option():
    jax.config.update("jax_eager_pmap", True)  # expect: removed-api


# raises AttributeError: option()


def option_that_is_always_on():
    jax.config.update("jax_omnistaging", True)  # expect: removed-api


# raises AttributeError: option_that_is_always_on()


def method_of_the_settings():
    jax.config.enable_omnistaging()  # expect: removed-api
    config.disable_omnistaging()  # expect: removed-api


# raises AttributeError: method_of_the_settings()


def values_of_the_settings():
    return config.jax_spmd_mode  # expect: removed-api


# raises AttributeError: values_of_the_settings()


# --- never flagged -------------------------------------------------------------

if hasattr(jax, "tree_map"):
    tree_map = jax.tree_map
else:
    tree_map = jax.tree.map

JAX_VERSION = tuple(int(part) for part in jax.__version__.split(".")[:2])
IS_OLD = JAX_VERSION < (0, 4)

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.maps import xmap as shard_map

if TYPE_CHECKING:
    from jax.random import KeyArray


def behind_a_version(x):
    return jnp.trapz(x) if IS_OLD else jax.scipy.integrate.trapezoid(x)


def left_before(x):
    if JAX_VERSION >= (0, 4):
        return jnp.vstack((x, x))
    return jnp.row_stack((x, x))


def both_conditions(tree):
    return IS_OLD and jax.tree_leaves(tree)


def asked_for(tree):
    try:
        return jax.tree_leaves(tree)
    except AttributeError:
        return jax.tree.leaves(tree)


def local_flag(tree):
    new = hasattr(jax, "tree")
    if new:
        return jax.tree.leaves(tree)
    return jax.tree_leaves(tree)


def _leaves_of_old(tree):
    return jax.tree_leaves(tree)


leaves = _leaves_of_old if IS_OLD else jax.tree.leaves


def present(tree, x):
    flat = tree_util.tree_leaves(tree_util.tree_map(lambda p: p, tree))
    return flat, lax.pmax, jnp.clip(x, min=0.0), jnp.vstack((x, x)), getattr(jax, "tree_map", None)


def old_array(x):
    from jaxlib.xla_extension import ArrayImpl  # expect: removed-api

    return isinstance(x, ArrayImpl)


# raises ImportError: old_array(jnp.ones(3))


def device_type():
    try:
        from jaxlib.xla_extension import Device
    except ImportError:
        Device = jax.Device
    return Device


# runs: device_type()


class Trees:
    def tree_map(self, f, tree):
        return [f(leaf) for leaf in tree]


def own(trees=Trees(), xs=(1, 2)):
    return trees.tree_map(abs, xs)


# runs: behind_a_version(jnp.ones(3)), left_before(jnp.ones(3)), both_conditions([1]), asked_for([1]), local_flag([1])
# runs: leaves([1]), present([1], jnp.ones(3)), own(), tree_map(abs, [1])
