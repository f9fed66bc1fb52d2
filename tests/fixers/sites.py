"""Bodies of ``target(x)`` in which a rule has a finding where ``x`` is traced, or for an eager site where it is not: options,
dtypes, braces and values that fixes stumbled over, and the plain forms. ``SAFE``: of rules with safe fixes; ``UNSAFE``: of
the others."""

# ruff: noqa: E501
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

_ANY = ("jit", "vmap", "eager", "stored")


def _requires(release: str) -> str:
    """The metadata of a script that is for a release of JAX and newer ones."""
    return f'# /// script\n# dependencies = ["jax>={release}"]\n# ///\n'


_STATIC_LISTS = (
    ("static_argnums=1", "v.sum(axes)", "x, {}", "[0]", "(0,)"),
    ("static_argnames='axes'", "v.sum(axes)", "x, axes={}", "[0, -1]", "(0, -1)"),
    ("static_argnames='axes'", "jnp.zeros(axes) + jnp.sum(v)", "x, axes={}", "[2, 3]", "(2, 3)"),
    ("static_argnames='axes'", "v * 2 if isinstance(axes, list) else v", "x, axes={}", "[1]", "(1,)"),
    ("static_argnames='axes'", "v * len(axes) + axes[0]", "x, axes={}", "[5, x.ndim]", "(5, x.ndim)"),
)


def _static_lists(given: str, shown: str, call: str, value: str) -> str:
    return (
        f"import functools\n\n@functools.partial(jax.jit, {given})\ndef f(v, axes):\n    return {shown}\n\n"
        f"return f({call.format(value)})"
    )


_REMOVED = (
    ("return jax.tree_map(lambda v: v * 2, {'a': x})", "return jax.tree.map(lambda v: v * 2, {'a': x})"),
    ("from jax import tree_map\n\nreturn tree_map(jnp.sin, [x, x])", "return jax.tree.map(jnp.sin, [x, x])"),
    ("return jax.tree_leaves((x, {'b': x}))", "return jax.tree.leaves((x, {'b': x}))"),
    ("leaves, tree = jax.tree_flatten((x, x))\nreturn jax.tree_unflatten(tree, leaves[::-1])", "return x, x"),
    ("return jnp.clip(x, a_min=0, a_max=1)", "return jnp.clip(x, min=0, max=1)"),
    ("return jnp.clip(x, a_max=1)", "return jnp.clip(x, max=1)"),
    ("return jnp.trapz(x)", "from jax.scipy.integrate import trapezoid\n\nreturn trapezoid(x)"),
    ("return jnp.row_stack((x, x))", "return jnp.vstack((x, x))"),
    ("return jnp.in1d(x, jnp.arange(2))", "return jnp.isin(x, jnp.arange(2)).ravel()"),
    ("return jnp.msort(x)", "return jnp.sort(x, axis=0)"),
    ("return jax.ops.index_update(x, 0, 1)", "return jnp.asarray(x).at[0].set(1)"),
    (
        "y: jax.random.KeyArray = jax.random.key(0)\nreturn jax.random.normal(y) + x",
        "return jax.random.normal(jax.random.key(0)) + x",
    ),
    ("return jnp.cumproduct(x), jnp.alltrue(x > 0)", "return jnp.cumprod(x), jnp.all(x > 0)"),
)
_DEPRECATED = (
    "from jax.experimental.pjit import pjit\n\nreturn pjit(lambda v: v * 2)(x)",
    "from jax.experimental import pjit\n\nreturn pjit.pjit(jnp.sin)(x), x",
    "return x * jax.host_count()",
)
_TOO_NEW = (
    "return jax.tree.map(lambda v: v * 2, {'a': x, 'b': None})",
    "return jax.tree.leaves((x, [x]))",
    "return jnp.concat([x, x])",
    "return jnp.acos(jnp.clip(x, -1, 1)), jnp.permute_dims(x, range(x.ndim))",
    "from jax import tree\n\nreturn tree.map(jnp.sin, (x, x))",
)
_CALLED_WITHOUT = ("@jax.jit(static_argnames='n')\ndef f(v, n):\n    return v * n\n\nreturn f(x, n=2)",)

