import jax
import jax.numpy as jnp

from schedules import make_schedule


def make_update(name, peak):
    schedule = make_schedule(name, peak)

    def update(carry, grad):
        w, t = carry
        rate = schedule(t)
        return (w - rate * grad, t + 1), rate

    return update


def optimise(w, grads, name):
    (w, _), rates = jax.lax.scan(make_update(name, 0.1), (w, 0), grads)
    return w, jnp.asarray(rates)
