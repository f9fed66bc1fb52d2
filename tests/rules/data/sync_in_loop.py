"""Reading results on the host in every iteration of a dispatching loop."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(w, x):
    loss = jnp.mean((x @ w) ** 2)
    return w - 0.1 * loss, loss


def every_step(w, batches):
    losses = []
    for x in batches:
        w, loss = train_step(w, x)
        losses.append(float(loss))  # expect: sync-in-loop
    return w, losses


def by_item(w, batches):
    total = 0.0
    for x in batches:
        w, loss = train_step(w, x)
        total += loss.item()  # expect: sync-in-loop
    return w, total


def by_numpy(w, batches):
    history = []
    for x in batches:
        w, loss = train_step(w, x)
        history.append(np.asarray(loss))  # expect: sync-in-loop
    return w, history


def shown(w, batches):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        print(step, loss)  # expect: sync-in-loop
    return w


def shown_in_text(w, batches):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        print(f"{step}: {loss}")  # expect: sync-in-loop
    return w


def tested(w, batches):
    for x in batches:
        w, loss = train_step(w, x)
        if loss < 1e-3:  # expect: sync-in-loop
            break
    return w


def until(w, x):
    loss = jnp.inf
    while True:
        w, loss = train_step(w, x)
        if bool(loss < 1e-3):  # expect: sync-in-loop
            return w


# runs: every_step(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: shown_in_text(jnp.ones(2), [jnp.ones((3, 2))] * 2)


# --- never flagged -------------------------------------------------------------


def guarded(w, batches, every=10):
    for step, x in enumerate(batches):
        w, loss = train_step(w, x)
        if step % every == 0:
            print(step, float(loss))
    return w


def afterwards(w, batches):
    losses = []
    for x in batches:
        w, loss = train_step(w, x)
        losses.append(loss)
    print(float(loss), loss.item())
    for value in losses:
        print(value)
    return w, np.asarray(jnp.stack(losses))


def when_due(w, batches, every=10):
    due = steps = 0
    for x in batches:
        w, loss = train_step(w, x)
        steps += len(x)
        if steps >= due:
            print(steps, float(loss))
            due += every
    return w


def asserted(w, batches):
    for x in batches:
        w, loss = train_step(w, x)
        assert not jnp.isnan(loss)
        assert float(loss) >= 0.0
        np.testing.assert_array_less(np.float32(loss), 1e3)
    return w


def on_the_host(w, batches):
    for x in batches:
        size = float(np.mean(x)) + int(x.shape[0])
        if size > 1e9:
            break
        w, _ = train_step(w, x)
        print("batch", size, w.shape)
    return w


# runs: guarded(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: when_due(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: asserted(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: afterwards(jnp.ones(2), [jnp.ones((3, 2))] * 2)
# runs: on_the_host(jnp.ones(2), [jnp.ones((3, 2))] * 2)
