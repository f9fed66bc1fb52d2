import jax
import jax.numpy as jnp


def builder(x):
    n_layers = 0
    out = x

    def dense(scale):
        nonlocal n_layers, out
        n_layers += 1
        out = jnp.tanh(out * scale / n_layers)

    def depth():
        return n_layers

    def result():
        return out

    return dense, depth, result


@jax.jit
def network(x):
    dense, depth, result = builder(x)
    for scale in (1.0, 2.0, 3.0):
        dense(scale)
    return result() / depth()
