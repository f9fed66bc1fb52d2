import jax
import jax.numpy as jnp


def bad(m):
    assert len(m.triple(jax.random.key(0))) == 3
    assert "random_split" in str(jax.make_jaxpr(lambda k: m.init(k, 2, True))(jax.random.key(0)))
