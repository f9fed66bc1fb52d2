import jax
import jax.numpy as jnp

from wrappers import Autoreset, Wrapper


class Pendulum:
    max_steps = 10

    def reset(self, key):
        return jax.random.normal(key, (2,))

    def step(self, key, state, action):
        return state + 0.1 * action, -jnp.sum(state**2), jnp.abs(state[0]) > 3.0


def rollout(key, actions):
    env = Autoreset(Wrapper(Pendulum()))

    def body(carry, a):
        key, state = carry
        key, sub = jax.random.split(key)
        state, r, _ = env.step(sub, state, a)
        return (key, state), r

    key, sub = jax.random.split(key)
    return jax.lax.scan(body, (key, env.reset(sub)), actions)
