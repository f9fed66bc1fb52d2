"""What ``inspect`` presumes of functions that only a library's users stage, and what it leaves open."""

from __future__ import annotations

import textwrap

import pytest

from flake8_jax.rules import all_rules
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
    "a leaf that is indexed, computed with, or reduced is an array": (
        "def indexed(t):\n    return jax.tree.map(lambda x: x[0], t)\n"
        "def scaled(t):\n    return [2 * leaf for leaf in jax.tree.leaves(t)]\n"
        "def total(t):\n    return sum(leaf.sum() for leaf in jax.tree.leaves(t))\n"
        "def joined(t, names):\n    return jax.tree.reduce(lambda a, b: a + b, t), names[0] + 1\n"
        "def chosen(t):\n    return jax.tree.map(lambda x: x[0], t, is_leaf=lambda x: isinstance(x, tuple))\n"
        "def same(t):\n    return jax.tree.map(lambda x: x, t)\n",
        {"indexed.t": True, "scaled.t": True, "total.t": True, "joined.t": True, "joined.names": False, "chosen.t": False,
         "same.t": False},
    ),
    "the class that a function is registered for is that of its first argument": (
        "import functools\nimport equinox as eqx\nfrom jaxtyping import Array, Float\n"
        "class Area(eqx.Module):\n    def double(self):\n        return 2 * area(self)\n"
        "class Disk(Area):\n    radius: Float[Array, '']\n"
        "class Both(Area):\n    one: Area\n    other: Area\n    def size(self):\n        return area(self.one)\n"
        "class Named(eqx.Module):\n    name: str = eqx.field(static=True)\n"
        "@functools.singledispatch\ndef area(shape):\n    raise TypeError(shape)\n"
        "@area.register(Disk)\ndef disk(shape):\n    return shape.radius\n"
        "@area.register(Named)\ndef named(shape):\n    return shape.name\n"
        "def f(shape, x):\n    a = area(shape)\n    return lax.fori_loop(0, 3, lambda i, c: c + a, x)\n",
        {"disk.shape": True, "named.shape": False, "Area.double.self": True, "Both.size.self": True, "f.x": True},
    ),
    "what is only returned may be empty": (
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
    "a sequence that is passed as one argument may be empty": (
        "def search(fun, x, args, weights):\n    return jnp.sin(x) + fun(x, *args)\n"
        "def run(fun, x, *args):\n"
        "    return lax.cond(x > 0, lambda x, a: search(fun, x, a, list(a)), lambda x, a: x, x, args)\n"
        "def applied(fun, *args):\n    return lax.while_loop(lambda s: s[0] < 3, fun, args)\n",
        {"search.x": True, "search.args": False, "search.weights": False, "applied.args": True},
    ),
    "reading the shape of an abstract value makes it no array": (
        "def to_struct(x):\n    if isinstance(x, jax.core.ShapedArray):\n"
        "        return jax.ShapeDtypeStruct(x.shape, x.dtype)\n    return x\n"
        "def evaluated(tree):\n    return jax.tree.map(to_struct, tree)\n"
        "def described(x):\n    return jax.ShapeDtypeStruct(x.shape, x.dtype)\n",
        {"to_struct.x": False, "evaluated.tree": False, "described.x": True},
    ),
    "a field that subclasses must have is of the class that it names": (
        "import equinox as eqx\n"
        "class Step(eqx.Module):\n    rate: float = 0.1\n"
        "    def move(self, y):\n        return y\n"
        "class Solver(eqx.Module):\n    step: eqx.AbstractVar[Step]\n"
        "@eqx.filter_jit\ndef solve(solver: Solver, y):\n"
        "    return lax.while_loop(lambda y: False, lambda y: solver.step.move(y), y)\n",
        {"Step.move.y": True},
    ),
    "some arguments of a filtered rule hold arrays": (
        "import equinox as eqx\n"
        "@eqx.filter_custom_jvp\ndef f(x, solver):\n    return solver.solve(x)\n"
        "@f.def_jvp\ndef rule(primals, tangents):\n    x, solver = primals\n    t, _ = tangents\n"
        "    return inner(x, solver), jnp.sin(t)\n"
        "def inner(x, solver):\n    return f(x, solver)\n",
        {"rule.primals": True, "rule.tangents": True, "inner.solver": False},
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


PREVIEWS = {
    "a loss that no code calls branches on an element": (
        "def hinge_loss(predictions, targets):\n"
        "    assert predictions.shape[0] == targets.shape[0]\n"
        "    x = [-1 if p == 0 else p for p in jnp.asarray(predictions)]  # expect: traced-branch\n"
        "    return jnp.mean(jnp.array(x) * jnp.asarray(targets))"
    ),
    "a loss picks elements by a mask": (
        "def positive_loss(x):\n    y = jnp.exp(x)\n    return jnp.mean(y[y > 1])  # expect: data-dependent-shape"
    ),
    "a callee of the loss divides by a norm that may be zero": (
        "def length(x, least):\n"
        "    n = jnp.linalg.norm(x)\n"
        "    return jnp.where(n <= least, least, n)\n"
        "def similarity(x, y, least=0.0):\n    return jnp.sum(x / length(x, least) * y)\n"
        "def contrastive_loss(x, y):\n"
        "    s = similarity(jnp.asarray(x), jnp.asarray(y))\n"
        "    return jnp.where(jnp.isnan(s), 0.0, s)  # expect: where-nan-grad"
    ),
    "a divergence masks the product with a logarithm": (
        "def kl_divergence(p, q):\n"
        "    logits = q.logits()\n"
        "    weight = jax.nn.softmax(logits) if p.raw is None else p.weight\n"
        "    log_q = jax.nn.log_softmax(logits)\n"
        "    return jnp.sum(jnp.where(weight == 0, 0.0, weight * (log_q - jax.nn.log_softmax(p.logits()))))"
        "  # expect: where-nan-grad"
    ),
    "the mask is a name": (
        "def entropy(p):\n"
        "    p = jnp.asarray(p)\n"
        "    return -jnp.sum(jnp.where(p > 0, p * jax.nn.log_softmax(p), 0.0))  # expect: where-nan-grad"
    ),
    "an entropy of what may be zero": (
        "def kl_divergence(log_q, p):\n    return jnp.sum(p * (jnp.log(p) - log_q))  # expect: unstable-expression"
    ),
    "an activation whose gradient overflows": (
        "def sigmoid(x):\n    return 1 / (1 + jnp.exp(-x))  # expect: unstable-expression"
    ),
    "NumPy in between": (
        "def shifted(x: jax.Array, n: int):\n"
        "    y = jnp.append(x, 1.0)\n"
        "    return jnp.stack([np.roll(y, k) for k in range(n)])  # expect: numpy-on-tracer"
    ),
    "NumPy in between, by name and on leaves": (
        "def moved(x: jax.Array, f):\n"
        "    last = jax.tree_util.tree_map(lambda leaf: np.append(leaf[0], leaf[:-1]), x)  # expect: numpy-on-tracer\n"
        "    return jax.vmap(f)(last, x)"
    ),
    "arguments are checked": (
        "def scaled_loss(x):\n    if jnp.any(x < 0):\n        raise ValueError(x)\n"
        "    assert jnp.all(x > 0)\n    return jnp.log(x)"
    ),
    "a helper": "def check_loss(x):\n    return jnp.exp(x) if jnp.isnan(x) else x",
    "whichever code calls the loss has run it": (
        "def clipped_loss(x):\n    return jnp.exp(x) if jnp.max(x) > 3 else x\n"
        "def fit(xs):\n    return [clipped_loss(x) for x in xs]"
    ),
    "what is converted on purpose, or stays on the host": (
        "def shown(x: jax.Array):\n    y = np.diff(jnp.sin(x))\n    return y.tolist(), jnp.asarray(np.asarray(x))"
    ),
    "data that no annotation calls an array of JAX": (
        "def prepared(data):\n    x = jnp.asarray(data)\n    return jnp.where(~np.isnan(x))[0]"
    ),
    "a root of what is not negative": (
        "def distance_loss(x, y):\n    return jnp.nan_to_num(jnp.sqrt(jnp.mean((jnp.asarray(x) - y) ** 2, axis=0)))"
    ),
    "what a state that users carry computes": (
        "class State(typing.NamedTuple):\n"
        "    board: jax.Array\n"
        "    step: jax.Array\n"
        "    @property\n"
        "    def width(self):\n"
        "        return int(jnp.sqrt(self.board.shape[-1]).astype(int).item())  # expect: host-item\n"
        "    def half(self):\n"
        "        n = jnp.array([self.board.shape[0]]) // 2\n"
        "        return jnp.split(self.board, n)  # expect: traced-shape\n"
        "    def reward(self):\n"
        "        return float(self.step)  # expect: host-cast\n"
        "    def to_save(self):\n"
        "        return self.board.tolist(), self.step.item()\n"
        "    def count(self) -> int:\n"
        "        return int(self.step)\n"
        "    def __len__(self):\n"
        "        return int(self.step)"
    ),
    "objects that carry no arrays": (
        "class Config(typing.NamedTuple):\n    size: int\n"
        "    def width(self):\n        return jnp.sqrt(self.size).item()\n"
        "class Model:\n    def __init__(self):\n        self.w = jnp.ones(3)\n"
        "    def total(self):\n        return self.w.sum().item()"
    ),
    "no loss": "def pick(x):\n    return jnp.exp(x) if jnp.max(x) > 3 else x",
}


@pytest.mark.parametrize("name", PREVIEWS)
def test_previews_of_presumed_runs(name: str) -> None:
    """What a library's users would meet is reported in previews, as a warning, and without them not at all."""
    text = HEADER + "import typing\nimport numpy as np\n" + PREVIEWS[name] + "\n"
    file = SourceFile("library.py", "library", False, lower(text), text)
    rules = [rule for rule in all_rules() if rule.presumed]
    expected = [
        (number, line.rpartition("# expect: ")[2])
        for number, line in enumerate(text.splitlines(), 1)
        if "# expect" in line
    ]
    previews = analyze([file], AnalysisRequest(preview=True), rules)
    assert previews.crashes == []
    assert [(text.count("\n", 0, f.start) + 1, f.name) for f in previews.findings] == expected
    assert {f.level for f in previews.findings} <= {"warning"}
    assert analyze([file], AnalysisRequest(), rules).findings == []
