"""The same ways to stage a function, without defects."""

import functools
from functools import partial
from typing import Any, Callable, Sequence

import equinox as eqx
import flax.linen as nn
import flax.struct
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
from flax.training import train_state
from jax import lax
from jax.sharding import Mesh, PartitionSpec


class MLP(nn.Module):
    features: Sequence[int]
    activation: Callable = nn.relu
    use_norm: bool = False

    @nn.compact
    def __call__(self, x, train: bool = True):
        for i, width in enumerate(self.features):
            x = nn.Dense(width, name=f"layer_{i:02d}")(x)
            if i + 1 < len(self.features):
                x = self.activation(x)
                if self.use_norm and train:
                    x = nn.LayerNorm()(x)
        return x


class State(train_state.TrainState):
    average: Any = None
    decay: float = flax.struct.field(pytree_node=False, default=0.9)


@partial(jax.jit, static_argnames=("weight_decay",))
def train_step(state: State, batch, weight_decay=0.0):
    def loss_fn(params):
        prediction = state.apply_fn({"params": params}, batch["x"], train=True)
        loss = jnp.mean((prediction - batch["y"]) ** 2)
        if weight_decay:
            loss = loss + weight_decay * sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
        return loss, {"loss": loss}

    (loss, metrics), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    if state.average is not None and state.decay > 0:
        average = jax.tree.map(lambda a, p: state.decay * a + (1 - state.decay) * p, state.average, state.params)
        state = state.replace(average=average)
    return state, metrics


def make_state(key):
    import optax

    model = MLP((4, 1))
    params = model.init(key, jnp.ones((1, 2)))["params"]
    return State.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3), average=params)


BATCH = {"x": jnp.ones((3, 2)), "y": jnp.ones((3, 1))}
# runs: train_step(make_state(jax.random.key(0)), BATCH, weight_decay=0.1)


