import jax
import jax.numpy as jnp


def act(q, key):
    return jax.random.categorical(key, q)


@jax.jit
def act_all(qs, keys):
    return jax.vmap(act)(qs, keys)


def play(key, qs, horizon):
    keys = jax.random.split(key, qs.shape[0])
    actions = []
    t = 0
    while t < horizon:
        actions.append(act_all(qs, keys))  # expect: key-reuse-in-loop
        t += 1
    return jnp.stack(actions)
