"""Derivatives by arguments that the result does not depend on smoothly."""

import functools

import jax
import jax.numpy as jnp


def unused(w, x):
    return jnp.sum(x**2)


def accuracy(w, x, y):
    logits = x @ w
    predicted = jnp.argmax(logits, axis=-1)
    return jnp.mean((predicted == y).astype(jnp.float32))


def rounded(w, x):
    w = jnp.round(w)
    return jnp.sum(w * x)


def stopped(w, x):
    w = jax.lax.stop_gradient(w)
    return jnp.sum(w * x)


def predict(w, x):
    return x @ w > 0


def through_helper(w, x):
    return predict(w, x).mean()


def cast(w, x):
    return jnp.sum(x[w.astype(int)])


def chosen(w, x):
    return jnp.where(w > 0, x, -x).sum()


def sampled(w, x, key):
    action = jax.random.categorical(key, w)
    return x[action]


def in_loop(w, x):
    total = 0.0
    for i in range(3):
        total = total + jnp.sign(w[i]) * x
    return total


def one_hot(w, x):
    return jax.nn.one_hot(jnp.argmax(w), 3) @ x


def with_aux(w, x):
    return jnp.sum(x), w


def flagged(w, x, y, key):
    a = jax.grad(unused)(w, x)  # expect: zero-gradient-argument
    b = jax.value_and_grad(accuracy)(w, x, y)  # expect: zero-gradient-argument
    c = jax.grad(rounded)(w, x)  # expect: zero-gradient-argument
    d = jax.jit(jax.grad(stopped))(w, x)  # expect: zero-gradient-argument
    e = jax.grad(jax.jit(through_helper))(w, x)  # expect: zero-gradient-argument
    f = jax.grad(cast)(w, x)  # expect: zero-gradient-argument
    g = jax.grad(chosen)(w, x)  # expect: zero-gradient-argument
    h = jax.grad(sampled)(w, x, key)  # expect: zero-gradient-argument
    i = jax.grad(in_loop)(w, 1.0)  # expect: zero-gradient-argument
    j = jax.grad(lambda p: accuracy(p, x, y))(w)  # expect: zero-gradient-argument
    k = jax.jacrev(one_hot)(w, x)  # expect: zero-gradient-argument
    m = jax.grad(with_aux, has_aux=True)(w, x)  # expect: zero-gradient-argument
    n = jax.grad(unused, argnums=(0,))(w, x)  # expect: zero-gradient-argument
    return a, b, c, d, e, f, g, h, i, j, k, m, n


class Linear:
    def __init__(self):
        self.w = jnp.ones(3)

    def loss(self, w, x):
        return jnp.sum(x @ self.w)

    def train(self, x):
        def objective(params):
            return self.loss(self.w, x)

        by_method = jax.grad(self.loss)(self.w, x)  # expect: zero-gradient-argument
        return by_method, jax.grad(objective)(self.w)  # expect: zero-gradient-argument


# runs: Linear().train(jnp.ones((2, 3)))
# runs: flagged(jnp.ones((3, 3)), jnp.ones((3, 3)), jnp.zeros(3)) if False else None


# --- never flagged -------------------------------------------------------------


def straight_through(w, x):
    return jnp.sum((w + jax.lax.stop_gradient(jnp.round(w) - w)) * x)


def frozen_leaf(params, x):
    return jnp.sum(jax.lax.stop_gradient(params["a"]) * x * params["b"])


def gathered(w, x):
    return w[jnp.argmax(w)] * x.sum()


def policy_gradient(w, x, key):
    action = jax.random.categorical(key, w)
    return -jax.nn.log_softmax(w)[action] * x.sum()


def piecewise(w, x):
    if w.sum() > 0:
        return jnp.sum(w * x)
    return jnp.sum(x)


def by_list(w, x):
    parts = []
    parts.append(w * 2)
    return sum(parts).sum() * x.sum()


def by_dict(w, x):
    held = {}
    held["w"] = w
    return held["w"].sum() * x.sum()


def by_closure(w, x):
    def inner():
        return w * 2

    return inner().sum() + x.sum()


def by_unknown(f, w, x):
    return jax.grad(lambda p: f(p, x))(w)


def by_argument(w, x, f):
    return f(w).sum() + x.sum()


def by_scan(w, x):
    return jax.lax.scan(lambda c, _: (c * w, None), 1.0, length=3)[0].sum()


def clipped(w, x):
    return jnp.clip(w, -1, 1).sum() * x.sum()


@jax.custom_vjp
def custom(w):
    return jnp.round(w)


custom.defvjp(lambda w: (jnp.round(w), None), lambda _, g: (g,))


def by_custom_rule(w, x):
    return jnp.sum(custom(w) * x)


def constant(w):
    return 0.0


def swapped(w, x):
    w, x = x, w
    return x.sum()


def by_keyword(x, *, scale):
    return jnp.sum(x * scale)


def sorted_gap(w, x):
    return (jnp.sort(w) * x).sum()


class Box:
    def set(self, w):
        self.w = w


def by_object(w, x):
    box = Box()
    box.set(w)
    return jnp.sum(box.w * x)


class Loop:
    """A controller keeps what it computes from its parameters, and gives it back later."""

    def __init__(self, controller):
        self.controller = controller

    def cost(self, w, x):
        out = x
        for _ in range(2):
            out = self.controller.update(w, out)
        return jnp.sum(self.controller.history())

    def slope(self, w, x):
        return jax.grad(self.cost)(w, x)


def starred(*args):
    return jnp.sum(args[0])


def walrus(w, x):
    return jnp.sum((y := w * 2) * 0 + x) + y.sum()


def silent(w, x, key):
    found = [jax.grad(f)(w, x) for f in (straight_through, gathered, by_list, by_dict)]
    found += [jax.grad(by_closure)(w, x), jax.grad(by_custom_rule)(w, x), jax.grad(piecewise)(w, x)]
    found += [jax.grad(policy_gradient)(w, x, key), jax.grad(clipped)(w, x), jax.grad(constant)(1.0)]
    found += [jax.grad(swapped)(w, x), jax.grad(sorted_gap)(w, x), jax.grad(starred)(w), jax.grad(walrus)(w, x)]
    found += [jax.grad(by_object)(w, x), jax.grad(by_argument)(w, x, jnp.sin), jax.grad(by_scan)(1.0, x)]
    found += [jax.grad(functools.partial(by_keyword, scale=2.0))(w), by_unknown(lambda p, x: p.sum(), w, x)]
    return found, jax.grad(frozen_leaf)({"a": w, "b": w}, x)


# runs: silent(jnp.ones(3), jnp.ones(3), jax.random.key(0))
