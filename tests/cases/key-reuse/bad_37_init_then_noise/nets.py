import jax


def init_mlp(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    return [jax.random.normal(k, shape) for k, shape in zip(keys, zip(widths[:-1], widths[1:]))]
