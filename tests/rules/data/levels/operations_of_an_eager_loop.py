import jax
import jax.numpy as jnp


def diffuse(u, n):
    for _ in range(n):
        lap = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u  # info: eager-step
        u = u + 0.1 * lap
    return u


def relax(u, n):
    for _ in range(n):
        lap = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u
        u = u + 0.1 * lap
    return u


def main(n):
    u = diffuse(jnp.ones((64, 64)), n)
    for _ in range(5):
        u = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u + 0.1 * u
    step = jax.jit(relax, static_argnums=1)
    for _ in range(n):
        u = jnp.roll(step(u, 3), 1, 0) + jnp.roll(u, -1, 0) - 2 * u + 0.1 * u  # info: eager-step
    return u


if __name__ == "__main__":
    main(1000)
