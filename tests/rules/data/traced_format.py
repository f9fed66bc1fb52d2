"""Format specs on traced values."""

import jax
import jax.numpy as jnp


@jax.jit
def f_string(x):
    return len(f"{jnp.sum(x):.3f}")  # expect: traced-format


# raises TypeError: f_string(jnp.ones(2))


@jax.jit
def padded(x):
    return len(f"{jnp.sum(x):>10}")  # expect: traced-format


# raises TypeError: padded(jnp.ones(2))


@jax.jit
def percent_float(x):
    return len("%.2f" % jnp.sum(x))  # expect: traced-format


# raises ConcretizationTypeError: percent_float(jnp.ones(2))


@jax.jit
def percent_int(x):
    return len("%s: %d" % ("best", jnp.argmax(x)))  # expect: traced-format


# raises TypeError: percent_int(jnp.ones(2))


@jax.jit
def format_method(x):
    return len("{:.2f}".format(jnp.sum(x)))  # expect: traced-format


# raises TypeError: format_method(jnp.ones(2))


@jax.jit
def format_keyword(x):
    return len("{a} {total:.2f}".format(a=1, total=jnp.sum(x)))  # expect: traced-format


# raises TypeError: format_keyword(jnp.ones(2))


@jax.jit
def format_builtin(x):
    return len(format(jnp.sum(x), ".2f"))  # expect: traced-format


# raises TypeError: format_builtin(jnp.ones(2))


def differentiated(x):
    return x * len(f"{x:.1f}")  # expect: traced-format


slope = jax.grad(differentiated)
# raises TypeError: slope(1.0)


# --- never flagged -------------------------------------------------------------


@jax.jit
def harmless(x):
    text = f"{x.shape} {x.ndim:03d} {x!r:>40} {x!s:>40} {x} {x:}"
    text += "%s %r %5s" % (x, x, x)
    text += "{} {!r:>9} {0.shape}".format(x, x) if False else "{0.shape}".format(x)
    text += "%d %.2f" % (x.size, 1.5) + format(x.shape[0], "04d")
    return x * len(text)


# runs: harmless(jnp.ones(2))


@jax.jit
def debugged(x):
    jax.debug.print("sum {s:.3f}", s=jnp.sum(x))
    return x


# runs: debugged(jnp.ones(2))


def eager(x):
    total = jnp.sum(x)
    return f"{total:.3f}", "%.2f" % total, "{:.2f}".format(total), format(total, ".1f")


# runs: eager(jnp.ones(2))
