"""JAX105: see the page of ``traced_shape``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace

from flake8_jax.core import ir
from flake8_jax.core.nodes import walk
from flake8_jax.core.registry import Report, Subscription, rule
from flake8_jax.knowledge.model import FunctionFact
from flake8_jax.rules._binding import bind
from flake8_jax.rules._tracers import contains_tracer, quote
from flake8_jax.rules._wording import callee, it_or_name, static_remedy, traced_argument, traced_node
from flake8_jax.semantics.domain.code import names_read
from flake8_jax.semantics.domain.values import (
    Array,
    External,
    ListValue,
    TupleValue,
    UnionValue,
    Value,
    is_traced_array,
)
from flake8_jax.semantics.events.events import Context, LibraryCall, MethodCall

_COUNT_OR_ARRAY = frozenset({("jax.random.choice", "a"), ("jax.random.permutation", "x")})


@rule(
    "JAX105",
    "error",
    fixable="sometimes",
    raises="tracer error",
    only=Subscription(where=frozenset({"staged"}), arrays=True, presumed=True),
)
def traced_shape(event: LibraryCall | MethodCall) -> Report | None:
    """A traced value is used as a shape, a size, a length or an axis.

    With `--preview`, the rule reports a traced `length` of `jax.lax.scan`.

    With `--preview`, the rule also looks at functions that the project does not trace but its users probably will.
    These are losses, activations and densities that no code of the project calls, and methods of classes that are
    registered as pytrees and hold arrays. jaxlint recognizes losses, activations and densities by the name of the
    function (`mse_loss`, `gelu`, `log_prob`) or of its module (`losses.py`). In these functions and methods, the rule
    reports only a size that the code computes with `jax.numpy`, as in `jnp.zeros(jnp.prod(jnp.array(x.shape)))`.

    ## Why is this bad?

    XLA compiles for static shapes, so JAX must know every shape at trace time. If `n` is traced, `jnp.zeros(n)`,
    `x.reshape(n, -1)`, `jnp.arange(n)`, `jnp.sum(x, axis=n)` and `jax.random.split(key, n)` raise `TypeError`
    ("Shapes must be 1D sequences of concrete values of integer type") or `ConcretizationTypeError`.

    Inside `jax.jit`, the result of any `jax.numpy` function is traced, even if its arguments are static, as in
    `jnp.prod(jnp.array(x.shape))`. Use `math` or NumPy to compute shapes.

    ## Example

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def pad_front(signal, n):
        return jnp.concatenate([jnp.zeros(n), signal])  # expect: traced-shape


    def demonstrate():
        pad_front(jnp.ones(3), 2)  # raises: TypeError
    ```

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def flatten(x):
        size = jnp.prod(jnp.array(x.shape))
        return x.reshape(size)  # expect: traced-shape


    def demonstrate():
        flatten(jnp.ones((2, 3)))  # raises: TypeError
    ```

    ## Use instead

    ```python
    import math
    from functools import partial

    import jax
    import jax.numpy as jnp


    @partial(jax.jit, static_argnames="n")
    def pad_front(signal, n):
        return jnp.concatenate([jnp.zeros(n), signal])


    @jax.jit
    def flatten(x):
        return x.reshape(math.prod(x.shape))
    ```

    ## Not reported

    jaxlint does not report a traced argument that is data and not a shape, such as `jnp.full((3,), n)`.

    ```python
    import jax
    import jax.numpy as jnp


    @jax.jit
    def advect(u, shift, level, start):
        moved = jnp.roll(u, shift, axis=0)
        base = jnp.full(u.shape, level)
        ramp = jnp.linspace(level, shift, num=u.shape[0])
        block = jax.lax.dynamic_slice_in_dim(moved, start, 2)
        return base + ramp + jax.lax.fori_loop(0, start, lambda i, s: s + i, 0) + block.sum()
    ```

    ## Limitations

    The rule checks only whether a shape is traced. It misses a shape that is negative or has a wrong number of
    dimensions.

    ## Fix safety

    If the size is a parameter of a function that is jitted in the same file, jaxlint adds the parameter to
    `static_argnames`. This fix is unsafe, because JAX then compiles the function again for every value. There is no fix
    if the function also calls one of its arguments, such as `loss_fn`, and this argument is not static: JAX would
    still raise an error.

    If the code computes the size from a shape, jaxlint uses `math`: `jnp.prod(jnp.array(x.shape))` becomes
    `math.prod(x.shape)`. This fix is safe if every call of the function is traced. Otherwise it is unsafe, because a
    caller outside tracing gets a Python int instead of an array.

    ## How it is verified

    `jaxlint verify` runs the program that you name and confirms the finding if the line of the finding raises an error
    such as `TypeError` or `ConcretizationTypeError` while JAX traces.

    ## Since

    0.2.0.

    ## Related rules

    JAX103 (`traced-range`), JAX106 (`data-dependent-shape`), JAX107 (`traced-slice`), JAX108 (`traced-container-index`).

    ## JAX documentation

    <https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError>
    """
    if event.context.caught or not (event.context.staged or event.context.presumed):
        return None
    if isinstance(event, LibraryCall):
        return (
            _rounded_shape(event) or _length(event) or _in_parameters(event, event.fact, event.bound, event.bound_nodes)
        )
    if event.fact is None:
        return None
    return _in_parameters(event, event.fact, bind(event.fact.params, event.args, event.kwargs), {})


def _rounded_shape(event: LibraryCall) -> Report | None:
    """``int(jnp.ceil(n / 2))`` of a shape: the cast raises wherever jnp functions give tracers."""
    if event.name != "builtins.int" or len(event.args) != 1:
        return None
    (value,) = event.args
    if not is_traced_array(value) or not _derived(value):
        return None
    return _report(event, event.at, event.nodes[0] if event.nodes else None, "x", derived=True)


def _length(event: LibraryCall) -> Report | None:
    """``jax.lax.scan(step, x, None, length=n)``."""
    if event.name != "jax.lax.scan":
        return None
    value = event.kwargs.get("length", event.args[3] if len(event.args) > _LENGTH else None)
    if value is None or not contains_tracer(value):
        return None
    node = event.keyword_nodes.get("length", event.nodes[_LENGTH] if len(event.nodes) > _LENGTH else None)
    report = _report(event, node or event.at, node, "length", derived=_derived(value))
    return replace(report, preview=True) if report is not None else None


_LENGTH = 3


def _in_parameters(
    event: LibraryCall | MethodCall,
    fact: FunctionFact | None,
    bound: Mapping[str, Value],
    nodes: Mapping[str, ir.Expr],
) -> Report | None:
    if fact is None:
        return None
    fixed = (fact.size_param,) if fact.size_param else ()
    for name in (*fact.shape_params, *fact.axis_params, *fixed):
        value = bound.get(name)
        if value is not None and contains_tracer(value) and not _may_be_population(event, name, value):
            at, part = nodes.get(name, event.at), _traced_part(nodes.get(name), value)
            return _report(event, at, part, name, derived=_derived(value))
    return None


def _traced_part(node: ir.Expr | None, value: Value) -> ir.Expr | None:
    """Of a tuple or list that the code writes out, the first element that is traced."""
    elements = value.elts if isinstance(value, TupleValue) else value.known() if isinstance(value, ListValue) else None
    if not isinstance(node, (ir.Tuple, ir.List)) or elements is None or len(elements) != len(node.elts):
        return node
    traced = (part for part, element in zip(node.elts, elements) if contains_tracer(element))
    return next(traced, node)


def _may_be_population(event: LibraryCall | MethodCall, name: str, value: Value) -> bool:
    """``choice(key, x)`` takes a count or an array to choose from: only a scalar is surely a count."""
    if not isinstance(event, LibraryCall) or (event.name, name) not in _COUNT_OR_ARRAY:
        return False
    return not (isinstance(value, Array) and value.ndim == 0)


def _report(
    event: LibraryCall | MethodCall, at: ir.Node, node: ir.Node | ir.Expr | None, parameter: str, *, derived: bool
) -> Report | None:
    """parameter: the one that takes the value."""
    context = event.context
    if context.presumed and not derived:
        return None
    if node is None and not any(event.nodes) and isinstance(event, LibraryCall):
        given = f"`{event.name.replace('jax.numpy.', 'jnp.')}` with a traced `{parameter}`, which must be static"
        return Report(at, f"{callee(context, event.at)} calls {given}; pass a function that takes only arrays")
    subject = quote(context, node, traced_argument(event, f"An argument of {callee(context, event.at)}"))
    if derived:
        message = f"{subject} is computed with jnp from static shapes, so it is traced under jit; use math or NumPy"
    else:
        called = callee(context, event.at)
        where = _PLAIN_NAMES.get(parameter, f"`{parameter}` of")
        why = "makes a JAX array, which is traced here" if _is_made_by_jax(context, node) else "is traced"
        called += _elsewhere(context, event.at, node)
        is_axis = event.fact is not None and parameter in event.fact.axis_params
        remedy = f"{_remedy(context, node or traced_node(event), is_axis=is_axis)}{_meant(event, parameter)}"
        message = f"{subject} {why}, but {where} {called} must be static; {remedy}"
    return Report(at, message)


def _is_made_by_jax(context: Context, node: ir.Node | ir.Expr | None) -> bool:
    """The code writes out a call of ``jax.numpy``, whose result is traced under jit if its arguments are static, too."""
    if (
        not isinstance(node, ir.Call)
        or not isinstance(node.func, ir.Attribute)
        or not isinstance(node.func.value, ir.Name)
    ):
        return False
    module = context.scope.slots.get(node.func.value.id)
    return isinstance(module, External) and module.name == "jax.numpy"


def _elsewhere(context: Context, call: ir.Node, node: ir.Node | ir.Expr | None) -> str:
    """`` (line 12)``: where a call begins whose argument stands on a later line."""
    starts = context.scope.tree.line_starts
    row = bisect_right(starts, call.start)
    return f" (line {row})" if node is not None and bisect_right(starts, node.start) != row else ""


def _remedy(context: Context, node: ir.Node | ir.Expr | None, *, is_axis: bool) -> str:
    """What to do: only a parameter can be a static argument; a local variable or an expression is computed from others."""
    local = context.inner.local_names if context.inner is not None else []
    parameters = [parameter.name for parameter in context.inner.params] if context.inner is not None else []
    names = names_read(node).intersection(local)
    if isinstance(node, ir.Name) and node.id not in local:  # captured: a parameter of a function around, maybe
        return f"make `{node.id}` a static argument, or compute it from static ones"
    if node is None or isinstance(node, ir.Attribute) or (isinstance(node, ir.Name) and node.id in parameters):
        return f"make {it_or_name(node)} {static_remedy(node)}"
    if len(names) == 1 and names <= {*parameters} and _is_arithmetic(node):
        return f"make `{names.pop()}` a static argument"
    otherwise = "" if is_axis else ", or use a fixed size and a mask"
    if _is_made_by_jax(context, node):
        return f"compute it from static values with NumPy{otherwise}"
    return f"compute it from static arguments{otherwise}"


def _is_arithmetic(node: ir.Node | ir.Expr) -> bool:
    """Numbers, names and operators alone: static if its names are."""
    return all(isinstance(part, (ir.BinOp, ir.UnaryOp, ir.Name, ir.Constant, ir.Tuple)) for part in walk(node))


_PLAIN_NAMES = {"args": "the shape given to", **dict.fromkeys(("start", "stop", "step"), "the bounds of")}
"""Parameters whose names say nothing to who calls ``x.reshape(n, 2)`` or ``jnp.arange(n)``."""
_OF_TWO = {
    "jax.numpy.all": "logical_and",
    "jax.numpy.any": "logical_or",
    "jax.numpy.max": "maximum",
    "jax.numpy.min": "minimum",
    "jax.numpy.sum": "add",
}


def _meant(event: LibraryCall | MethodCall, parameter: str) -> str:
    """``jnp.min(a, b)`` takes ``b`` for the axis."""
    name = _OF_TWO.get(event.name) if isinstance(event, LibraryCall) and len(event.args) > 1 else None
    return f", or use jnp.{name} for two arrays" if name and parameter == "axis" else ""


def _derived(value: Value, depth: int = 4) -> bool:
    """The tracer in the value came from arithmetic on static shapes."""
    if isinstance(value, UnionValue):
        return all(_derived(member, depth) for member in value.members)
    if isinstance(value, (TupleValue, ListValue)):
        parts = value.elts if isinstance(value, TupleValue) else value.known() or ()
        traced = [element for element in parts if contains_tracer(element)] if depth else []
        return bool(traced) and all(_derived(element, depth - 1) for element in traced)
    return isinstance(value, Array) and bool(value.derived)
