import jax
import jax.numpy as jnp
from flax import nnx


@nnx.jit
def train_step(model: nnx.Module, optimizer: nnx.Optimizer, batch, rng):
    noise = jax.random.normal(rng, batch.shape)

    def loss_fn(model):
        return jnp.mean((model(batch + noise) - noise) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def evaluate(model, batch, rng, logger):
    value = jnp.mean(model(batch + jax.random.normal(rng, batch.shape)))  # info: eager-step
    logger.log(value)
    return value


def train(model, optimizer, loader, epochs, logger):
    rng = jax.random.PRNGKey(42)
    for _ in range(epochs):
        losses = []
        for batch in loader:
            first, second = jax.random.split(rng)  # error: key-reuse-in-loop
            loss = train_step(model, optimizer, jax.random.uniform(first, batch.shape), rng=second)
            losses.append(loss)
        print(jnp.stack(losses).mean())


def watch(model, loader, epochs, logger):
    rng = jax.random.PRNGKey(42)
    for _ in range(epochs):
        values = []
        for batch in loader:
            first, second = jax.random.split(rng)  # info: key-reuse-in-loop
            values.append(evaluate(model, jax.random.uniform(first, batch.shape), second, logger))
        print(jnp.stack(values).mean())
