import jax.random as jr


def make_data(key, weights, n):
    kx, ke = jr.split(key)
    x = jr.normal(kx, (n, weights.shape[0]))
    return x, x @ weights + 0.1 * jr.normal(ke, (n,))