SAFE = (
    *(Site("JAX203", f"return {line}") for line in _NUMPY.split("\n") if line),
    *(Site("JAX505", body) for body in _ITEM_ASSIGNMENT),
    *(Site("JAX205", body) for body in _PRINT),
    *(Site("JAX204", body) for body in _WAITS),
    *(Site("JAX105", body) for body in _SHAPES),
    *(
        Site(
            "JAX403",
            _static_lists(given, shown, call, bad),
            reference=_static_lists(given, shown, call, good),
            first=_ANY,
        )
        for given, shown, call, bad, good in _STATIC_LISTS
    ),
    *(Site("JAX801", body, reference=reference, first=_ANY) for body, reference in _REMOVED),
    *(Site("JAX802", body, first=_ANY) for body in _DEPRECATED),
    *(Site("JAX803", body, first=_ANY, head=_requires("0.4.20")) for body in _TOO_NEW),
    *(Site("JAX803", body, first=_ANY, head=_requires("0.4.30")) for body in _CALLED_WITHOUT),
)

# --- rules with unsafe fixes -------------------------------------------------------------------------

_BRANCHES = (
    "s = jnp.sum(x)\nif s > 0:\n    y = s + 1\nelse:\n    y = s - 1\nreturn y",
    "s = jnp.sum(x)\nif s == 0:\n    return 1.0\nreturn jnp.sin(s) / s",
    "s = jnp.sum(x)\nif s == 0:\n    return 1\nreturn jnp.cos(s) / s",
    "s = jnp.max(x, initial=0)\nreturn jnp.log(s) if s > 0 else 0.0",
    "s = jnp.sum(x) * 1.0\nscale = x * 1.0\nif s > 2:\n    scale = scale * (2 / s)\nreturn scale",
    "s = jnp.sum(x)\ny = s + 1.0\nif s > 0:\n    y /= s\nreturn y",
    "s = jnp.sum(x)\nreturn jnp.zeros(3) if s > 0 else 0.0",
    "s = jnp.sum(x)\nreturn (s, x) if s > 0 else (s * 2, -x)",
    "s = jnp.sum(x)\nif s > 0 and s < 5:\n    s = s * 2\nreturn s",
    "s = jnp.sum(x)\nif s < 0:\n    s = 0\nelif s > 1:\n    s = 1\nreturn s",
    "s = jnp.sum(x)\nflag = s > 0 or s < -5\nreturn flag",
    "s = jnp.sum(x)\ny = s or 1.0\nreturn x + y",
    "s = jnp.sum(x)\nreturn not s > 1",
    "s = jnp.sum(x)\nif s > 0:\n    g = jnp.sin\nelse:\n    g = jnp.cos\nreturn g(x)",
    "s = jnp.sum(x)\nif s > 0:\n    r = jnp.zeros(3)\nelse:\n    r = jnp.ones((2, 3))\nreturn r",
    "s = jnp.sum(x)\nif not 0 < s < 3:\n    return x\ny = x * 2\nreturn y",
    "s = jnp.sum(x)\ny = x\nif s > 0:\n    y = y + 1\n    y = y * jnp.sqrt(s)\nreturn y",
    "s = jnp.sum(x)\nreturn x**0.5 if s > 0 else x",
    "s = jnp.sum(x)\nreturn 1.0 if s in (1, 2, 4) else -1.0",
    "s = jnp.max(x, initial=0)\ny = 300 if s > 0 else s\nreturn y",
    "s = jnp.max(x, initial=0)\nif s > 2:\n    s = -300\nreturn s + x",
    "s = jnp.max(x, initial=0)\nif s > 0:\n    k = 300\nelse:\n    k = -1\nreturn x * 2 + k",
)  # fmt: skip
_LOOPS = (
    "s = jnp.sum(x)\nwhile s < 100.0:\n    s = s * 2.0 + 1.0\nreturn s",
    "s = jnp.sum(jnp.isfinite(x)) * 1.0\nn = 0\nwhile s > 1.0:\n    s = s / 2\n    n += 1\nreturn s, n",
    "s = jnp.abs(jnp.sum(jnp.isfinite(x))) * 1.0\nwhile True:\n    s = s * 0.5\n    if s < 1.0:\n        break\nreturn s",
)
_RANGES = (
    "n = jnp.argmax(x) + 2\ny = jnp.zeros(3)\nfor _ in range(n):\n    y = y + 1.0\nreturn y",
    "n = jnp.argmax(x)\nt = 0\nfor i in range(1, n + 3):\n    t = t + i\nreturn t",
    "t = x * 0\nfor i in range(jnp.max(x, initial=0).astype(int)):\n    t = t + i * 100\nreturn t",
)
_MASKS = (
    "return jnp.sum(x[x > 0])",
    "return x[x > 0].mean()",
    "return x[x > 0].min(initial=500)",
    "return len(x[x > 0])",
    "return jnp.max(x[x > 0])",
    "return x[x > 0].size",
    "return jnp.prod(x[x > 1])",
    "return jnp.std(x[x > 0])",
)
_SLICES = (
    "i = jnp.argmax(x)\ny = jnp.arange(8.0)\nreturn y[i : i + 2]",
    "i = jnp.argmax(x)\ny = jnp.arange(8.0)\nreturn y[i + 5 : i + 5 + 2]",
    "i = jnp.argmax(x)\ny = jnp.arange(8.0)\nreturn y[i - 1 : i + 1]",
    "i = jnp.argmax(x)\ny = jnp.arange(8.0)\nreturn y.at[i : i + 2].set(0.0)",
    "i = jnp.argmax(x)\ny = jnp.arange(8.0)\nreturn y.at[i - 1 : i + 1].add(1.0)",
    "i = jnp.argmax(x)\ny = jnp.ones((8, 2))\nreturn y[i : i + 3, 0]",
    "i = jnp.argmax(x)\ny = jnp.arange(12.0)\nreturn y[i * 3 : (i + 1) * 3]",
)
_TABLES = (
    "i = jnp.argmax(x)\nreturn x * [0.5, 1.5, 2.5][i]",
    "i = jnp.argmax(x)\ntable = (1, 2, 3)\nreturn x * table[i]",
    "i = jnp.argmax(x)\ntable = (100, 200, 300)\nreturn x + table[i] * 2",
    "i = jnp.argmax(x)\ntable = np.array([1.0, 2.0, 4.0])\nreturn table[i] + x",
    "i = jnp.argmax(x)\ntable = [True, False, True]\nreturn table[i]",
)
_BUILTINS = (
    "s = jnp.sum(x)\nreturn max(s, 0)",
    "s = jnp.sum(x)\nreturn min(s, jnp.max(x, initial=0), 0.5)",
    "return max(x)",
    "return min(jnp.max(x, initial=0), 300) * 2",
    "return max(jnp.min(x, initial=0), -1) + x",
    "return sum(x) + x",
    "return abs(jnp.min(x, initial=0)) + x",
    "return any(x > 1)",
    "return sorted(x)",
    "import math\n\ns = jnp.sum(x)\nreturn math.sqrt(s * s + 1) * x",
    "import math\n\nreturn math.floor(jnp.sum(x))",
    "import math\n\ns = jnp.sum(x)\nreturn math.exp(-s * s)",
    "import math\n\nreturn math.log(jnp.sum(x) ** 2 + 1, 2)",
)
_STATIC_WHERES = (
    "y = jnp.where(x.ndim == 1, x, x * 2)\nreturn y",
    "return jnp.where(x.ndim == 1, 1, jnp.sum(x))",
    "flag = True\nreturn jnp.where(flag, x, 0.0)",
)
_CASTS = (
    "return x * float(jnp.sum(x))",
    "n = int(jnp.sum(x))\nreturn x + n",
    "return bool(jnp.sum(x) > 0)",
    "s = float(jnp.mean(x))\nif s > 0:\n    return x * s\nreturn x",
    "s = float(jnp.sum(x))\nreturn np.sqrt(s * s) + x",
    "n = int(jnp.max(x, initial=0))\nreturn n * 3 + x",
    "return x - int(x[..., 0].sum()) // 2",
    "c = complex(jnp.sum(x))\nreturn x * c",
    "t = 0\nfor i in range(3):\n    t += int(jnp.sum(x > i))\nreturn x + t * 100",
)
_ITEMS = (
    "s = jnp.sum(x).item()\nreturn x * s",
    "s = jnp.max(x, initial=0).item()\nreturn jnp.where(x > s, x, s)",
    "s = jnp.max(x, initial=0).item()\nreturn s * 3 + x",
    "s = jnp.min(x, initial=0).item() - jnp.max(x, initial=0).item()\nreturn s, x - s // 2",
)
_KEYS = (
    "key = jax.random.key(0)\na = jax.random.normal(key, (3,))\nb = jax.random.uniform(key, (3,))\nreturn a + b * jnp.sum(x)",
    "key = jax.random.PRNGKey(0)\na = jax.random.normal(key, (3,))\nb = jax.random.normal(key, (3,))\nreturn a - b + jnp.sum(x)",
    "def f(v, key):\n    return jnp.sum(v * jax.random.normal(key))\n\nkey = jax.random.key(0)\n"
    "return f(x + 0.5, key) - f(x - 0.5, key)",
)
_LOOP_KEYS = (
    "key = jax.random.key(0)\ny = jnp.sum(x)\nfor i in range(4):\n    y = y + jax.random.normal(key)\nreturn y",
    "key = jax.random.key(0)\nreturn [jax.random.normal(key) * jnp.sum(x) for _ in range(3)]",
)
_OLD_KEYS = (
    "key = jax.random.PRNGKey(0)\nreturn jax.random.normal(key, (3,)) + jnp.sum(x)",
    "key = jax.random.PRNGKey(0)\nreturn key",
)
_HOISTED = (
    "w = jnp.sum(x)\nrate = 0.5\nfor _ in range(12):\n    step = jax.jit(lambda w: w - rate * w)\n    w = step(w)\nreturn w",
    "w = jnp.sum(x)\nc = {'rate': 0.5}\ndef decay(c):\n    c['rate'] *= 0.5\nfor _ in range(12):\n"
    "    step = jax.jit(lambda w: w - c['rate'] * w)\n    w = step(w)\n    decay(c)\nreturn w",
    "w = jnp.sum(x)\nr = np.full(3, 0.5)\ns = r\nfor _ in range(12):\n    step = jax.jit(lambda w: w - r * w)\n    w = step(w)\n"
    "    s *= 0.5\nreturn w",
    "w = jnp.sum(x)\nrates = [0.5]\nfor i in range(12):\n    step = jax.jit(lambda w: w - rates[-1] * w)\n    w = step(w)\n"
    "    rates.append(0.1 * i)\nreturn w",
    "w = jnp.sum(x)\nrate = 0.5\ndef update(w):\n    return w - rate * w\nfor _ in range(12):\n"
    "    step = jax.jit(lambda w: update(w))\n    w = step(w)\n    rate *= 0.5\nreturn w",
    "w = jnp.sum(x)\nc = [0.5]\ndef turns():\n    for i in range(12):\n        c[0] *= 0.5\n        yield i\nfor _ in turns():\n"
    "    step = jax.jit(lambda w: w - c[0] * w)\n    w = step(w)\nreturn w",
    "w = jnp.sum(x)\nlog = []\nfor i in range(12):\n    @jax.jit\n    def step(w):\n        print('traced')\n        return w * 0.5\n\n"
    "    w = step(w)\n    log.append(w)\nreturn log",
    "w = x\nscale = x\nfor _ in range(12):\n    w = jax.jit(lambda w: w * scale)(w)\nreturn w",
)  # fmt: skip
_NAMES = (
    "from functools import partial\n\n@partial(jax.jit, static_argnames=('kindd', 'timess'))\ndef f(v, *, kind, times):\n"
    "    return v * times if kind == 'a' else v\n\nreturn f(x, kind='a', times=2)",
)
_UNROLLED = (
    "y = jnp.sum(x)\nfor i in range(60):\n    y = y + 0.1 * jnp.cos(y) / (i + 1)\nreturn y",
    "y = x * 1.0\ntotal = 0.0\nfor i in range(60):\n    y = y * 0.9 + 0.1\n    total += jnp.sum(y)\nreturn y, total",
)
_DONATED = (
    "@jax.jit\ndef step(w):\n    return w * 0.9\n\nw = jnp.ones(3)\nfor _ in range(12):\n    w = step(w)\nreturn w + jnp.sum(x)",
    "@jax.jit\ndef step(w):\n    return w * 0.9\n\nw = x\nfor _ in range(12):\n    w = step(w)\nreturn w, x",
    "@jax.jit\ndef step(w):\n    return w * 0.9\n\nw = jnp.ones(3)\nkept = [w]\nfor _ in range(12):\n    w = step(w)\nreturn w, kept",
)  # fmt: skip
_ARGUMENTS = ("@jax.jit\ndef f(v, kind):\n    return v * 2 if kind == 'a' else v\n\nreturn f(x, 'a')",)
_DISCARDED = (
    "y = jnp.zeros(3)\ny.at[0].set(1.0)\nreturn y + jnp.sum(x)",
    "y = jnp.zeros(3)\ny.at[0].set(1.0).at[1].add(2.0)\nz = y\nreturn y, z, x",
)
_LATE = (
    "fs = []\nfor k in (1.0, 2.0, 3.0):\n    fs.append(lambda v: v * k)\nreturn [f(x) for f in fs]",
    "fs = []\nfor k in (1.0, 2.0, 3.0):\n    fs.append(jax.jit(lambda v: v * k))\nreturn [f(x) for f in fs]",
)
_GUARDS = (
    "return jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0.0))",
    "return jnp.sum(jnp.where(x == 0, 1.0, jnp.sin(x) / x))",
)
_FORMULAS = (
    "return jnp.log(jnp.sum(jnp.exp(x)))",
    "return jnp.log(jnp.sum(jnp.exp(x), 0, None, None, True))",
    "return jnp.log(jax.nn.softmax(x))",
    "return jnp.log(jax.nn.sigmoid(x))",
    "return jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)",
    "return jnp.log(1 + jnp.exp(x))",
    "return jnp.exp(x) - 1",
    "return jnp.mean(x**2, 0) - jnp.mean(x, axis=0) ** 2",
    "return jnp.log(jnp.prod(x, 0))",
    "return x * jnp.log(x)",
    "return jnp.log(1 + x)",
    "return 1 / (1 + jnp.exp(-x))",
)
_NAN = ("return x == np.nan", "return (x != float('nan')).any()")
_INTEGERS = ("return jax.grad(lambda v: v * 1.5)(3) + x",)
_BUFFERS = (
    "f = jax.jit(lambda v: v * 2)\nbuffer = np.zeros(100, np.float32)\nout = []\nfor k in range(3):\n    buffer[:] = k\n"
    "    out.append(f(buffer))\nreturn out, x",
    "f = jax.jit(lambda v, w: v * 2 + jnp.sum(w))\nbuffer = np.zeros(100, np.float32)\ny = f(buffer, x)\nbuffer[0] += 1\n"
    "return y, buffer",
    "buffer = np.zeros((2, 50), np.float32)\ny = jnp.asarray(buffer[1])\nbuffer += 1\nreturn y + 1, buffer",
)
_MAPS = (
    "return jax.pmap(lambda v: v * 2)(jnp.stack([x] * 8))",
    "return jax.pmap(lambda v: jax.lax.psum(v, 'i'), axis_name='i')(np.stack([x] * 8))",
    "return jax.pmap(lambda s, v: (v * s, s), in_axes=(None, 0))(2.0, jnp.stack([x] * 8))",
    "import functools\n\n@functools.partial(jax.pmap, axis_name='i', donate_argnums=0)\ndef step(w, v):\n"
    "    g = jax.grad(lambda w: jnp.sum((w * jnp.ones(3) - jnp.sum(v)) ** 2))(w)\n    return w - 0.1 * jax.lax.pmean(g, 'i')\n\n"
    "return step(jnp.ones((8, 3)), jnp.stack([x] * 8))",
    "f = jax.pmap(lambda k, v: jax.random.normal(k, v.shape) + v)\nreturn f(jax.random.split(jax.random.key(0), 8), jnp.stack([x] * 8))",
    "f = jax.pmap(lambda v: {'sum': jnp.sum(v), 'at': jax.lax.axis_index('i'), 'none': None}, axis_name='i')\n"
    "return f(jnp.stack([x] * 8))",
    "def f(v, w):\n    return jax.lax.cond(jnp.sum(v) > 1, jnp.sin, jnp.cos, v * w)\n\ng = jax.pmap(f)\n"
    "return g(w=jnp.arange(8.0), v=jnp.stack([x] * 8))",
    "f = jax.pmap(lambda v: v[::-1], devices=jax.devices()[:2])\nreturn f(jnp.stack([x, x]))",
    "f = jax.pmap(lambda v: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, v))[1])\n"
    "return f([jnp.stack([x] * 8)][0])",
    "f = jax.pmap(lambda v: jax.lax.all_gather(jnp.mean(v), 'i'), 'i')\nreturn f(jnp.stack([x] * 8))",
    "f = jax.pmap(lambda v, n: v * n, static_broadcasted_argnums=1)\nreturn f(jnp.stack([x] * 8), 3)",
)
_MESH = "from jax.sharding import Mesh, NamedSharding\nfrom jax.sharding import PartitionSpec as P\n\nmesh = Mesh(jax.devices()[:1], ('data',))\n"
_AXES = (
    "y = jnp.ones((2, 3))\nreturn jax.device_put(y, NamedSharding(mesh, P({}))) + jnp.sum(x)",
    "y = jnp.ones((2, 3))\nreturn jax.device_put(y, NamedSharding(mesh, P(None, ({},)))) + jnp.sum(x)",
)
_CLOCKS = (
    "y = f(x)\ntook = time.perf_counter() - start\nreturn y, took >= 0",
    "f(x)\ntook = time.perf_counter() - start\nprint(took >= 0)\nreturn x",
    "y = x\nfor _ in range(3):\n    y = f(y)  # a step\nend = time.perf_counter()\ntook = end - start\nreturn y, took >= 0",
    "out = []\nout.append(f(x))\ntook = time.perf_counter() - start\nreturn out, took >= 0",
    "y = f(x)\nif jnp.ndim(x) > 1:\n    y = f(y)\ntook = time.perf_counter() - start  # seconds\nreturn y, took >= 0",
    "out = f(x), time.perf_counter() - start\nreturn out[0], out[1] >= 0",
    "pair = f(x), {'y': f(x + 1)}\ntook = time.perf_counter() - start\nreturn pair, took >= 0",
    "f(x).block_until_ready()\n(y, _), n = (f(x), x), 3\ntook = time.perf_counter() - start\nreturn y, n, took >= 0",
)
_CLOCK = "import time\n\nf = jax.jit(lambda v: v * 2)\nf(x).block_until_ready()\nstart = time.perf_counter()\n"
_SETTINGS = (
    "y = jnp.ones(3)\njax.config.update('jax_platform_name', 'cpu')  # here\nreturn jnp.sum(x) + y",
    "# How many\nn = len(jax.devices())\n# The platform\njax.config.update('jax_platform_name', 'cpu')\nreturn x * n",
    "y = jnp.ones(3)\nname = 'cpu'\njax.config.update('jax_platform_name', name)\nreturn jnp.sum(x) + y",
    "import os\n\ny = jnp.ones(3)\nos.environ['XLA_FLAGS'] = os.environ.get('XLA_FLAGS', '')\nreturn jnp.sum(x) + y",
)
_POOLS = (
    "import flax.linen as nn\n\nreturn nn.max_pool(jnp.ones((1, 8, 8, 2)) * jnp.sum(x), (2, 2))",
    "import flax.linen as nn\n\nreturn nn.avg_pool(jnp.ones((1, 9, 2)) * jnp.sum(x), window_shape=(3,), padding='SAME')",
)

