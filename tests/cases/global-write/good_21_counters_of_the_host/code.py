import jax
import jax.numpy as jnp

n_batches = 0
rate = 0.1


def configure(value):
    global rate
    rate = value


def loss_fn(w, x):
    return jnp.mean((x @ w) ** 2)


@jax.jit
def update(w, x, rate):
    value, grads = jax.value_and_grad(loss_fn)(w, x)
    return w - rate * grads, value


def fit(w, batches):
    global n_batches
    history = []
    for x in batches:
        w, value = update(w, x, rate)
        n_batches += 1
        history.append(value)
    return w, history
