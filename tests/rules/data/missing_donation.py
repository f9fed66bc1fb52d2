"""Compiled steps in loops: which of their arguments could be donated."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w - 0.1 * x.T @ (x @ w)


@jax.jit
def train_step(state, batch):
    grads = jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(state["w"])
    return {"w": state["w"] - 0.1 * grads, "step": state["step"] + 1}, jnp.abs(grads).max()


@partial(jax.jit, donate_argnums=0)
def donating(w, x):
    return w - 0.1 * x.T @ (x @ w)


@jax.jit
def loss_of(w, x):
    return jnp.mean((x @ w) ** 2)


def fit(w, batches):
    for x in batches:
        w = step(w, x)  # expect: missing-donation
    return w


def fit_state(state, batches):
    worst = []
    for batch in batches:
        state, grad = train_step(state, batch)  # expect: missing-donation
        worst.append(grad)
    return state, worst


def fit_from_scratch(n, batches):
    w = jnp.zeros(n)
    losses = []
    for epoch in range(3):
        for x in batches:
            losses.append(loss_of(w, x))
            w = step(w, x)  # expect: missing-donation
    return w, losses


def fit_while(w, x, tolerance):
    while loss_of(w, x) > tolerance:
        new = step(w, x)  # expect: missing-donation
        w = new
    return w


class Trainer:
    def __init__(self, n):
        self.w = jnp.ones(n)
        self.update = jax.jit(self._update)

    def _update(self, w, x):
        return w - 0.1 * x

    def run(self, batches):
        for x in batches:
            self.w = self.update(self.w, x)  # expect: missing-donation


def fit_both(n, batches):
    params, momentum = jnp.ones(n), jnp.zeros(n)
    both = jax.jit(lambda params, momentum, x: (params - momentum, 0.9 * momentum + x))
    for i, x in enumerate(batches):
        new_params, new_momentum = both(params, momentum, x)  # expect: missing-donation
        params = new_params
        momentum = new_momentum
        if i % 10 == 0:
            print(loss_of(params, jnp.eye(n)))
    return params


@partial(jax.pmap, axis_name="i")  # expect: pmap
def on_all_devices(w, momentum, x):
    return w - 0.1 * jax.lax.pmean(x, "i"), momentum + w


def fit_on_all_devices(w, momentum, batches):
    for x in batches:
        w, momentum = on_all_devices(w, momentum, x)  # expect: missing-donation
    return w


def fit_with_a_log(state, advance, batches, log):
    compiled = jax.jit(lambda state, x: advance(state, x))
    scale = state.scale
    for x in batches:
        state, (metrics, rest) = compiled(state, x)  # expect: missing-donation
        scale = state.scale
        worst = metrics.worst
        log(scale, worst, rest)
    return state


@jax.jit
def momentum_step(params, state, grad):
    state["momentum"] = 0.9 * state["momentum"] + grad
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, state["momentum"]), state


def fit_with_state_written_in_place(params, state, batches):
    for grad in batches:
        params, state = momentum_step(params, state, grad)  # expect: missing-donation
    return params


# --- never flagged -------------------------------------------------------------


def already(w, batches):
    for x in batches:
        w = donating(w, x)
    return w


def uncompiled(w, batches):
    for x in batches:
        w = w - 0.1 * x.T @ (x @ w)
    return w


def once(w, x):
    w = step(w, x)
    return w


def change(w, batches):
    moved = []
    for x in batches:
        new = step(w, x)
        moved.append(jnp.abs(new - w).max())
        w = new
    return w, moved


def history(w, batches):
    seen = []
    for x in batches:
        seen.append(w)
        w = step(w, x)
    return seen


def keeps_the_first(w, batches):
    first = w
    for x in batches:
        w = step(w, x)
    return w - first


def returns_the_first(w, batches):
    first = w
    for x in batches:
        w = step(w, x)
    return w, first


def keeps_the_best(w, batches, held_out):
    best, lowest = w, jnp.inf
    for x in batches:
        w = step(w, x)
        loss = float(loss_of(w, held_out))
        if loss < lowest:
            best, lowest = w, loss
    return best


def elements(xs, y):
    found = []
    for x in xs:
        x = step(x, y)
        found.append(x)
    return found


def logged(w, batches, log):
    for x in batches:
        new = step(w, x)
        log(w, new)
        w = new
    return w


def parts(state, batches):
    seen = []
    for batch in batches:
        state, _ = train_step(state, batch)
        seen.append(state["w"])
    return jnp.stack(seen)


def counted(batches):
    state = {"w": jnp.ones(3), "step": jnp.array(0)}
    path = {}
    for i, batch in enumerate(batches):
        state, _ = train_step(state, batch)
        path[i] = state["w"]
    return path


def best_later(w, batches, held_out):
    best, lowest = None, jnp.inf
    for x in batches:
        w = step(w, x)
        if (loss := float(loss_of(w, held_out))) < lowest:
            best, lowest = w, loss
    return best


def produced(w, batches):
    for x in batches:
        w = step(w, x)
        yield w


def twice_the_same(batches):
    w = jnp.ones(3)
    both = (w, w)
    average = jax.jit(lambda both, x: (both[0] - 0.1 * x, 0.9 * both[1] + 0.1 * both[0]))
    for x in batches:
        both = average(both, x)
    return both


def accepted(w, batches):
    for x in batches:
        new = step(w, x)
        if loss_of(new, x) < 1.0:
            w = new
    return w


def scalars(batches):
    total = jnp.zeros(())
    add = jax.jit(lambda total, x: total + jnp.sum(x))
    for x in batches:
        total = add(total, x)
    return total


def metrics(w, batches):
    out = None
    for x in batches:
        out = loss_of(w, x)
    return out


def keys(key, n):
    following = jax.jit(lambda key: jax.random.split(key)[0])
    for _ in range(n):
        key = following(key)
    return key


@jax.jit
def staged(w, xs):
    for x in (xs, 2 * xs):
        w = step(w, x)
    return w


def compared_by_the_caller(batches):
    w = jnp.ones(3)
    return jnp.abs(descend(w, batches) - w)


def descend(w, batches):
    for x in batches:
        w = step(w, x)
    return w


def logged_before(state, advance, batches, log):
    compiled = jax.jit(lambda state, x: advance(state, x))
    scale = 1.0
    for x in batches:
        log(scale)
        state, loss = compiled(state, x)
        scale = state.scale
    return state


def logged_at_times(state, advance, batches, log):
    compiled = jax.jit(lambda state, x: advance(state, x))
    scale = 1.0
    for i, x in enumerate(batches):
        state, loss = compiled(state, x)
        if i % 10 == 0:
            scale = state.scale
        log(scale)
    return state


def logged_later(state, advance, batches, log):
    compiled = jax.jit(lambda state, x: advance(state, x))
    for x in batches:
        state, loss = compiled(state, x)
        scale = state.scale
        log(lambda: scale)
    return state


def kept_after_the_loop(state, advance, batches):
    compiled = jax.jit(lambda state, x: advance(state, x))
    scale = None
    for x in batches:
        state, loss = compiled(state, x)
        if loss.done:
            break
        scale = state.scale
    return scale


same_everywhere = jax.pmap(lambda w, x: w - x, in_axes=(None, 0))  # expect: pmap


def copied_to_all(w, batches):
    for x in batches:
        w = same_everywhere(w, x)
    return w


# runs: fit(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: fit_state({"w": jnp.ones(3), "step": jnp.array(0)}, [jnp.eye(3)] * 2)
# runs: fit_from_scratch(3, [jnp.eye(3)] * 2)
# runs: fit_while(jnp.ones(3), jnp.eye(3), 0.5)
# runs: Trainer(3).run([jnp.ones(3)] * 2)
# runs: fit_both(3, [jnp.ones(3)] * 2)
# runs: fit_with_state_written_in_place(jnp.ones(3), {"momentum": jnp.zeros(3)}, [jnp.ones(3)] * 2)
# runs: already(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: change(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: history(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: keeps_the_first(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: returns_the_first(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: keeps_the_best(jnp.ones(3), [jnp.eye(3)] * 2, jnp.eye(3))
# runs: elements([jnp.ones(3)] * 2, jnp.eye(3))
# runs: logged(jnp.ones(3), [jnp.eye(3)] * 2, lambda old, new: None)
# runs: parts({"w": jnp.ones(3), "step": jnp.array(0)}, [jnp.eye(3)] * 2)
# runs: counted([jnp.eye(3)] * 2)
# runs: best_later(jnp.ones(3), [jnp.eye(3)] * 2, jnp.eye(3))
# runs: list(produced(jnp.ones(3), [jnp.eye(3)] * 2))
# runs: twice_the_same([jnp.ones(3)] * 2)
# runs: accepted(jnp.ones(3), [jnp.eye(3)] * 2)
# runs: scalars([jnp.ones(3)] * 2)
# runs: keys(jax.random.key(0), 3)
# runs: staged(jnp.ones(3), jnp.eye(3))
# runs: compared_by_the_caller([jnp.eye(3)] * 2)
