import time

import jax


def trajectories(keys, params):
    return jax.vmap(lambda key: jax.random.normal(key, params.shape) * params)(keys)


def compare(seed):
    key, first, second = jax.random.split(jax.random.key(seed), 3)
    params = jax.random.uniform(first, (10,))
    keys = jax.random.split(second, 100)
    print(trajectories(keys, params).mean())
    times = []
    for n in [10, 11, 12]:
        timed_keys = jax.random.split(second, 50)  # info: key-used-after-split
        timed_params = jax.random.uniform(first, (n,))  # info: key-reuse
        start = time.time()
        trajectories(timed_keys, timed_params).block_until_ready()
        times.append(time.time() - start)
    return key, times
