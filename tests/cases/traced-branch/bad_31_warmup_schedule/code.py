import jax
import jax.numpy as jnp
import optax


def warmup(peak, steps):
    def schedule(count):
        if count < steps:  # expect: traced-branch
            return peak * count / steps
        return peak

    return schedule


def make_optimizer(cfg):
    return optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(warmup(cfg["lr"], cfg["warmup"])))


def make_step(tx):
    @jax.jit
    def step(params, state, x):
        grads = jax.grad(lambda p: jnp.sum((p * x) ** 2))(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    return step


def main():
    tx = make_optimizer({"lr": 0.1, "warmup": 5})
    params = jnp.ones(2)
    return make_step(tx)(params, tx.init(params), jnp.ones(2))
