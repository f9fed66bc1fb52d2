"""Arguments that a library takes for something else: lines that the rule reports, and lines that look alike."""

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

WARMUP = 10


class Block(nn.Module):
    config: dict
    keep_prob: float = 0.9

    @nn.compact
    def __call__(self, x, train):
        x = nn.LayerNorm(self.config["hidden_dim"])(x)  # expect: argument-meaning
        x = nn.RMSNorm(epsilon=8)(x)  # expect: argument-meaning
        x = nn.Dense(8, 4)(x)  # expect: argument-meaning
        x = nn.Dense(4, "last")(x)  # expect: argument-meaning
        x = nn.Dropout(0.1)(x, train)  # expect: argument-meaning
        x = nn.Dropout(0.1, deterministic=train)(x)  # expect: argument-meaning
        x = nn.BatchNorm(train)(x)  # expect: argument-meaning
        x = nn.LayerNorm(1e-6)(x)
        x = nn.LayerNorm(self.config["epsilon"])(x)
        x = nn.Dense(4, True)(x)
        x = nn.Dense(4, self.config["bias"])(x)
        x = nn.Dropout(1 - self.keep_prob)(x, not train)
        return nn.BatchNorm(not train)(x)


# runs: Block({"hidden_dim": 8, "epsilon": 1e-6, "bias": True}).init(jax.random.key(0), jnp.ones((2, 8)), True)


class Tokens(nn.Module):
    config: dict

    @nn.compact
    def __call__(self, x):
        x = nn.Embed(4, 4, dtype="uint8")(x)  # expect: argument-meaning
        x = nn.Embed(4, 4, dtype=self.config["index_dtype"])(x)  # expect: argument-meaning
        x = nn.Embed(4, 4, dtype=self.config["dtype"])(x)
        x = nn.Dense(4, dtype=jnp.bfloat16)(x)
        return nn.Dense(4, dtype=int)(x)  # expect: argument-meaning


# raises ValueError: Tokens({"index_dtype": int, "dtype": int}).init(jax.random.key(0), jnp.arange(4))


def schedules(peak, total, config):
    decay_steps = int(total - WARMUP)
    remaining = max(1, int(total) - int(WARMUP))
    epochs = 10
    return [
        optax.warmup_cosine_decay_schedule(0.0, peak, WARMUP, decay_steps),  # expect: argument-meaning
        optax.warmup_cosine_decay_schedule(0.0, peak, int(WARMUP), int(remaining)),  # expect: argument-meaning
        optax.warmup_cosine_decay_schedule(0.0, peak, WARMUP, int(remaining)),  # expect: argument-meaning
        optax.warmup_cosine_decay_schedule(0.0, peak, epochs * 2, epochs * (total - 2)),
        optax.warmup_cosine_decay_schedule(0.0, peak, epochs * WARMUP, epochs * (total - WARMUP)),  # expect: argument-meaning
        optax.warmup_cosine_decay_schedule(0.0, peak, WARMUP, total),
        optax.warmup_cosine_decay_schedule(0.0, peak, WARMUP, total - 1),
        optax.cosine_decay_schedule(peak, total, config["min_lr"]),  # expect: argument-meaning
        optax.cosine_decay_schedule(peak, total, 1e-6),  # expect: argument-meaning
        optax.cosine_decay_schedule(1.0, total, config["min_lr"]),
        optax.cosine_decay_schedule(peak, total, config["min_lr"] / peak),
        optax.cosine_decay_schedule(peak, total, 0.01),
        optax.cosine_decay_schedule(peak, total, 0.0),
    ]


def joined(peak, total):
    rising = optax.warmup_cosine_decay_schedule(0.0, peak, WARMUP, total - WARMUP)
    return optax.join_schedules([rising, optax.constant_schedule(0.0)], [total - WARMUP])


# runs: joined(1.0, 100)
# runs: schedules(1.0, 100, {"min_lr": 1e-6})


def averages(new, old, config):
    momentum = 0.01
    return [
        optax.incremental_update(new, old, 0.99),  # expect: argument-meaning
        optax.incremental_update(new, old, config.ema_decay),  # expect: argument-meaning
        optax.incremental_update(new, old, momentum),
        optax.incremental_update(new, old, 1.0),
        optax.incremental_update(new, old, config.tau),
        optax.incremental_update(new, old, 1 - config.ema_decay),
    ]


def optimizer(rate, weight_decay):
    return [
        optax.adamw(rate, weight_decay),  # expect: argument-meaning
        optax.sgd(rate, 1e-4),  # expect: argument-meaning
        optax.adam(rate, 0.5),
        optax.sgd(rate, 0.9),
    ]


# runs: optimizer(1e-3, 1e-4)


def merged(model):
    params, static = eqx.partition(model, eqx.is_array)
    whole = eqx.apply_updates(model, params)  # expect: argument-meaning
    return whole, eqx.combine(params, static)


# runs: merged(eqx.nn.Linear(2, 2, key=jax.random.key(0)))


def loss(logits, labels):
    swapped = optax.sigmoid_binary_cross_entropy(labels, logits)  # expect: argument-meaning
    return swapped + optax.sigmoid_binary_cross_entropy(logits, labels)


# runs: loss(jnp.ones(3), jnp.ones(3))


class Crossed(nn.Module):
    dtype: jnp.dtype = jnp.float32
    param_dtype: jnp.dtype = jnp.float32
    bias_init: nn.initializers.Initializer = nn.initializers.zeros
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, dtype=self.dtype, param_dtype=self.dtype)(x)  # expect: argument-meaning
        return nn.Dense(4, kernel_init=self.kernel_init, bias_init=self.bias_init)(x)


class Read(nn.Module):
    dtype: jnp.dtype = jnp.float32
    param_dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, dtype=self.dtype, param_dtype=self.dtype)(x)
        return nn.Dense(4, dtype=self.dtype, param_dtype=self.param_dtype)(x)


class Single(nn.Module):
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, dtype=self.dtype, param_dtype=self.dtype)(x)


class Heir(Read):
    param_dtype: jnp.dtype = jnp.bfloat16

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, param_dtype=self.dtype)(x)


# runs: Crossed().init(jax.random.key(0), jnp.ones((1, 3)))
