"""Bodies of ``target(x)`` in which a rule with safe fixes has a finding where ``x`` is traced: options, dtypes and braces
that fixes stumbled over, and the plain forms."""

from __future__ import annotations

from fixers.contexts import Site

_NUMPY = """
np.sum(x)
np.mean(x, axis=0)
np.exp(x)
np.where(x > 0, x, 0)
np.clip(x, 0, 1)
np.power(x, -1)
np.dot(x, x.T)
np.maximum(x, 0.0)
np.concatenate([x, x])
np.stack([x, x], axis=-1)
np.argmax(x)
np.linalg.norm(x)
np.sort(x)
np.array(x)
np.asarray(x, dtype=np.float32)
np.zeros_like(x)
np.full_like(x, 2)
np.floor_divide(x, 2)
np.round(x, 1)
np.nan_to_num(x)
np.tile(x, 2)
np.reshape(x, -1)
np.einsum('...i,...i->...', x, x)
np.outer(x, x)
np.var(x, ddof=1)
np.prod(x)
np.interp(x, [0.0, 1.0], [1.0, 2.0])
np.take(x, 0)
np.append(x, 1.0)
np.sum(x, dtype=np.float64)
np.median(x, overwrite_input=True)
np.average(x)
np.histogram(x)[0]
np.copy(x)
np.square(x) + np.pi
np.hstack([x, x])
np.ravel(x, order='F')
np.bitwise_and(x, 1)
np.trapezoid(x)
np.percentile(x, 50)
np.allclose(x, x)
"""
_ITEM_ASSIGNMENT = (
    "y = jnp.zeros(x.shape)\ny[0] = 1.0  # the first\nreturn y + x",
    "y = jnp.zeros(4)\ny[1:] += 2\nreturn y * jnp.sum(x)",
    "y = jnp.array(x)\ny[0] *= 2\nreturn y",
    "x[0] += 1.5\nreturn x",
    "y = jnp.zeros((2, 3))\nfor i in range(2):\n    y[i] = i\nreturn y + jnp.sum(x)",
    "y = jnp.zeros((2, 3))\nrow = y[0]\nrow[1] = 5.0\nreturn y + jnp.sum(x)",
    "y = jnp.ones(3)\nat = jnp.array([0, 0, 1])\ny[at] *= 0.5\nreturn y + jnp.sum(x)",
    "y = jnp.zeros(3, int)\ny[0] = 1.7\nreturn y + jnp.sum(x)",
    "y = x + 1\ny[0] -= y[1]\nreturn y",
    "y = z = x * 1\ny[0] = 9\nreturn y + z",
)
_PRINT = (
    "print(x)\nreturn x",
    "print('x', x)\nreturn x * 2",
    "print(f'x = {x}')  # every step\nreturn x",
    "print(f'{{x}} = {x}')\nreturn x",
    "print(f'{x} in {{braces}}')\nreturn x",
    "print('sum: %s' % jnp.sum(x))\nreturn x",
    "print('%12s' % x)\nreturn x",
    'print(\'{"v": "%s"}\' % x)\nreturn x',
    "print('{} {{}}'.format(x))\nreturn x",
    "print('{{}} {}'.format(x))\nreturn x",
    "print(f'{x=}')\nreturn x",
    "print('first', x)\nprint('second', x * 2)\nreturn x",
    "print('ndim', x.ndim, 'x', x)\nreturn x",
    "print(x, sep='-')\nreturn x",
)
_WAITS = (
    "y = jax.device_get(x)\nreturn y",
    "y = x.block_until_ready()\nreturn y",
    "y = jnp.sin(x)\njax.block_until_ready(y)\nreturn y",
)
_SHAPES = (
    "n = jnp.prod(jnp.array(x.shape))\nreturn x.reshape(n)",
    "n = int(jnp.log2(x.size + 5))\nreturn jnp.zeros(n) + jnp.sum(x)",
    "n = jnp.max(jnp.array([x.ndim, 2]))\nreturn jnp.zeros((n,)) + jnp.sum(x)",
)
_NAN = ("return x == np.nan", "return (x != float('nan')).any()")

SAFE = (
    *(Site("JAX203", f"return {line}") for line in _NUMPY.split("\n") if line),
    *(Site("JAX505", body) for body in _ITEM_ASSIGNMENT),
    *(Site("JAX205", body) for body in _PRINT),
    *(Site("JAX204", body) for body in _WAITS),
    *(Site("JAX105", body) for body in _SHAPES),
    *(Site("JAX704", body) for body in _NAN),
)
