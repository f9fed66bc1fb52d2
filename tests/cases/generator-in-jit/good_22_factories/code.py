import contextlib

import jax


@contextlib.contextmanager
def doubled(values):
    yield [2 * v for v in values]


def steps(rates):
    for rate in rates:
        yield jax.jit(lambda x, rate=rate: x * rate)


def run(x, n):
    with doubled([0.5] * n) as rates:
        for step in steps(rates):
            x = step(x)
    return x
