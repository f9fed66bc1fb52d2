"""Tests of arrays in loops that compiled calls fill."""

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.1 * x, jnp.sum(w * x)


def schedule(count):
    slow = 1.0 / jnp.sqrt(count)
    fast = count * 0.1
    if slow > fast:  # expect: sync-in-loop
        return fast
    return slow


def checked(w, batches):
    for x in batches:
        w, loss = step(w, x)
        if jnp.isnan(loss):  # expect: sync-in-loop
            raise ValueError("the loss is NaN")
    return w


def counted(w, batches):
    right = 0
    for x, label in batches:
        _, score = step(w, x)
        right += 1 if jnp.argmax(score) == jnp.argmax(label) else 0  # expect: sync-in-loop
    return right


def until_small(w, batches):
    for x in batches:
        w, loss = step(w, x)
        if jnp.abs(loss) < 1e-3:  # expect: sync-in-loop
            break
    return w


def best(w, batches):
    lowest, kept = jnp.inf, w
    for x in batches:
        w, loss = step(w, x)
        if loss < lowest:  # expect: sync-in-loop
            lowest, kept = loss, w
    return kept


def now_and_then(w, batches):
    for i, x in enumerate(batches):
        w, loss = step(w, x)
        if i % 100 == 0 and jnp.isnan(loss):
            raise ValueError("the loss is NaN")
    return w


def nearly_always(w, batches):
    for i, x in enumerate(batches):
        w, loss = step(w, x)
        if i % 100:
            print(loss)  # expect: sync-in-loop
    return w


def of_shapes(w, batches):
    for x in batches:
        w, _ = step(w, x)
        if x.shape[0] == 3 or jnp.ndim(x) == 1:
            print("short")
    return w


rows = [jnp.ones(3)] * 200
checked(jnp.ones(3), iter(rows))
counted(jnp.ones(3), iter(zip(rows, rows)))
until_small(jnp.ones(3), iter(rows))
best(jnp.ones(3), iter(rows))
now_and_then(jnp.ones(3), iter(rows))
nearly_always(jnp.ones(3), iter(rows))
of_shapes(jnp.ones(3), iter(rows))
for number in range(100000):
    schedule(number)
