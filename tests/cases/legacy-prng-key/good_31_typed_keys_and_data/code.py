import jax
import jax.numpy as jnp


class Legacy:
    PRNGKey = staticmethod(jax.random.key)

    def __init__(self, seed):
        self.key = self.PRNGKey(seed)


def from_words(words):
    """Rebuild a key from what an old jax.random.PRNGKey(0) left on disk."""
    return jax.random.wrap_key_data(jnp.asarray(words, jnp.uint32))


def noise(words, n):
    return jax.random.normal(from_words(words), (n,)) + jax.random.normal(Legacy(1).key, (n,))
