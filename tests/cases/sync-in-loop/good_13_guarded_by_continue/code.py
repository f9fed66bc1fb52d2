import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    w = w - 0.1 * (w - x)
    return w, jnp.sum((w - x) ** 2)


def maybe_report(i, loss, every):
    if i % every:
        return
    print(i, float(loss))


def fit(w, xs, every=50):
    for i, x in enumerate(xs):
        w, loss = step(w, x)
        maybe_report(i, loss, every)
        if (i + 1) % every != 0:
            continue
        if loss < 1e-9:
            break
    return w
