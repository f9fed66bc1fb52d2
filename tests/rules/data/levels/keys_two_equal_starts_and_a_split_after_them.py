import jax


def init(key):
    k1, k2 = jax.random.split(key)
    return jax.random.normal(k1, (3, 4)), jax.random.normal(k2, (4, 1))


def starts(seed):
    key = jax.random.PRNGKey(seed)
    params = init(key)
    target_params = init(key)  # info: key-reuse
    return params, target_params


def train(seed, steps):
    key = jax.random.PRNGKey(seed)
    params = init(key)
    target_params = init(key)
    for _ in range(steps):
        key, batch_key = jax.random.split(key)  # error: key-reuse
        batch = jax.random.normal(batch_key, (8, 3))
        params = [p + 0.1 * (t - p) + batch.mean() for p, t in zip(params, target_params)]
    return params, target_params
