""".item() and .tolist() on traced arrays."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


@jax.jit
def item(x):
    return jnp.sum(x).item()  # expect: host-item


# raises ConcretizationTypeError: item(jnp.ones(2))


@jax.jit
def tolist(x):
    return jnp.sin(x).tolist()  # expect: host-item


# raises ConcretizationTypeError: tolist(jnp.ones(2))


def differentiated(x):
    y = jnp.sin(x)
    return y * len(y.tolist()) if y.ndim else y * y.tolist()  # expect: host-item


slope = jax.grad(differentiated)
# raises ConcretizationTypeError: slope(1.0)


# --- never flagged -------------------------------------------------------------


class Box(NamedTuple):
    value: Any

    def item(self):
        return self.value

    def tolist(self):
        return [self.value]


@jax.jit
def own_methods(boxes):
    return sum(box.item() for box in boxes) + boxes[0].tolist()[0]


# runs: own_methods([Box(1.0), Box(2.0)])


def concrete(x):
    return x * 2 if x.item() > 0 else x


concrete_slope = jax.grad(concrete)
# runs: concrete_slope(1.0)


def eager(x):
    return jnp.sum(x).item(), x.tolist()


# runs: eager(jnp.ones(2))
