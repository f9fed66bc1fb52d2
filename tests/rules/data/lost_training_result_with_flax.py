"""Loops whose updates nobody uses, and others."""

import functools
import time
from collections import namedtuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training import train_state
from unknown import save

State = namedtuple("State", "params opt_state")
tx = optax.chain(optax.clip(1.0), optax.adam(1e-3))
momentum = optax.sgd(0.1, momentum=0.9)


def loss(p, x):
    return jnp.mean((p["w"] * x) ** 2)


gradient = jax.jit(jax.grad(loss))


@jax.jit
def step(params, opt_state, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value


def dropped_params(params, data):
    opt_state = tx.init(params)
    for x in data:
        _, opt_state, value = step(params, opt_state, x)  # expect: lost-training-result
        print(value.shape)
    return params


def dropped_state(params, data):
    opt_state = tx.init(params)
    for x in data:
        params, _, value = step(params, opt_state, x)  # expect: lost-training-result
    return params, opt_state


def by_hand(params, data):
    opt_state = tx.init(params)
    for x in data:
        grads = gradient(params, x)
        updates, _ = tx.update(grads, opt_state)  # expect: eager-step, lost-training-result
        params = optax.apply_updates(params, updates)
    return params


def initial_returned(params, data):
    current, opt_state = params, tx.init(params)
    for epoch in range(10):
        for x in data:
            current, opt_state, value = step(current, opt_state, x)
        print(value)
    return params  # expect: lost-training-result


class Trainer:
    def __init__(self, params):
        self.params = params
        self.opt_state = momentum.init(params)

    def fit(self, data):
        for x in data:
            grads = gradient(self.params, x)
            updates, _ = momentum.update(grads, self.opt_state)  # expect: eager-step, lost-training-result
            self.params = optax.apply_updates(self.params, updates)


def named(params, data):
    state = State(params, tx.init(params))

    @jax.jit
    def advance(state, x):
        grads = jax.grad(loss)(state.params, x)
        updates, opt_state = tx.update(grads, state.opt_state)
        return State(optax.apply_updates(state.params, updates), opt_state)

    for x in data:
        state = advance(state, x)
    return evaluate(params)  # expect: lost-training-result


def evaluate(params):
    return params["w"].sum()


@functools.partial(jax.jit, static_argnames="lr")
def sgd(params, x, lr=0.1):
    g = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, d: p - lr * d, params, g), g


def discarded(params, data):
    for x in data:
        new, g = sgd(params, x)  # expect: lost-training-result
        print(g)
    print(evaluate(params))


def apply(state, g):
    return state.apply_gradients(grads=g)  # expect: eager-step


def method(data, grads):
    state = train_state.TrainState.create(apply_fn=None, params={"w": jnp.ones(3)}, tx=optax.adam(1e-3))
    for g in grads:
        other = apply(state, g)  # expect: lost-training-result
    return state.params


def array_step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.sum((w * x) ** 2))(w), x.sum()


fast = jax.jit(array_step)


def arrays(w, data):
    for x in data:
        _, s = fast(w, x)  # expect: lost-training-result
        print(s)
    return w


def script(params, data):
    trained = params
    opt_state = tx.init(params)
    for x in data:
        trained, opt_state, _ = step(trained, opt_state, x)
    save("model", params)  # expect: lost-training-result


# --- silent ---


plain = optax.sgd(0.1)


def benchmark(params, data):
    opt_state = tx.init(params)
    start = time.perf_counter()
    for x in data:
        _, _, value = step(params, opt_state, x)
    value.block_until_ready()
    print(time.perf_counter() - start)


def kept(params, data):
    initial, opt_state = params, tx.init(params)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
    return params, initial


def compared(initial, data):
    params, opt_state = initial, tx.init(initial)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
    return jax.tree.map(lambda a, b: a - b, params, initial)


def saved_inside(initial, data):
    params, opt_state = initial, tx.init(initial)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
        save(params)
    return initial


def early_stopping(params, data):
    best, opt_state = params, tx.init(params)
    lowest = float("inf")
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
        if value < lowest:
            best, lowest = params, value
    return best


class Keeping:
    def __init__(self, params):
        self.params, self.opt_state = params, tx.init(params)

    def fit(self, data):
        for x in data:
            self.params, self.opt_state, _ = step(self.params, self.opt_state, x)

    def peek(self, data):
        for x in data:
            _, _, value = step(self.params, self.opt_state, x)
            self.params, self.opt_state, _ = step(self.params, self.opt_state, x)


def stateless(params, data):
    s = plain.init(params)
    for x in data:
        g = gradient(params, x)
        u, _ = plain.update(g, s)  # expect: eager-step
        params = optax.apply_updates(params, u)
    return params


def nnx_loop(model, data):
    opt = nnx.Optimizer(model, tx, wrt=nnx.Param)

    @nnx.jit
    def s(model, opt, x):
        value, g = nnx.value_and_grad(lambda m: m(x).sum())(model)
        opt.update(model, g)
        return value

    for x in data:
        value = s(model, opt, x)
    return model


@jax.jit
def eval_step(params, x):
    return params, loss(params, x)


def evaluated(params, data):
    total = 0.0
    for x in data:
        _, value = eval_step(params, x)
        total += value
    return params, total


def inner_adaptation(params, tasks):
    """Each task begins from the same parameters."""
    results = []
    for task in tasks:
        fast, _, value = step(params, tx.init(params), task)
        results.append(loss(fast, task))
    return params, results


def shapes(params, data):
    current, opt_state = params, tx.init(params)
    for x in data:
        current, opt_state, _ = step(current, opt_state, x)
    print(params["w"].shape)
    return current


def closure(params, data):
    current, opt_state = params, tx.init(params)

    def report():
        return loss(current, data[0])

    for x in data:
        current, opt_state, _ = step(current, opt_state, x)
    print(report(), loss(params, data[0]))


def once(params, x):
    opt_state = tx.init(params)
    g = jax.grad(loss)(params, x)
    u, _ = tx.update(g, opt_state)  # expect: eager-step
    return optax.apply_updates(params, u)


def runs(params, seeds):
    return [once(params, s) for s in seeds]


def many_runs(params, seeds):
    out = []
    for s in seeds:
        out.append(once(params, s))
    return out


def while_loop(params, data):
    opt_state, i = tx.init(params), 0
    while True:
        params, opt_state, value = step(params, opt_state, data[i])
        i += 1
        if value < 0.1:
            return params


def global_state(data):
    global current
    for x in data:
        current, _, _ = step(current, None, x)


def target_network(params, data):
    target, opt_state = params, tx.init(params)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
        print(loss(target, x))  # expect: sync-in-loop
    return params


def line_search(params, g, rates):
    """Which of several updates is the best one."""
    best = None
    for lr in rates:
        trial = jax.tree.map(lambda p, d: p - lr * d, params, g)
        if best is None or loss(trial, 1.0) < loss(best, 1.0):
            best = trial
    return params, best


def warm_up(params, x):
    opt_state = tx.init(params)
    for _ in range(3):
        step(params, opt_state, x)
    return params


def generator(params, data):
    opt_state = tx.init(params)
    for x in data:
        params, opt_state, value = step(params, opt_state, x)
        yield value
