from functools import partial

import jax

from synthetic import make_data


def experiment(key, n_train, n_test):
    k_weights, k_data = jax.random.split(key)
    weights = jax.random.normal(k_weights, (3,))
    sample = partial(make_data, k_data, weights)
    train = sample(n_train)
    test = sample(n_test)  # expect: key-reuse
    return train, test
