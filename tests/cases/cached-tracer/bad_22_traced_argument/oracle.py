import jax.numpy as jnp


def bad(m):
    try:
        m.energy(jnp.ones(2))
    except TypeError as error:
        assert "hash" in str(error)
    else:
        raise AssertionError