UNSAFE = (
    *(Site("JAX101", body) for body in _BRANCHES),
    *(Site("JAX101", body, first=("grad", "jit"), inputs=("jnp.zeros((3,))", "np.zeros(3)")) for body in _BRANCHES),
    *(Site("JAX102", body) for body in _LOOPS),
    *(Site("JAX103", body) for body in _RANGES),
    *(Site("JAX106", body) for body in _MASKS),
    *(Site("JAX107", body) for body in _SLICES),
    *(Site("JAX108", body) for body in _TABLES),
    *(Site("JAX111", body) for body in _BUILTINS),
    *(Site("JAX112", body) for body in _STATIC_WHERES),
    *(Site("JAX201", body) for body in _CASTS),
    *(Site("JAX202", body) for body in _ITEMS),
    *(Site("JAX301", body) for body in _KEYS),
    *(Site("JAX302", body, eager=True) for body in _LOOP_KEYS),
    *(Site("JAX306", body) for body in _OLD_KEYS),
    *(Site("JAX401", body, eager=True) for body in _HOISTED),
    *(Site("JAX404", body, eager=True) for body in _NAMES),
    *(Site("JAX408", body) for body in _UNROLLED),
    *(Site("JAX412", body, eager=True) for body in _DONATED),
    *(Site("JAX413", body, eager=True) for body in _ARGUMENTS),
    *(Site("JAX506", body) for body in _DISCARDED),
    *(Site("JAX515", body, eager=True) for body in _LATE),
    *(Site("JAX702", body, first=("grad",)) for body in _GUARDS),
    *(Site("JAX703", body) for body in _FORMULAS),
    *(Site("JAX704", body) for body in _NAN),
    *(Site("JAX708", body, eager=True) for body in _INTEGERS),
    *(Site("JAX514", body, needs="flax") for body in _POOLS),
    *(Site("JAX516", body, eager=True) for body in _BUFFERS),
    *(Site("JAX601", body, eager=True) for body in _MAPS),
    *(
        Site("JAX603", _MESH + body.format("'dta'"), reference=_MESH + body.format("'data'"), first=_ANY)
        for body in _AXES
    ),
    *(Site("JAX901", _CLOCK + body, eager=True) for body in _CLOCKS),
    *(Site("JAX903", body, eager=True, inputs=("np.ones(3)", "np.zeros((2, 0))")) for body in _SETTINGS),
)
