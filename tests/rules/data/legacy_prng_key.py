"""Raw keys."""

import jax
from jax import random as jr
from jax.random import PRNGKey


def by_attribute(seed):
    return jax.random.PRNGKey(seed)  # expect: legacy-prng-key


def by_module_alias(seed):
    return jr.PRNGKey(seed)  # expect: legacy-prng-key


def by_name(seed):
    return PRNGKey(seed)  # expect: legacy-prng-key


def not_called(seeds):
    return [make(seed) for make in (jax.random.PRNGKey,) for seed in seeds]  # expect: legacy-prng-key


# runs: by_attribute(0), by_module_alias(0), by_name(0), not_called([0])


# --- never flagged -------------------------------------------------------------


class Namespace:
    PRNGKey = staticmethod(jax.random.key)


def own(seed):
    return Namespace.PRNGKey(seed), jax.random.key(seed), "jax.random.PRNGKey(0)"


# runs: own(0)
