import jax
import jax.numpy as jnp


def hinge(w):
    if w > 0:  # info: traced-branch
        return w
    return max(w, -1.0)  # info: builtin-on-tracer


def crop(image, key):
    top = jax.random.randint(key, (), 0, 4)
    return image[top : top + 8]  # info: traced-slice


def fill(found, values):
    for i in range(len(values)):
        found.at[i].set(values[i])  # warning: discarded-update


def ridge(w, x, y):
    return jnp.mean((x @ w - y) ** 2) + jnp.linalg.norm(w) ** 2  # info: root-at-zero


def integrate(plant, steps):
    errors = []
    total = 0.0
    for _ in range(steps):
        errors.append(jnp.tanh(plant + total))
        total = sum(errors)  # info: growing-array-in-loop
    return total


slope = jax.grad(hinge)(1.0)
crop(jnp.ones((16, 3)), jax.random.key(0))
integrate(jnp.ones(()), 300)
jax.grad(ridge)(jnp.ones(3), jnp.ones((5, 3)), jnp.ones(5))
