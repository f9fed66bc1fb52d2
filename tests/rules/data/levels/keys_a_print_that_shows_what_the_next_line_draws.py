import jax


def sample_level(rng):
    first, second = jax.random.split(rng)
    return jax.random.uniform(first), jax.random.uniform(second)


def create(rng):
    print("level:", sample_level(rng))
    return sample_level(rng)  # info: key-used-after-split


def other(rng):
    print("level:", sample_level(rng))
    return jax.random.normal(rng)  # error: key-used-after-split
