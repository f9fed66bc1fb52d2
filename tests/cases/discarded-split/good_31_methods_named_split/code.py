import jax
import jax.numpy as jnp


class Stream:
    def __init__(self, key):
        self.key = key
        self.issued = []

    def split(self):
        self.key, sub = jax.random.split(self.key)
        self.issued.append(sub)
        return sub

    def fold_in(self, data):
        self.key = jax.random.fold_in(self.key, data)


def setup(seed):
    stream = Stream(jax.random.key(seed))
    stream.split()
    stream.fold_in(3)
    if (pair := jax.random.split(stream.split())) is not None:
        stream.issued.extend(pair)
    return [jax.random.normal(k) for k in stream.issued[:1]], jnp.stack(stream.issued[2:])


def pieces(key, n):
    yield from jax.random.split(key, n)
