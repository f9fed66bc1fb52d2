"""Models and optimizers that eager loops run, and others."""

import functools
import sys
from functools import partial

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(8)(x)))


class EqxNet(eqx.Module):
    layers: list

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.layers = [eqx.nn.Linear(3, 8, key=a), eqx.nn.Linear(8, 3, key=b)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class NnxNet(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(3, 8, rngs=rngs)
        self.b = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        return self.b(nnx.relu(self.a(x)))


def eqx_loop(xs):
    net = EqxNet(jax.random.key(0))
    out = []
    for x in xs:
        out.append(net(x))  # expect: eager-step
    return out


def nnx_loop(xs):
    net = NnxNet(nnx.Rngs(0))
    out = []
    for x in xs:
        out.append(net(x))  # expect: eager-step
    return out


class Trainer:
    def __init__(self):
        self.net = Net()
        self.tx = optax.adamw(1e-3)
        self.params = self.net.init(jax.random.key(0), jnp.ones((1, 3)))
        self.opt_state = self.tx.init(self.params)
        self.grad = jax.jit(jax.grad(lambda p, x: self.net.apply(p, x).sum()))

    def act(self, x):
        return self.net.apply(self.params, x).argmax()  # expect: eager-step

    def update(self, x):
        g = self.grad(self.params, x)
        up, self.opt_state = self.tx.update(g, self.opt_state, self.params)  # expect: eager-step
        self.params = optax.apply_updates(self.params, up)

    def run(self, env, n):
        obs = env.reset()
        for _ in range(n):
            obs = env.step(self.act(obs))
        return obs


def train(env):
    t = Trainer()
    while True:
        t.update(env.batch())


def state_loop(data):
    net = Net()
    state = TrainState.create(
        apply_fn=net.apply, params=net.init(jax.random.key(0), jnp.ones((1, 3))), tx=optax.sgd(0.1)
    )
    grad = jax.jit(jax.grad(lambda p, x: net.apply(p, x).sum()))
    for x in data:
        state = state.apply_gradients(grads=grad(state.params, x))  # expect: eager-step
    return state


forward = hk.transform(lambda x: hk.Linear(3)(x))
init, apply = hk.transform(lambda x: hk.Linear(3)(x))


def hk_loop(params, xs):
    for x in xs:
        y = forward.apply(params, None, x)  # expect: eager-step
        print(y)


def hk_unpacked(params, xs):
    for x in xs:
        y = apply(params, None, x)  # expect: eager-step
        print(y)


def make():
    return optax.chain(optax.clip(1.0), optax.adam(1e-3))


def chained(params, data):
    opt = make()
    state = opt.init(params)
    grad = jax.jit(jax.grad(lambda p, x: (p * x).sum()))
    for epoch in range(100):
        for x in data:
            g = grad(params, x)
            g, state = opt.update(g, state)  # expect: eager-step
            params = optax.apply_updates(params, g)
    return params


def step(params, state, opt, g):
    up, state = opt.update(g, state)  # expect: eager-step
    return optax.apply_updates(params, up), state


def through_helper(params, gs):
    opt = optax.adam(1e-3)
    state = opt.init(params)
    for g in gs:
        params, state = step(params, state, opt, g)
    return params


def partial_apply(xs):
    net = Net()
    params = net.init(jax.random.key(0), jnp.ones((1, 3)))
    f = functools.partial(net.apply, params)
    return [f(x) for x in xs]  # missing: eager-step


def evaluate(loader):
    net = Net()
    params = net.init(jax.random.key(0), jnp.ones((1, 3)))
    correct = 0
    for x, y in loader:
        logits = net.apply(params, x)  # expect: eager-step
        correct += (logits.argmax(-1) == y).sum()
    return correct


def nnx_opt(data):
    net = NnxNet(nnx.Rngs(0))
    opt = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)
    grad = nnx.jit(nnx.grad(lambda m, x: m(x).sum()))
    for x in data:
        g = grad(net, x)
        opt.update(net, g)  # expect: eager-step


# --- silent ---


class Deep(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(20):
            x = nn.Dense(3)(x)
        return x


class Layers(eqx.Module):
    layers: list

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


network = Deep()
optimizer = optax.adam(1e-3)


@jax.jit
def jitted_step(params, state, x):
    g = jax.grad(lambda p: network.apply(p, x).sum())(params)
    up, state = optimizer.update(g, state)
    return optax.apply_updates(params, up), state


def fit(params, data):
    state = optimizer.init(params)
    for x in data:
        params, state = jitted_step(params, state, x)
    return params


def unrolled_in_jit(params, state, x):
    for _ in range(50):
        params, state = jitted_step(params, state, x)
    return params


@partial(jax.jit, static_argnums=0)
def many(n, params, x):
    for i in range(n):
        x = network.apply(params, x)
    return x


def three_times(params, x):
    for _ in range(3):
        x = network.apply(params, x)
    return x


def every(params, data):
    for i, x in enumerate(data):
        params, _ = jitted_step(params, None, x)
        if i % 100 == 0:
            print(network.apply(params, x).mean())
    return params


def init_only(keys):
    return [network.init(k, jnp.ones((1, 3))) for k in keys]


def init_loop(keys):
    out = []
    for k in keys:
        out.append(network.init(k, jnp.ones((1, 3))))
    return out


def shapes(params, xs):
    for x in xs:
        print(jax.eval_shape(network.apply, params, x))


@nnx.jit
def nnx_step(model, opt, x):
    g = nnx.grad(lambda m: m(x).sum())(model)
    opt.update(model, g)


def nnx_fit(data):
    model = nnx.Linear(3, 3, rngs=nnx.Rngs(0))
    opt = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for x in data:
        nnx_step(model, opt, x)
        y = model(x)
    return y


class Agent:
    def __init__(self):
        self.apply = jax.jit(network.apply)
        self.act = eqx.filter_jit(self._act)

    def _act(self, p, x):
        return network.apply(p, x)

    def run(self, p, env):
        x = env.reset()
        while True:
            x = env.step(self.apply(p, x))
            x = env.step(self.act(p, x))


def make_step(opt):
    def inner(params, state, g):
        up, state = opt.update(g, state)
        return optax.apply_updates(params, up), state

    return jax.jit(inner)


def factory(params, gs):
    f = make_step(optimizer)
    state = optimizer.init(params)
    for g in gs:
        params, state = f(params, state, g)
    return params


def lengths(params, x):
    for i in range(1, 100):
        print(network.apply(params, x[:i]))


def scanned(params, xs):
    def body(p, x):
        for _ in range(20):
            x = network.apply(p, x)
        return p, x

    return jax.lax.scan(body, params, xs)


def test_model(params, xs):
    for x in xs:
        assert network.apply(params, x).shape


def disabled(params, xs):
    with jax.disable_jit():
        for x in xs:
            print(network.apply(params, x))


def once(params, xs):
    y = network.apply(params, xs)
    for row in y:
        print(row)


def first_only(params, xs):
    for x in xs:
        y = network.apply(params, x)
        break
    return y


def gradient(params, xs):
    state = optimizer.init(params)
    for x in xs:
        g = jax.grad(lambda p: network.apply(p, x).sum())(params)  # expect: transform-in-loop
        up, state = optimizer.update(g, state)
        params = optax.apply_updates(params, up)
    return params


def update_by_hand(params, gs):
    for g in gs:
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, g)
    return params


def pmapped(params, xs):
    f = jax.pmap(network.apply)  # expect: pmap
    for x in xs:
        y = f(params, x)
    return y


def vmapped(params, xs):
    f = jax.jit(jax.vmap(network.apply, in_axes=(None, 0)))
    for x in xs:
        y = f(params, x)
    return y


def elements(n):
    x = jax.random.normal(jax.random.key(0), (n, 2))
    total, rows, host = 0.0, [], np.asarray(x)
    for i in range(n):
        total += float(x[i, 0]) ** 2  # expect: eager-step
    for i in range(n):
        rows.append(x[i] * 2)  # expect: eager-step
    norms = [jnp.linalg.norm(x[i] - 1.0) for i in range(n)]  # expect: eager-step
    for i in range(n):
        total += float(host[i, 0]) ** 2
    for i in range(n):
        np.save(f"{i}.npy", x[i] * 2)
    for i in range(3):
        rows.append(x[i] * 2)
    keys = jax.random.split(jax.random.key(1), n)
    draws = [jax.random.normal(keys[i]) for i in range(n)]
    doubled = [double(x[i]) for i in range(n)]
    return total, rows, norms, draws, doubled


double = jax.jit(lambda row: row * 2)


def epochs():
    params, state = jnp.ones(3), optimizer.init(jnp.ones(3))
    for _ in range(20):
        for _ in range(30):
            up, state = optimizer.update(params, state)  # expect: eager-step
            params = optax.apply_updates(params, up)
    for _ in range(30):
        up, state = optimizer.update(params, state)  # expect: eager-step
        params = optax.apply_updates(params, up)
    for _ in range(10):
        up, state = optimizer.update(params, state)
        params = optax.apply_updates(params, up)
    return params


# --- operations beside a jitted step ---


@jax.jit
def denoise(w, x, noise):
    return w - 0.1 * jnp.mean(x - noise)


def noised(x, noise, t):
    scale = jnp.sqrt(1.0 - t)
    return jnp.sqrt(t) * x + scale * noise


def beside(w, key, batches):
    for x in batches:
        key, a, b = jax.random.split(key, 3)
        noise = jax.random.normal(a, x.shape)
        y = noised(jnp.asarray(x), noise, jax.random.uniform(b))  # expect: eager-step
        w = denoise(w, y, noise)
    return w


def few_beside(w, key, batches):
    for x in batches:
        key, a = jax.random.split(key)
        noise = jax.random.normal(a, x.shape)
        w = denoise(w, jnp.asarray(x) + noise, noise)
    return w


def beside_now_and_then(w, key, batches):
    for i, x in enumerate(batches):
        key, a, b = jax.random.split(key, 3)
        if i % 100 == 0:
            noise = jax.random.normal(a, x.shape)
            print(noised(jnp.asarray(x), noise, jax.random.uniform(b)))
        w = denoise(w, x, x)
    return w


def without_a_state(w, key, batches):
    out = []
    for i, x in enumerate(batches):
        noise = jax.random.normal(jax.random.fold_in(key, i), x.shape)
        y = noised(jnp.asarray(x), noise, jnp.mean(x))  # expect: eager-step
        out.append(denoise(w, y, jnp.tanh(noise) + 1.0))
    return out


def beside_in_the_test(w, x):
    while jnp.max(jnp.abs(jnp.sin(jnp.tanh(jnp.cos(w * x) + 1.0)))) > 1.0:
        w = noised(w, x, w)  # expect: eager-step
        w = denoise(w, x, w)
    return w


# --- rows of an array in a list ---


def collected_rows(key, n):
    rows, host = [], []
    for k in jax.random.split(key, n):
        samples = jax.random.normal(k, (n, 2))
        rows.extend(samples)  # expect: eager-step
        rows.extend(jnp.zeros((2, 2)))
        host.extend(np.asarray(samples))
        host.extend([samples, samples])
    rows.extend(samples)
    return rows, host


# --- who reads a result on the host is not staged, whoever calls ---


class Solver:
    def start(self):
        return optimizer.init(jnp.ones(3))


class Descent(Solver):
    def solve(self, params, steps):
        state, history = self.start(), []
        for _ in range(steps):
            up, state = optimizer.update(params, state)  # expect: eager-step
            params = optax.apply_updates(params, up)
            history.append(float(jnp.sum(params)))
        return params, history

    def solve_silently(self, params, steps):
        state = self.start()
        for _ in range(steps):
            up, state = optimizer.update(params, state)
            params = optax.apply_updates(params, up)
        return params


# --- models below vmap ---


def mapped_model(params, xs):
    net, head = Net(), EqxNet(jax.random.key(0))

    def values(params, x):
        return jax.vmap(lambda row: net.apply(params, row))(x)  # expect: eager-step

    for x in xs:
        values(params, x)
    for x in xs:
        jax.vmap(head)(x)  # expect: eager-step


def mapped_model_once(loader):
    head = EqxNet(jax.random.key(0))
    for _, x in zip(range(1), loader):
        head = jax.tree.map(jnp.tanh, head)
        print(jax.vmap(head)(x))


def mapped_model_in_compiled_code(params, xs):
    net = Net()

    @jax.jit
    def values(x):
        return jax.vmap(lambda row: net.apply(params, row))(x)

    return [values(x) for x in xs]


class Agent:
    def __init__(self, params, loss):
        self.optimizer = optax.adam(1e-3)
        self.params = optax.apply_updates(params, params)
        self.opt_state = self.optimizer.init(params)
        self.loss = loss

    def learn(self, x):
        loss, grads = jax.value_and_grad(self.loss)(self.params, x)
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)  # expect: eager-step
        return loss

    def improve(self, x):
        grads = jax.grad(self.loss)(self.params, x)
        updates, opt_state = self.optimizer.update(grads, self.opt_state)
        params = optax.apply_updates(self.params, updates)  # expect: eager-step
        self.params, self.opt_state = params, opt_state


