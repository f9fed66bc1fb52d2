"""``jit`` of function objects that are new in every call, in functions that loops call."""

import functools
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp


def normalise(x, eps):
    return jax.jit(lambda v: (v - v.mean()) / (v.std() + eps))(x)  # expect: jit-per-call


def smooth(x, width):
    @jax.jit  # expect: jit-per-call
    def filtered(x):
        return jnp.convolve(x, jnp.ones(width) / width, mode="same")

    return filtered(x)


def slope(x):
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(x**2)))  # expect: jit-per-call
    return gradient(x)


def prepare(frames):
    out = []
    for frame in frames:
        out.append(smooth(normalise(frame, 1e-6), 3))
    return out, [slope(frame) for frame in frames]


class Agent:
    def __init__(self, w):
        self.w = w
        self.compiled = jax.jit(self.policy)
        self.lazily = None

    def policy(self, x):
        return jnp.tanh(self.w * x)

    def act(self, x):
        return jax.jit(self.policy)(x)  # expect: jit-per-call

    def act_compiled(self, x):
        return self.compiled(x)

    def act_lazily(self, x):
        if self.lazily is None:
            self.lazily = jax.jit(self.policy)
        return self.lazily(x)


def rollout(agent, x, steps):
    for _ in range(steps):
        x = x + Agent(2.0).act(x)
    return x


def evaluate(w, batches):
    predict = jax.jit(jax.vmap(lambda x: w * x))  # expect: jit-per-call
    return [predict(x) for x in batches]


def epochs(w, batches, count):
    for _ in range(count):
        w = w + sum(jnp.sum(y) for y in evaluate(w, batches))
    return w


def scaled(leaf):
    return jax.jit(functools.partial(jnp.multiply, 2.0))(leaf)  # expect: jit-per-call


def scale_all(tree):
    return jax.tree.map(scaled, tree)


# runs: prepare([jnp.ones(4)] * 2)
# runs: rollout(None, jnp.ones(2), 2)
# runs: epochs(jnp.ones(2), [jnp.ones((3, 2))] * 2, 2)
# runs: scale_all({"a": jnp.ones(2), "b": jnp.ones(2)})


def build():
    return jax.jit(lambda x: jnp.sin(x) * 2)  # expect: jit-per-call


def run_built(xs):
    out = []
    for x in xs:
        f = build()
        out.append(f(x))
    return out


def build_scaled(scale):
    def step(x):
        return jnp.sin(x) * scale

    return jax.jit(step)  # expect: jit-per-call


def run_built_of_one_scale(xs, scale, epochs):
    for _ in range(epochs):
        f = build_scaled(scale)
        for x in xs:
            print(f(x))


def means(state):
    return jax.pmap(lambda x: jax.lax.pmean(x, "i"), "i")(state)  # expect: jit-per-call, pmap


def evaluated(state, x):
    return jax.jit(lambda x: x * state + 1)(x)  # expect: jit-per-call


def train_and_evaluate(state, step, xs, every):
    for i, x in enumerate(xs):
        state = step(state, x)
        if (i + 1) % every == 0:
            state = means(state)
            print(evaluated(state, x))
    return state


class Solver:
    def __init__(self, matrix):
        self.matrix = matrix
        self.kept = None

    def error(self, x):
        return jnp.sum((self.matrix @ x) ** 2)

    def solve(self, x, weight):
        def penalized():
            return lambda x: self.error(x) + weight * jnp.sum(x**2)

        loss = jax.jit(penalized())  # expect: jit-per-call
        return x - 0.1 * jax.grad(loss)(x)

    def residual(self, x):
        error = jax.jit(self.error)  # expect: jit-per-call
        return error(x)

    def lazily(self, x):
        if self.kept is None:
            self.kept = jax.jit(self.error)
        return self.kept(x)

    def once(self, x):
        return jax.jit(self.error)(x)


def relaxed(x, weight):
    @jax.jit  # expect: jit-per-call
    def inner(x):
        return x - weight * x

    for _ in range(20):
        x = inner(x)
    return x


def warmed(x, weight):
    step = jax.jit(lambda x: weight * x)
    step(x)
    return step


