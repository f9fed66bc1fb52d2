import jax
import jax.numpy as jnp


def loss(params, x):
    return jnp.mean((jnp.tanh(x @ params["w"]) @ params["v"]) ** 2)


gradient = jax.jit(jax.grad(loss))


def adam(params, grads, m, v, t):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g**2, v, grads)
    step = jax.tree.map(lambda m, v: m / (1 - 0.9**t) / (jnp.sqrt(v) + 1e-8), m, v)
    return jax.tree.map(lambda p, s: p - 1e-3 * s, params, step), m, v


def fit(params, batches, n):
    m = v = jax.tree.map(jnp.zeros_like, params)
    for t in range(1, n):
        grads = gradient(params, batches[t])
        params, m, v = adam(params, grads, m, v, t)  # info: eager-step
    return params


def descend(params, batches, n):
    for t in range(1, n):
        grads = gradient(params, batches[t])
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params


def sample(logits, n):
    words = []
    for _ in range(n):
        top, _ = jax.lax.top_k(logits / 0.7, 3)  # info: eager-step
        logits = jnp.where(logits < top[:, -1:], -1e9, logits) * 0.5 + jnp.tanh(logits)
        words.append(int(jnp.argmax(logits[0])))
    return words


if __name__ == "__main__":
    start = {"w": jnp.ones((8, 16)), "v": jnp.ones((16, 1))}
    fit(start, jnp.ones((200, 4, 8)), 200)  # warning: lost-training-result
    descend(start, jnp.ones((200, 4, 8)), 200)  # warning: lost-training-result
    sample(jnp.ones((1, 64)), 200)
