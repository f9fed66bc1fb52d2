"""What ``inspect`` presumes of functions that only a library's users stage, and what it leaves open."""

from __future__ import annotations

import textwrap

import pytest

from flake8_jax.semantics.analysis.analyze import analyze
from flake8_jax.semantics.analysis.request import AnalysisRequest, SourceFile
from flake8_jax.syntax.lower import lower

HEADER = """
import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad, batching
from jax.extend.core import Primitive
"""

CASES = {
    "what jax.numpy takes is an array": ("def f(x):\n    return jnp.sin(x)", {"f.x": True}),
    "a caller passes what its callee takes": (
        "def g(x):\n    return jnp.sin(x)\n\ndef f(y, n):\n    return [g(y) for _ in range(n)]",
        {"f.y": True, "f.n": False},
    ),
    "what crosses a staging boundary is an array": (
        "def f(init, steps):\n    return lax.while_loop(lambda s: s[0] < 3, lambda s: s, init)",
        {"f.init": True, "f.steps": False},
    ),
    "an item that is an array makes its owner a pytree": (
        "def g(scale):\n    return scale\n\ndef f(state):\n    loss, aux = state\n    return jnp.sin(loss), g(aux)",
        {"f.state": True, "g.scale": False},
    ),
    "sizes and axes are host values": (
        "def f(n, axis, x):\n    return jnp.zeros(n) + jnp.minimum(n, 3) + jnp.sum(x, axis=axis)",
        {"f.n": False, "f.axis": False, "f.x": True},
    ),
    "what is called is a function": ("def f(g, x):\n    lax.scan(lambda c, x: (g(c), x), g, x)", {"f.g": False, "f.x": True}),
    "keywords that are passed on may be none": (
        "def f(x, kwargs):\n    return jax.vmap(jnp.sin)(x, **kwargs)",
        {"f.x": True, "f.kwargs": False},
    ),
    "rules of primitives": (
        "p = Primitive('p')\n"
        "def impl(x, *, n):\n    return x\n"
        "def jvp(primals, tangents, *, n):\n    return primals, tangents\n"
        "def transpose(ct, x, *, n):\n    return [ct]\n"
        "def batch(args, axes, *, n):\n    return args, axes\n"
        "p.def_impl(impl)\nad.primitive_jvps[p] = jvp\nad.primitive_transposes[p] = transpose\n"
        "batching.primitive_batchers[p] = batch\n",
        {"impl.x": True, "impl.n": False, "jvp.primals": True, "jvp.tangents": True, "jvp.n": False,
         "transpose.ct": True, "transpose.x": False, "batch.args": True, "batch.axes": False},
    ),
    "rules of custom derivatives": (
        "from functools import partial\n"
        "@partial(jax.custom_vjp, nondiff_argnums=(1,))\ndef f(x, n):\n    return x\n"
        "def fwd(x, n):\n    return x, x\n"
        "def bwd(n, residual, ct):\n    return (residual * ct,)\n"
        "f.defvjp(fwd, bwd)\n",
        {"f.x": True, "f.n": False, "fwd.x": True, "fwd.n": False, "bwd.n": False, "bwd.residual": True, "bwd.ct": True},
    ),
    "what callers in sight pass as a number is no tracer": (
        "def f(x, scale, other):\n    return jnp.sin(x) * jnp.exp(scale) * jnp.exp(other)\n\n"
        "def g(x, other):\n    return f(x, 2.0, other)\n",
        {"f.x": True, "f.scale": False, "f.other": True},
    ),
    "a call that would give an argument twice is none": (
        "from functools import partial\n"
        "def f(fn=None, rate=1):\n    if fn is None:\n        return partial(f, rate=rate)\n    return fn\n"
        "@jax.jit\ndef g(x, y):\n    return f()(x, y)\n",
        {"f.rate": False},
    ),
    "shapes in place of arrays": (
        "def f(x):\n    return jax.tree.map(lambda s: s.shape, g(jax.eval_shape(jnp.sin, x)))\n\n"
        "def g(shapes):\n    print(shapes.dtype)\n    return shapes\n",
        {"g.shapes": False},
    ),
    "objects with a place for arrays hold tracers": (
        "@jax.tree_util.register_pytree_node_class\n"
        "class Line:\n"
        "    def __init__(self, slope):\n        self.slope = slope\n"
        "    def at(self, n):\n        return self.slope\n"
        "    def tree_flatten(self):\n        return (self.slope,), None\n"
        "    @classmethod\n    def tree_unflatten(cls, aux, children):\n        assert aux is None\n"
        "        return cls(*children)\n",
        {"Line.at.self": True, "Line.at.n": False, "Line.tree_flatten.self": True, "Line.tree_unflatten.children": True,
         "Line.tree_unflatten.aux": False, "Line.__init__.self": False},
    ),
    "parameters that are such objects hold tracers": (
        "@jax.tree_util.register_pytree_node_class\n"
        "class Line:\n"
        "    def tree_flatten(self):\n        return (self.slope,), None\n"
        "class Owner:\n    pass\n"
        "def width(line: Line, owner: Owner):\n    return line.width, owner.width\n",
        {"width.line": True, "width.owner": False},
    ),
    "a base that leaves its children to its heirs says nothing": (
        "@jax.tree_util.register_pytree_node_class\n"
        "class Shape:\n    def describe(self):\n        return self.name\n"
        "    def tree_flatten(self):\n        raise NotImplementedError\n"
        "@jax.tree_util.register_pytree_node_class\n"
        "class Line(Shape):\n    def tree_flatten(self):\n        return (self.slope,), None\n"
        "@jax.tree_util.register_pytree_node_class\n"
        "class Empty(Shape):\n    def tree_flatten(self):\n        return (), None\n"
        "    def size(self):\n        return self.count\n",
        {"Shape.describe.self": False, "Line.tree_flatten.self": True, "Empty.size.self": False},
    ),
    "objects without children hold none": (
        "@jax.tree_util.register_pytree_node_class\n"
        "class Mark:\n"
        "    def name(self):\n        return self.text\n"
        "    def tree_flatten(self):\n        return (), self.text\n"
        "    @classmethod\n    def tree_unflatten(cls, aux, children):\n        return cls(aux, children)\n",
        {"Mark.name.self": False, "Mark.tree_flatten.self": False, "Mark.tree_unflatten.children": False},
    ),
    "what JAX passes to registered functions": (
        "from functools import partial\n"
        "class Bag:\n    pass\n"
        "def take_apart(bag):\n    return bag.items, bag.names\n"
        "def put_together(cls, names, items):\n    return cls(names, items)\n"
        "jax.tree_util.register_pytree_node(Bag, take_apart, partial(put_together, Bag))\n",
        {"take_apart.bag": True, "put_together.items": True, "put_together.names": False},
    ),
    "arrays are passed on one by one as well": (
        "def f(parts):\n    print(*parts)\n    return jnp.sin(parts[0])\n",
        {"f.parts": True},
    ),
    "what is only handed back may be empty": (
        "def scaled(updates, state):\n    return jax.tree.map(jnp.sin, updates), state\n"
        "def kept(updates, state):\n    return updates, jnp.sin(state)\n"
        "def both(updates, state):\n    jax.jit(jnp.cos)\n    kept(updates, state)\n    return scaled(updates, state)\n",
        {"scaled.updates": True, "scaled.state": False, "kept.state": True},
    ),
    "a pytree that callers in sight pass is no Python number": (
        "@jax.tree_util.register_pytree_node_class\n"
        "class Line:\n"
        "    def tree_flatten(self):\n        return (self.slope,), None\n"
        "def double(line):\n    return jax.tree.map(jnp.sin, line)\n"
        "def of_line():\n    return double(Line())\n",
        {"double.line": True},
    ),
}  # fmt: skip


def claims(program: str) -> dict[str, bool]:
    """For every parameter, whether inspect says that it holds tracers."""
    text = HEADER + textwrap.dedent(program) + "\n"
    file = SourceFile("library.py", "library", False, lower(text), text)
    result = analyze([file], AnalysisRequest(collect_functions=True), [])
    assert result.crashes == []
    return {
        f"{function.qualname}.{parameter.name}": bool({"traced", "pytree"} & set(parameter.kinds))
        for function in result.functions
        for parameter in function.params
    }


@pytest.mark.parametrize("name", CASES)
def test_presumed(name: str) -> None:
    program, expected = CASES[name]
    found = claims(program)
    assert {key: found[key] for key in expected} == expected