def solved(x):
    solver = Solver(jnp.eye(3))
    x = solver.solve(x, 0.1)
    x = solver.solve(x, 0.2)
    first, last = solver.residual(x), solver.residual(2 * x)
    a, b = warmed(x, 1.0)(x), warmed(x, 2.0)(x)
    return relaxed(x, 0.1), relaxed(x, 0.2), first, last, solver.lazily(x), solver.lazily(x), solver.once(x), a, b


# runs: solved(jnp.ones(3))


# --- never flagged -------------------------------------------------------------


def once(x):
    return jax.jit(lambda v: v * 2.0)(x)


def stable(x):
    return jax.jit(jnp.cumsum)(x)


@functools.cache
def power(n):
    compiled = jax.jit(lambda x: x**n)
    compiled(jnp.ones(2))
    return compiled


@functools.lru_cache(maxsize=8)
def warmed_up(n):
    return jax.jit(lambda x: x * n)(jnp.ones(2))


_compiled = {}


def looked_up(x, n):
    if n not in _compiled:
        _compiled[n] = jax.jit(lambda x: x * n)
    return _compiled[n](x)


_shift = None


def shift(x):
    global _shift
    if _shift is None:
        _shift = jax.jit(lambda x: x + 1.0)
    return _shift(x)


def make(rate):
    step = jax.jit(lambda x: x * rate)  # expect: jit-per-call

    def run(x):
        return step(x)

    return run


def loops(x, agent, steps):
    run = make(0.5)
    for n in range(steps):
        x = stable(power(n)(x)) + warmed_up(n)
        x = shift(looked_up(x, n))
        x = make(0.1)(run(x)) + Agent(1.0).act_compiled(x)
        x = x + Agent(1.0).act_lazily(x)
    return x


class Model:
    def __init__(self, size):
        self.size = size

    def init(self, key):
        return jax.random.normal(key, (self.size,))


def fit(model, key, steps):
    w = jax.jit(model.init)(key)
    for _ in range(steps):
        w = stable(w)
    return w


def make_train(rate):
    def train(w):
        return w * rate

    return train


def experiment(rate):
    return jax.jit(make_train(rate))(jnp.ones(2))


def timed(function, x):
    compiled = jax.jit(function)
    for _ in range(10):
        compiled(x)


def experiments(rates, seeds):
    for seed in seeds:
        fit(Model(3), jax.random.key(seed), 3)
        timed(lambda x: x * seed, jnp.ones(2))
    return [experiment(rate) for rate in rates]


def main():
    x = once(jnp.ones(2))
    total = jax.jit(lambda x: jnp.sum(x))
    for _ in range(3):
        x = x * total(x)
    return x


# runs: loops(jnp.ones(2), None, 2)
# runs: main()
# runs: experiments([0.1], [1, 2])


def compiled_for_each(x):
    return jax.jit(lambda v: jnp.sin(v) + jnp.sum(v))(x)  # expect: jit-per-call


def mapped_over(rows):
    return list(map(compiled_for_each, rows))


def compiled_in_a_thread(x):
    return jax.jit(lambda v: jnp.cos(v) + jnp.sum(v))(x)  # expect: jit-per-call


def mapped_in_threads(rows):
    with ThreadPoolExecutor() as pool:
        return list(pool.map(compiled_in_a_thread, rows))


def traced_once(rows):
    return jax.tree.map(lambda v: v + 1, rows)


def factory():
    def predict(x):
        return x * 2 + 1

    return jax.jit(predict)  # expect: jit-per-call


def from_a_factory(x):
    predict = factory()
    return predict(x)


def many_times():
    for _ in range(4):
        from_a_factory(jnp.ones(3))
        from_a_factory(jnp.ones(3))


# runs: many_times()


# --- never flagged -------------------------------------------------------------


def factory_of_one():
    def predict(x):
        return x * 3 + 1

    return jax.jit(predict)


def kept_by_the_caller(xs):
    predict = factory_of_one()
    for x in xs:
        x = predict(x)


# runs: kept_by_the_caller(jnp.ones((3, 3)))


many_times()
kept_by_the_caller(jnp.ones((3, 3)))
