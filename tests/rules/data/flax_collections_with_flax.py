"""Batch statistics that a training step drops, and pools that slide by 1."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Dense(8)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(1)(x)


net, critic, other = Net(), Net(), Net()


@jax.jit
def ignored(variables, x):
    def loss_fn(params):
        held = {"params": params, "batch_stats": variables["batch_stats"]}
        out, _ = net.apply(held, x, mutable=["batch_stats"])  # expect: flax-collections
        return jnp.mean(out**2)

    return jax.grad(loss_fn)(variables["params"])


def unread(variables, x):
    def loss_fn(params):
        held = {**variables, "params": params}
        out, updates = Net().apply(held, x, train=True, mutable=("batch_stats",))  # expect: flax-collections
        return jnp.mean(out**2)

    return jax.value_and_grad(loss_fn)(variables["params"])


def first_only(variables, x):
    def loss_fn(params):
        out = Net().apply({**variables, "params": params}, x, mutable=["batch_stats"])[0]  # expect: flax-collections
        return jnp.mean(out**2)

    return jax.grad(loss_fn)(variables["params"])


def later_first_only(variables, x):
    def loss_fn(params):
        both = Net().apply({**variables, "params": params}, x, mutable="batch_stats")  # expect: flax-collections
        return jnp.mean(both[0] ** 2)

    return jax.grad(loss_fn)(variables["params"])


def loss_of(params, variables, x):
    out, _ = Net().apply({**variables, "params": params}, x, mutable=["batch_stats"])  # expect: flax-collections
    return jnp.mean(out**2)


def by_function(variables, x):
    return jax.grad(loss_of)(variables["params"], variables, x)


class Trainer:
    def __init__(self):
        self.model = Net()

    def loss(self, params, variables, x):
        out, _ = self.model.apply({**variables, "params": params}, x, mutable=["batch_stats"])  # expect: flax-collections
        return jnp.mean(out**2)

    def step(self, variables, x):
        return jax.grad(self.loss)(variables["params"], variables, x)


class Images(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(x, window_shape=(2, 2))  # expect: flax-collections
        x = nn.avg_pool(x, (2, 2), padding="VALID")  # expect: flax-collections
        window = (3, 3)
        x = nn.max_pool(x, window)  # expect: flax-collections
        return nnx.avg_pool(x, (2, 1), strides=None)  # expect: flax-collections


# runs: Images().apply({}, jnp.ones((1, 12, 12, 3)))
# runs: by_function(Net().init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)))
# runs: Trainer().step(Net().init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)))


# --- never flagged -------------------------------------------------------------


def kept(variables, x):
    def loss_fn(params):
        out, updates = other.apply({**variables, "params": params}, x, mutable=["batch_stats"])
        return jnp.mean(out**2), updates

    grads, updates = jax.grad(loss_fn, has_aux=True)(variables["params"])
    return grads, {**variables, **updates}


def whole_pair(variables, x):
    def loss_fn(params):
        both = other.apply({**variables, "params": params}, x, mutable=["batch_stats"])
        return jnp.mean(both[0] ** 2), both[1]

    return jax.grad(loss_fn, has_aux=True)(variables["params"])


def generator_step(variables, x):
    def loss_fn(fake):
        out, _ = critic.apply(variables, fake, mutable=["batch_stats"])
        return jnp.mean(out)

    return jax.grad(loss_fn)(x)


def critic_step(variables, x):
    def loss_fn(params):
        out, updates = critic.apply({**variables, "params": params}, x, mutable=["batch_stats"])
        return jnp.mean(out), updates

    return jax.grad(loss_fn, has_aux=True)(variables["params"])


def evaluate(variables, x):
    out, _ = net.apply(variables, x, mutable=["batch_stats"])
    return jnp.mean(out**2)


def frozen(variables, x):
    def loss_fn(params):
        out, _ = Net().apply({**variables, "params": params}, x, train=False, mutable=["batch_stats"])
        return jnp.mean(out**2)

    return jax.grad(loss_fn)(variables["params"])


def looked_at(variables, x):
    def loss_fn(params):
        out, _ = Net().apply({**variables, "params": params}, x, train=False, mutable=["intermediates"])
        return jnp.mean(out**2)

    return jax.grad(loss_fn)(variables["params"])


def by_state(state: train_state.TrainState, x):
    def loss_fn(params):
        out, updates = state.apply_fn({"params": params}, x, mutable=["batch_stats"])
        return jnp.mean(out**2), updates["batch_stats"]

    return jax.grad(loss_fn, has_aux=True)(state.params)


pool = functools.partial(nn.max_pool, strides=(2, 2))


class Pools(nn.Module):
    size: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.avg_pool(x, (2, 2), strides=(1, 1))
        x = nn.avg_pool(x, (3, 3), padding="SAME")
        x = nn.max_pool(x, (1, 1))
        x = pool(x, (2, 2))
        x = nn.max_pool(x, (self.size, self.size))
        x = nn.max_pool(x, (3, 3), padding=((1, 1), (1, 1)))
        return nn.avg_pool(x, x.shape[1:3])


class Last(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.avg_pool(x, (8, 8)).reshape(x.shape[0], -1)


# runs: Pools().apply({}, jnp.ones((1, 32, 32, 3))), Last().apply({}, jnp.ones((1, 8, 8, 3)))
# runs: kept(Net().init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)))


def keys_among_the_variables(params, x, key):
    plain = Net().apply({"params": params}, x, rngs={"dropout": key})
    variables = {"params": params}
    variables["rngs"] = {"dropout": key}
    return plain, Net().apply(variables, x)  # expect: flax-collections


# --- momentum ----------------------------------------------------------------------


class Ported(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.1)
        x = norm()(x)  # expect: flax-collections
        x = nn.BatchNorm(not train, -1, 0.1)(x)  # expect: flax-collections
        x = nn.BatchNorm(not train, momentum=0.9)(x)
        return nn.BatchNorm(not train)(x)


# runs: Ported().init(jax.random.key(0), jnp.ones((2, 3)), True)


class Evaluated(nn.Module):
    also: bool = False

    @nn.compact
    def __call__(self, x, train=False):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
        return nn.BatchNorm(use_running_average=False)(x) if self.also else x


def never_trained(variables, x):
    def loss_fn(params):
        held = {**variables, "params": params}
        out, updates = Evaluated().apply(held, x, mutable=["batch_stats"])  # expect: flax-collections
        return jnp.mean(out**2), updates

    return jax.grad(loss_fn, has_aux=True)(variables["params"])


def trained(variables, x):
    def loss_fn(params):
        out, updates = Evaluated().apply({**variables, "params": params}, x, True, mutable=["batch_stats"])
        return jnp.mean(out**2), updates

    return jax.grad(loss_fn, has_aux=True)(variables["params"])


def trained_in_part(variables, x):
    def loss_fn(params):
        out, updates = Evaluated(also=True).apply({**variables, "params": params}, x, mutable=["batch_stats"])
        return jnp.mean(out**2), updates

    return jax.grad(loss_fn, has_aux=True)(variables["params"])


# runs: never_trained(Evaluated().init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)))
# runs: trained(Evaluated().init(jax.random.key(0), jnp.ones((2, 3))), jnp.ones((2, 3)))
