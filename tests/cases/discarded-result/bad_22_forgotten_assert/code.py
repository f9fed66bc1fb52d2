import jax
import jax.numpy as jnp

predict = jax.jit(lambda x: x * 2)


def check(x, expected):
    jnp.allclose(predict(x), expected)  # expect: discarded-result
    return True