class CompiledAgent:
    def __init__(self, params, loss):
        self.optimizer = optax.adam(1e-3)
        self.params = params
        self.opt_state = self.optimizer.init(params)
        self.loss = loss
        self.step = jax.jit(self._step)

    def learn(self, x):
        self.params, self.opt_state = self.step(self.params, self.opt_state, x)

    def _step(self, params, opt_state, x):
        grads = jax.grad(self.loss)(params, x)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    @functools.partial(jax.jit, static_argnums=0)
    def next(self, params, updates):
        return optax.apply_updates(params, updates)


def weighted(params, x):
    return jnp.sum(params * x)


def updated(params, updates):
    return optax.apply_updates(params, updates)


# runs: Agent(jnp.ones(3), weighted).learn(1.0), Agent(jnp.ones(3), weighted).improve(1.0)
# runs: CompiledAgent(jnp.ones(3), weighted).learn(1.0), CompiledAgent(jnp.ones(3), weighted).next(1.0, 1.0), updated(1.0, 1.0)


batches = [np.ones(3)] * len(sys.argv) * 500
beside(1.0, jax.random.key(2), iter(batches))
few_beside(1.0, jax.random.key(2), iter(batches))
beside_now_and_then(1.0, jax.random.key(2), iter(batches))
without_a_state(1.0, jax.random.key(2), iter(batches))
collected_rows(jax.random.key(3), len(sys.argv) * 500)
beside_in_the_test(jnp.ones(3), jnp.ones(3))

elements(len(sys.argv) * 500)
epochs()


class Player:
    def __init__(self, env, q_network):
        self.env, self.q_network = env, q_network

    def choose(self, state):
        return int(jnp.argmax(self.q_network(state)))  # expect: eager-step

    def play(self):
        state, done = self.env.reset(), False
        while not done:
            state, reward, done = self.env.step(self.choose(state))


def accuracy(model: nnx.Module, batches):
    right = 0
    for x, label in batches:
        right += jnp.sum(jnp.argmax(model(x), axis=-1) == label)  # expect: eager-step
    return right
