from functools import partial

import jax
import jax.numpy as jnp


def label(i, n, rate):
    return f"layer_{i:02d}_of_{n:02d}_{rate:.1f}"


@partial(jax.jit, static_argnames=("rate",))
def encode(params, x, rate=0.1, gain=2.0):
    for i, w in enumerate(params):
        with jax.named_scope(label(i, len(params), rate)):
            x = jnp.tanh(x @ w) * gain
    if x.ndim != 2:
        raise ValueError("bad %d-d input %s, %r" % (x.ndim, x.shape, x.dtype))
    jax.debug.print("out {:.3f} | {m:>8.2e}", x.sum(), m=x.max())
    jax.debug.callback(lambda v: print(f"host {v:.2f}"), x.mean())
    return x, f"{x.shape[0]:>4d}x{x.shape[1]:<4d}".count("x")


def report(params, x):
    out, _ = encode(params, x)
    mean = out.mean()
    return f"{mean:.3f} {float(out.max()):.2f}" + "%.1f" % mean


def schedule(x, n):
    return jnp.sin(x) * len(f"{n:04d}")


rate_grad = jax.grad(schedule)
