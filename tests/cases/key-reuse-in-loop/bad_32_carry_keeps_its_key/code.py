import jax
import jax.numpy as jnp


def langevin(potential, step_size):
    force = jax.grad(potential)

    def move(carry, _):
        noise = jax.random.normal(carry["key"], carry["x"].shape)  # expect: key-reuse-in-loop
        x = carry["x"] - step_size * force(carry["x"]) + jnp.sqrt(2 * step_size) * noise
        return {**carry, "x": x, "n": carry["n"] + 1}, x

    return move


def sample(key, x0, steps):
    move = langevin(lambda x: 0.5 * jnp.sum(x**2), 0.01)
    return jax.lax.scan(move, {"x": x0, "key": key, "n": 0}, None, length=steps)
