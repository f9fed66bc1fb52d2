"""Ways of Haiku to stage a function, each with a defect inside."""

import haiku as hk
import jax
import jax.numpy as jnp


def network(x):
    h = hk.Linear(2)(x)
    return h if h.mean() > 0 else -h  # expect: traced-branch


model = hk.transform(network)


@jax.jit
def apply(params, x):
    return model.apply(params, None, x)


# raises TracerBoolConversionError: apply(model.init(jax.random.PRNGKey(0), jnp.ones((1, 2))), jnp.ones((1, 2)))