class Attention(eqx.Module):
    query: jax.Array
    heads: int = eqx.field(static=True)
    dropout: float = eqx.field(static=True)
    activation: Callable

    def __init__(self, size, heads, *, dropout=0.0, key):
        if size % heads:
            raise ValueError(f"{size} % {heads:d}")
        self.query = jax.random.normal(key, (heads, size // heads, size))
        self.heads = heads
        self.dropout = dropout
        self.activation = jnp.tanh

    def __call__(self, x, *, key=None, mask=None):
        if x.ndim != 2:
            raise ValueError(f"two axes, not {x.ndim}")
        q = jnp.einsum("hds,ns->hnd", self.query, x)
        if mask is not None:
            q = q * mask
        if self.dropout > 0 and key is not None:
            q = q * jax.random.bernoulli(key, 1 - self.dropout, q.shape)
        return self.activation(q.reshape(self.heads, -1)) if self.heads > 1 else q[0]


@eqx.filter_jit
def attend(module, x, key, scale=2, name="a"):
    if name == "a" and scale > 1:
        x = x * scale
    return module(x, key=key)


# runs: attend(Attention(4, 2, key=jax.random.key(0)), jnp.ones((3, 4)), jax.random.key(1))


@eqx.filter_jit
def batched(module, xs):
    return jax.vmap(module)(xs), jax.vmap(lambda x: module(x))(xs)


# runs: batched(Attention(4, 2, key=jax.random.key(0)), jnp.ones((5, 3, 4)))


def network(x, is_training):
    x = hk.Linear(3)(x)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.5, x)
    return hk.BatchNorm(True, True, 0.9)(x, is_training)


transformed = hk.transform_with_state(network)


@functools.partial(jax.jit, static_argnums=(4,))
def haiku_apply(params, state, key, x, is_training):
    return transformed.apply(params, state, key, x, is_training)


def haiku_run(x):
    params, state = transformed.init(jax.random.PRNGKey(0), x, True)
    return haiku_apply(params, state, jax.random.PRNGKey(1), x, False)


# runs: haiku_run(jnp.ones((2, 3)))


def ppo(config):
    config["updates"] = config["steps"] // config["batch"]
    assert config["updates"] > 0

    def schedule(count):
        fraction = 1.0 - count / config["updates"]
        return config["lr"] * fraction

    def train(key):
        key, sub = jax.random.split(key)
        w = jax.random.normal(sub, (3,))

        def update(runner, _):
            w, key, count = runner

            def step(carry, _):
                x, key = carry
                key, action_key = jax.random.split(key)
                x = x + jax.random.normal(action_key, x.shape)
                return (x, key), x

            (_, key), xs = lax.scan(step, (jnp.zeros(3), key), None, config["batch"])
            if config.get("anneal"):
                w = w - schedule(count) * xs.mean(0)
            else:
                w = w - config["lr"] * xs.mean(0)
            if config.get("debug"):
                jax.debug.callback(lambda v: print(f"{v.mean():.3f}"), xs)
            return (w, key, count + 1), xs.mean()

        return lax.scan(update, (w, key, 0), None, config["updates"])

    return train


# runs: jax.jit(jax.vmap(ppo({"steps": 8, "batch": 2, "lr": 0.1, "anneal": True})))(jax.random.split(jax.random.key(0), 2))


def sharded(x, axes=None):
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))

    def local(v):
        if axes is not None:
            v = lax.pmean(v, axes)
        n = lax.axis_size("i") if hasattr(lax, "axis_size") else 1
        return v * n if v.shape[0] > 1 else v

    return jax.shard_map(local, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i"))(x)


# runs: sharded(jnp.ones(2))


@jax.jit
def ragged(sequences, lengths=(2, 3)):
    out = []
    for sequence, n in zip(sequences, (2, 3)):
        out.append(sequence[:n].sum())
    return out, {k: v for k, v in zip("ab", sequences)}


# runs: ragged((jnp.ones(4), jnp.ones(4)))


@jax.jit
def fft_convolve(x, kernel):
    n = x.shape[-1] + kernel.shape[-1] - 1
    size = 1 << (n - 1).bit_length()
    full = jnp.fft.irfft(jnp.fft.rfft(x, size) * jnp.fft.rfft(kernel, size), size)[..., :n]
    start = (kernel.shape[-1] - 1) // 2
    return full[..., start : start + x.shape[-1]]


# runs: fft_convolve(jnp.ones(4), jnp.ones(3))


@jax.jit
def blocks(a):
    n = a.shape[0]
    half = n // 2
    while half > 1 and n % half:
        half -= 1
    top, bottom = jnp.split(a, [half])
    for i, row in enumerate((top, bottom)):
        if i == 0 and row.shape[0] == half:
            a = a.at[:half].set(row)
    return a, [float(s) for s in a.shape], max(top.shape[0], bottom.shape[0]), np.log2(n), range(half)[0]


# runs: blocks(jnp.ones((4, 2)))


def numerics(f, x, n=3):
    h = 1e-3
    return [(f(x + h * k) - f(x)) / (h * k) for k in range(1, n) if k % 2]


@jax.jit
def derivative(x):
    return sum(numerics(jnp.sin, x))


# runs: derivative(1.0)


class Ring:
    def __init__(self, capacity, shape):
        self.capacity = capacity
        self.data = np.zeros((capacity, *shape), np.float32)
        self.size = 0

    def add(self, item):
        self.data[self.size % self.capacity] = np.asarray(item)
        self.size += 1
        return self.size >= self.capacity

    def sample(self, rng, n):
        return self.data[rng.integers(0, min(self.size, self.capacity), n)]


def collect(step, x, n):
    ring = Ring(4, (2,))
    rng = np.random.default_rng(0)
    for _ in range(n):
        if ring.add(np.ones(2)):
            batch = ring.sample(rng, 2)
            x = step(x, batch)
    return x


# runs: collect(jax.jit(lambda x, b: x + b.sum()), jnp.zeros(()), 6)
